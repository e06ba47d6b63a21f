"""Experiment: what was run on what, by name and content, and what it said.

It contains no path of the user's: models and data are recognised by their fingerprints.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from robgui.core import verdict as verdicts
from robgui.core.errors import RobguiError
from robgui.core.execution.request import Reference, Request
from robgui.core.text.places import without_places
from robgui.version import __version__

if TYPE_CHECKING:
    from robgui.core.verdict import Verdict

#: Longest record in characters; one with a thousand class names takes 20 kB.
LARGEST = 4_000_000


class Experiment(BaseModel):
    """The run behind a figure.

    Attributes:
        robgui: The version that computed it.
        when: Seconds since 1970.
        state: How the run ended.
        seconds: How long it took.
        request: What was run, with every path emptied.
        fingerprint: Fingerprint of the request as it was run; it differs from that of ``request``
            if a setting held a path.
        verdict: What the run says by itself, as ``verdict.to_json`` writes it.
        shown: The verdict as printed, given everything known then; None if it is the same.
        run: Its id in the workspace of origin.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)

    format: Literal["robgui experiment"] = "robgui experiment"
    version: Literal[1] = 1
    robgui: str = Field("", max_length=100)
    when: float = 0.0
    state: str = Field("", max_length=20)
    seconds: float = 0.0
    request: Request
    fingerprint: str = Field("", max_length=100)
    verdict: dict[str, Any] | None = None
    shown: dict[str, Any] | None = None
    run: str = Field("", max_length=100)

    def to_text(self) -> str:
        """Strict JSON in plain ASCII, safe in any file."""
        return json.dumps(self.model_dump(mode="json"), allow_nan=False, separators=(",", ":"))

    @property
    def said(self) -> Verdict | None:
        """The run's own verdict."""
        return _read(self.verdict)

    @property
    def printed(self) -> Verdict | None:
        """The verdict printed beside the figure."""
        return _read(self.verdict if self.shown is None else self.shown)

    @property
    def whole(self) -> bool:
        """Whether the request is exactly what was run, with nothing left out or changed."""
        try:
            return self.request.fingerprint == self.fingerprint
        except RobguiError:  # Written by another version of the program.
            return False


def experiment_of(
    request: Request,
    said: Verdict | None,
    *,
    shown: Verdict | None = None,
    when: float = 0.0,
    state: str = "done",
    seconds: float = 0.0,
    run: str = "",
    version: str = __version__,
) -> Experiment:
    """The record of a run.

    Args:
        request: What was run.
        said: What it says by itself.
        shown: What is printed of it, if that may differ.
        when: Seconds since 1970.
        state: How it ended.
        seconds: How long it took.
        run: Its id.
        version: Of the program that ran it.
    """
    own, beside = _written(said), _written(shown)
    try:
        fingerprint = request.fingerprint
    except RobguiError:  # Written by another version of the program.
        fingerprint = ""
    return Experiment(
        robgui=version,
        when=when,
        state=state,
        seconds=seconds,
        request=_placeless(request),
        fingerprint=fingerprint,
        verdict=own,
        shown=None if beside == own else beside,
        run=run,
    )


def from_text(text: str) -> Experiment:
    """The record in a file; ValueError if it is not one."""
    try:
        found = Experiment.model_validate(json.loads(text))
        for verdict in (found.verdict, found.shown):
            _read(verdict)
    except (ValidationError, RecursionError, TypeError, KeyError, AttributeError) as error:
        raise ValueError("the record is malformed") from error
    return found


def _written(said: Verdict | None) -> dict[str, Any] | None:
    return None if said is None else json.loads(verdicts.to_json(said))


def _read(fields: dict[str, Any] | None) -> Verdict | None:
    if fields is None:
        return None
    return verdicts.from_json(json.dumps(fields))


def _placeless(request: Request) -> Request:
    """The request without the user's folders."""
    data = request.dataset
    return request.model_copy(
        update={
            "models": tuple(_nowhere(model) for model in request.models),
            "dataset": None if data is None else _nowhere(data),
            "params": without_folders(request.params),
        }
    )


def _nowhere(reference: Reference) -> Reference:
    return reference.model_copy(update={"path": "", "options": without_folders(reference.options)})


def without_folders(value: Any) -> Any:
    """JSON values with each path reduced to its file name."""
    if isinstance(value, str):
        if Path(value).is_absolute():
            return Path(value).name
        return without_places(value)
    if isinstance(value, dict):
        return {name: without_folders(item) for name, item in value.items()}
    if isinstance(value, list):
        return [without_folders(item) for item in value]
    return value
