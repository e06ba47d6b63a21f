"""Request: what to run on what with which settings, as JSON with a fingerprint."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, JsonValue, field_validator, model_validator
from pydantic_core import to_jsonable_python

from robgui.core.execution.analysis import Analysis
from robgui.core.execution.params.params import Params
from robgui.core.execution.registry import find
from robgui.core.text.words import count

if TYPE_CHECKING:
    from robgui.core.dataset import Dataset
    from robgui.core.dataset.derived import Derived
    from robgui.core.model.card import ModelCard
    from robgui.core.model.classifier import Classifier

#: What inputs spread evenly are some of: all of the data, or a part that somebody chose.
SpreadOver = Literal["", "data", "part"]
#: How “Inspect everything” chooses some of many inputs, in words.
SPREAD = "evenly spread"


class Reference(BaseModel):
    """A model or dataset by name, path and fingerprint: enough to load it again.

    Attributes:
        path: Empty for what exists only in memory.
        options: For a model the fields of its ModelSettings, for a dataset the options it was
            opened with.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    kind: Literal["model", "dataset"]
    name: str
    path: str = ""
    fingerprint: str
    options: dict[str, JsonValue] = Field(default_factory=dict)

    @model_validator(mode="before")
    @classmethod
    def _without_trust(cls, values: Any) -> Any:
        """Drops the trust flag that older workspaces stored: only the user can grant trust."""
        if isinstance(values, dict):
            return {name: value for name, value in values.items() if name != "trust"}
        return values


class Request(BaseModel):
    """What to run: an analysis, its settings, one or more models and a choice of inputs.

    Attributes:
        indices: Which inputs of the dataset; None means all.
        chosen: How many of how many these are and how they were chosen, in words: ``40 of 1,000
            inputs (label=red)``; empty for all. It changes no result.
        spread_over: What the inputs were spread evenly over; empty if they were not.
        device: ``cpu``, ``cuda:0``, …; empty leaves the models where they are.
        autocast: Half precision on or off; None leaves the models as they are.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    # An export names files after it: one called ``../../x`` in a foreign workspace would leave its
    # folder.
    analysis: str = Field(pattern=r"^[A-Za-z_][A-Za-z0-9_]{0,99}$")
    models: tuple[Reference, ...] = ()
    dataset: Reference | None = None
    indices: tuple[int, ...] | None = None
    chosen: str = ""
    spread_over: SpreadOver = ""
    params: dict[str, JsonValue] = Field(default_factory=dict)
    device: str = ""
    autocast: bool | None = None

    @model_validator(mode="before")
    @classmethod
    def _with_spread_of_words(cls, values: Any) -> Any:
        """Reads what older workspaces kept in the words of ``chosen`` alone."""
        if not isinstance(values, dict) or "spread_over" in values:
            return values
        chosen = str(values.get("chosen", ""))
        if chosen.endswith(f"({SPREAD})"):
            return {**values, "spread_over": "data"}
        if chosen.endswith(f", {SPREAD})"):
            return {**values, "spread_over": "part"}
        return values

    @field_validator("params", mode="before")
    @classmethod
    def _as_json(cls, values: Any) -> Any:
        return to_jsonable_python(values)

    def place_of(self, model: str) -> int | None:
        """The position of a model, by its fingerprint, among those of the request, or None."""
        return next((at for at, one in enumerate(self.models) if one.fingerprint == model), None)

    @property
    def fingerprint(self) -> str:
        """Sixteen hexadecimal digits, equal if the same result is expected from any place."""
        # Left out on purpose: names, paths and ``chosen``, which change no result; of
        # the device only its kind, since ``cuda:0`` and ``cuda:1`` compute the same.
        known = find(self.analysis)
        parts = [
            known.name,
            [model.fingerprint for model in self.models],
            self.dataset and self.dataset.fingerprint,
            self.indices,
            # Parsed first, so a setting left out and the same one spelled
            # out at its default are equal.
            known.params.parse(dict(self.params)).model_dump(mode="json"),
            self.device.partition(":")[0],
            bool(self.autocast),
        ]
        return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()[:16]


def reference(thing: Classifier | ModelCard | Dataset) -> Reference:
    """A Reference by which ``thing`` can be found again."""
    if thing.path is None:
        path = ""
    else:
        path = str(thing.path.absolute())
    # A Classifier has settings; asking for its class would import torch.
    settings = getattr(thing, "settings", None)
    if settings is not None:
        options = settings.model_dump(mode="json")
        return Reference(
            kind="model", name=thing.name, path=path, fingerprint=thing.fingerprint, options=options
        )
    options = to_jsonable_python(thing.options)  # type: ignore[union-attr]
    return Reference(
        kind="dataset", name=thing.name, path=path, fingerprint=thing.fingerprint, options=options
    )


def build_request(
    analysis: str | Analysis,
    models: Sequence[Classifier | ModelCard | Reference],
    dataset: Dataset | Reference | None,
    params: Params | Mapping[str, Any],
    *,
    indices: Sequence[int] | None = None,
    how: str = "",
    spread_over: SpreadOver = "",
    total: int | None = None,
    device: str = "",
    autocast: bool | None = None,
) -> Request:
    """The Request for models and data already known, with every setting validated and spelled out.

    Args:
        analysis: Its name, or itself.
        models: In the order the analysis takes them.
        dataset: None if the settings need no data.
        params: The settings.
        indices: Which inputs; None means all.
        how: How they were chosen, for example by which filter.
        spread_over: What they were spread evenly over, if they were.
        total: How many inputs the data have, if they are not at hand.
        device: Where to compute; by default where the first model is.
        autocast: Half precision; by default as the first model.
    """
    if isinstance(analysis, str):
        known = find(analysis)
    else:
        known = analysis
    if isinstance(params, Params):
        settings = params
    else:
        settings = known.params.parse(dict(params))
    # A run that ignores the data must not depend on which happen to be open.
    if not known.looks_at_data(settings):
        dataset = indices = None
    if dataset is not None and not isinstance(dataset, Reference) and "derived" in dataset.options:
        # Exactly these: the request stays the same when more inputs are derived later.
        dataset, indices = dataset.only(range(len(dataset)) if indices is None else indices), None  # type: ignore[attr-defined]
    chosen = ""
    if dataset is not None and indices is not None:
        whole = total if isinstance(dataset, Reference) else len(dataset)
        # One of many is a choice; the one input that an analysis asks about is its subject.
        if len(indices) > 1 or known.inputs == "many":
            chosen = _chosen(len(indices), whole, how)
    loaded = [model for model in models if not isinstance(model, Reference)]
    return Request(
        analysis=known.name,
        models=tuple(_referred(model) for model in models),
        dataset=None if dataset is None else _referred(dataset),
        indices=None if indices is None else tuple(int(index) for index in indices),
        chosen=chosen,
        spread_over=spread_over if chosen else "",
        params=settings.model_dump(mode="json"),
        device=device or (str(loaded[0].device) if loaded else ""),
        autocast=loaded[0].precision[0] if autocast is None and loaded else autocast,
    )


def _referred(thing: Classifier | ModelCard | Dataset | Reference) -> Reference:
    if isinstance(thing, Reference):
        return thing
    return reference(thing)


def _chosen(many: int, total: int | None, how: str) -> str:
    """How many of how many inputs, and how they were chosen; empty for all."""
    if many == total:
        return ""
    if total is None:
        words = count(many, "input")
    else:
        words = f"{many:,} of {count(total, 'input')}"
    return words + (f" ({how})" if how else "")


def subject(request: Request, derived: Sequence[Derived] = ()) -> str:
    """Which model on which input, in words.

    A derived input is shown with its trail, if ``derived`` has those of the request.
    """
    models = ", ".join(model.name for model in request.models)
    if request.dataset is None:
        return models
    if len(derived) == 1:
        return f"{models} on {derived[0].words()}"
    if request.indices is None:
        if derived:
            many = f"{len(derived):,} inputs "
        else:
            many = ""
        return f"{models} on {many}{request.dataset.name}"
    several = request.chosen or f"{len(request.indices):,} inputs"
    if len(request.indices) == 1:
        which = f"input {request.indices[0]:,}"
    else:
        which = several
    return f"{models} on {which} of {request.dataset.name}"
