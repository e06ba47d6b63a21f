"""Request: what to run on what with which settings, as JSON with a fingerprint."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, JsonValue, field_validator, model_validator
from pydantic_core import to_jsonable_python

from robgui.core.execution.drive import Drive, drive
from robgui.core.execution.registry import find

if TYPE_CHECKING:
    from robgui.core.dataset import Dataset
    from robgui.core.model.classifier import Classifier

__all__ = ["Drive", "Reference", "Request", "drive", "reference"]


class Reference(BaseModel):
    """A model or dataset by name, place and fingerprint; enough to load it again.

    Attributes:
        path: Empty for what lives in memory only.
        options: For a model the fields of its ModelSettings, for a dataset the options it was opened with.
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
        """Older workspaces say whether a file is trusted; that is for the user to say, so it is not read."""
        return {name: value for name, value in values.items() if name != "trust"} if isinstance(values, dict) else values


class Request(BaseModel):
    """What to run: an analysis, its settings, one or more models and a choice of inputs.

    Attributes:
        indices: Which inputs of the dataset; None means all.
        device: ``cpu``, ``cuda:0``, …; empty leaves the models where they are.
        autocast: Half precision on or off; None leaves the models as they are.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    analysis: str = Field(pattern=r"^[A-Za-z_][A-Za-z0-9_]{0,99}$")
    models: tuple[Reference, ...] = ()
    dataset: Reference | None = None
    indices: tuple[int, ...] | None = None
    params: dict[str, JsonValue] = Field(default_factory=dict)
    device: str = ""
    autocast: bool | None = None

    @field_validator("params", mode="before")
    @classmethod
    def _as_json(cls, values: Any) -> Any:
        return to_jsonable_python(values)

    @classmethod
    def build(
        cls,
        analysis: str,
        classifiers: Sequence[Classifier],
        dataset: Dataset | None,
        params: dict[str, Any],
        *,
        indices: Sequence[int] | None = None,
        device: str = "",
        autocast: bool | None = None,
    ) -> Request:
        """The Request for objects already in memory, with every setting validated and written out."""
        known = find(analysis)
        return cls(
            analysis=known.name,
            models=tuple(reference(classifier) for classifier in classifiers),
            dataset=None if dataset is None else reference(dataset),
            indices=None if indices is None else tuple(int(i) for i in indices),
            params=known.params.parse(params).model_dump(mode="json"),
            device=device or (str(classifiers[0].device) if classifiers else ""),
            autocast=classifiers[0].precision[0] if autocast is None and classifiers else autocast,
        )

    def place_of(self, model: str) -> int | None:
        """Where a model, by its fingerprint, stands among those of the request; None when it is not one."""
        return next((at for at, one in enumerate(self.models) if one.fingerprint == model), None)

    @property
    def fingerprint(self) -> str:
        """Sixteen hexadecimal digits: equal when the same result is to be expected, wherever the files are."""
        known = find(self.analysis)
        parts = [
            known.name,
            [model.fingerprint for model in self.models],
            self.dataset and self.dataset.fingerprint,
            self.indices,
            known.params.parse(dict(self.params)).model_dump(mode="json"),
            self.device.partition(":")[0],
            bool(self.autocast),
        ]
        return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()[:16]


def reference(thing: Classifier | Dataset) -> Reference:
    """How to find ``thing`` again."""
    path = "" if thing.path is None else str(thing.path.absolute())
    settings = getattr(thing, "settings", None)  # a Classifier has them; asking for its class would import torch
    if settings is not None:
        options = settings.model_dump(mode="json")
        return Reference(kind="model", name=thing.name, path=path, fingerprint=thing.fingerprint, options=options)
    options = to_jsonable_python(thing.options)  # type: ignore[union-attr]
    return Reference(kind="dataset", name=thing.name, path=path, fingerprint=thing.fingerprint, options=options)
