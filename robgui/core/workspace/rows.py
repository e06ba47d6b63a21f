"""Checks the rows of a workspace: the file may come from anyone, so nothing in it is trusted.

Whatever does not fit raises a WorkspaceError of one sentence.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any, NoReturn

import numpy as np
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from robgui.core.codec import decode
from robgui.core.errors import RobguiError, WorkspaceError
from robgui.core.execution.request import Reference, Request
from robgui.core.execution.run import Run, RunState
from robgui.core.finding import StoredFinding
from robgui.core.npz import npz
from robgui.core.verdict import Verdict, from_json

#: Latest time, in seconds since 1970: the year 9999, the limit of Python's calendar.
_Moment = Annotated[float, Field(ge=0, le=253_000_000_000)]
_Count = Annotated[int, Field(ge=0)]
#: Allowed form of ids, which become file names.
_Id = Annotated[str, Field(pattern=r"^[0-9A-Za-z_-]{1,64}$")]
_Flag = Annotated[int, Field(ge=0, le=1)]
#: Most values in the picture of a finding.
_MOST_PIXELS = 100_000_000


class _Row(BaseModel):
    model_config = ConfigDict(strict=True, frozen=True, allow_inf_nan=False)


class _RunRow(_Row):
    id: _Id
    request: str
    # Stored as text, which strict validation does not take for an enumeration.
    state: Annotated[RunState, Field(strict=False)]
    created: _Moment
    seconds: Annotated[float, Field(ge=0)]
    done: _Count
    total: _Count | None
    error: str
    verdict: str
    device: str
    versions: str
    has_result: _Flag


class _FindingRow(_Row):
    id: _Count
    run_id: _Id
    kind: str
    title: str
    severity: float
    detail: str
    note: str
    starred: _Flag
    has_picture: _Flag


class _Versions(_Row):
    versions: dict[str, str]


class Reader:
    """Builds objects from rows; ``path`` is their file, for error messages."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._requests: dict[str, tuple[str, Request]] = {}

    def run(self, row: tuple[Any, ...]) -> Run:
        """A run, without its result."""
        with self._sentences("a run"):
            values = _RunRow(**dict(zip(_RunRow.model_fields, row, strict=True)))
            fields = {
                **dict(values),
                "versions": _Versions(versions=self.json(values.versions)).versions,
            }
            request = self.request(values.id, values.request)
            said = self.verdict(values.id, values.verdict)
            return Run(
                **{
                    **fields,
                    "request": request,
                    "verdict": said,
                    "has_result": bool(values.has_result),
                }
            )

    def verdict(self, run_id: str, text: str) -> Verdict | None:
        """The verdict on a run's result; None before there is one."""
        with self._sentences(f"the verdict of run {run_id}"):
            return from_json(text)

    def request(self, run_id: str, text: Any) -> Request:
        """The request of a run; it never changes, so it is read once."""
        with self._sentences(f"the request of run {run_id}"):
            # The list of runs is read after every commit, and validating a request costs more than
            # the row.
            known = self._requests.get(run_id)
            if known is None or known[0] != text:
                known = self._requests[run_id] = (text, Request.model_validate(self.json(text)))
            return known[1]

    def finding(self, row: tuple[Any, ...], arrays: Mapping[str, np.ndarray]) -> StoredFinding:
        """A finding with the given arrays."""
        with self._sentences("a finding"):
            values = _FindingRow(**dict(zip(_FindingRow.model_fields, row, strict=True)))
            fields = {**dict(values), "detail": decode(dict, self.json(values.detail), npz({}))}
            flags = {"starred": bool(values.starred), "has_picture": bool(values.has_picture)}
            return StoredFinding(
                **{**fields, **flags},
                picture=self._picture(arrays.get("picture")),
                input=arrays.get("input"),
            )

    def reference(self, body: Any) -> Reference:
        """A model or dataset."""
        with self._sentences("a model or dataset"):
            return Reference.model_validate(self.json(body))

    def value(self, cls: type[Any], document: Any, blob: Any) -> Any:
        """A stored dataclass."""
        if not isinstance(blob, bytes):
            self.refuse("an array", "it is no data")
        return decode(cls, self.json(document), blob)

    def json(self, text: Any) -> Any:
        """A JSON document, parsed strictly."""
        if not isinstance(text, str):
            self.refuse("a document", f"it is a {type(text).__name__}, not a text")
        try:
            return json.loads(text, parse_constant=_no_constant)
        except (ValueError, RecursionError) as error:
            self.refuse("a document", str(error))

    def refuse(self, what: str, why: str) -> NoReturn:
        """Raises a WorkspaceError about a malformed entry."""
        short = " ".join(why.split())[:200]
        raise WorkspaceError(
            f"The workspace {self._path} is damaged: {what} cannot be read ({short}); open another"
            " workspace or a copy."
        )

    def _picture(self, picture: np.ndarray | None) -> np.ndarray | None:
        if picture is None:
            return None
        coloured = picture.dtype == np.uint8 and picture.ndim == 3 and picture.shape[2] == 3
        if not coloured or not 0 < picture.size < _MOST_PIXELS:
            self.refuse("a picture", f"it is {picture.dtype} of shape {picture.shape}")
        return picture

    @contextmanager
    def _sentences(self, what: str) -> Iterator[None]:
        try:
            yield
        except ValidationError as error:
            # Without the input: a stored value may be megabytes long, and the sentence names its
            # place.
            detail = error.errors(include_url=False, include_input=False)[0]
            place = ".".join(str(part) for part in detail["loc"])
            self.refuse(what, f"{place}: {detail['msg']}" if place else str(detail["msg"]))
        except RobguiError:
            raise
        except (TypeError, ValueError, KeyError, RecursionError, OverflowError) as error:
            self.refuse(what, str(error))


def _no_constant(text: str) -> NoReturn:
    raise ValueError(f"{text} is no number")
