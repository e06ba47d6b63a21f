"""How to talk to a model: the content of the side file ``<model>.toml`` and the loading dialog."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from robgui.core.errors import ModelError
from robgui.core.files import write_whole
from robgui.core.model.class_names import with_names_beside
from robgui.core.regular import read_regular
from robgui.core.toml import parse_toml

if TYPE_CHECKING:
    from robgui.core.dataset.framing import Framing

Kind = Literal["image", "table", "sequence"]
Resize = Literal["squash", "crop", "squash-crop", "letterbox"]
Interpolation = Literal["area", "nearest", "bilinear", "bicubic", "lanczos"]
Numbers = tuple[float, ...]
#: Most numbers in one input, an image of 3 × 3,344 × 3,344: loading tries a handful of inputs.
LARGEST_INPUT = 2**25
#: Largest side file; the names of a hundred thousand classes take less.
_LARGEST_SIDE_FILE = 10_000_000
#: Settings added after the first edition.
_ADDED = ("scores", "resize", "crop", "interpolation", "antialias")


class ModelSettings(BaseModel):
    """What stands between inputs in [0, 1] and the raw model.

    The model sees ``(low + x·(high − low) − mean) / std`` in the given channel order and layout.
    Numbers hold one value for all, or one per channel (image) or feature (table, sequence).
    """

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)

    kind: Kind = Field(
        "image", title="Kind", description="What one input is: an image, a table row or a sequence."
    )
    shape: tuple[int, ...] = Field(
        (),
        title="Shape",
        description=(
            "One input without the batch: channels, height, width · features · steps, features."
        ),
    )
    layout: Literal["chw", "hwc", "flat", "column"] = Field(
        "chw",
        title="Layout",
        description=(
            "How the raw model wants an image: channels first, channels last, one row, one column."
        ),
    )
    channels: Literal["rgb", "bgr"] = Field(
        "rgb", title="Channel order", description="Order of colour channels the raw model wants."
    )
    resize: Resize = Field(
        "squash",
        title="Resize",
        description=(
            "How pictures of another size are brought to the model's: squash scales height and"
            " width on their own, crop scales the shorter side and keeps the middle, squash-crop"
            " squashes to more than the size and keeps the middle, letterbox adds grey bars."
        ),
    )
    crop: float = Field(
        1.0,
        ge=0.1,
        le=1,
        title="Crop",
        description=(
            "With resize=crop, the share of the shorter side that is kept, with squash-crop of"
            " both sides: 0.875 is 224 of 256 pixels."
        ),
    )
    interpolation: Interpolation = Field(
        "area",
        title="Interpolation",
        description=(
            "How pixels are computed when a picture is resized; area averages where it shrinks and"
            " is linear where it grows."
        ),
    )
    antialias: bool = Field(
        True,
        title="Antialias",
        description=(
            "Average over all pixels that fall together, as Pillow does; off looks at the nearest"
            " few, as OpenCV does."
        ),
    )
    low: Numbers = Field(
        (0.0,), title="Lowest value", description="What 0 becomes before mean and std."
    )
    high: Numbers = Field(
        (1.0,),
        title="Highest value",
        description="What 1 becomes before mean and std (255 for byte models).",
    )
    mean: Numbers = Field((0.0,), title="Mean", description="Subtracted from the value.")
    std: Numbers = Field((1.0,), title="Std", description="The value is divided by it.")
    labels: tuple[str, ...] = Field(
        (), title="Labels", description="Class names in the order of the outputs."
    )
    features: tuple[str, ...] = Field(
        (), title="Features", description="Column names of a table, in the order of the inputs."
    )
    output: Literal["logits", "probabilities"] = Field(
        "logits", title="Output", description="What the raw model returns."
    )
    scores: str = Field(
        "",
        title="Scores",
        description=(
            "Which output holds the scores where the model has several: its name, or its number"
            " from 0."
        ),
    )
    multi_label: bool = Field(
        False,
        title="Multi-label",
        description="An input may have several classes at once (sigmoid outputs).",
    )
    lowest_wins: bool = Field(
        False,
        title="Lowest score wins",
        description="The class with the smallest output is the predicted one.",
    )
    architecture: str = Field(
        "",
        title="Architecture",
        description=(
            "For weights alone: file.py:factory, module:factory, timm:name or torchvision:name."
        ),
    )

    @model_validator(mode="before")
    @classmethod
    def _kind_follows_shape(cls, values: object) -> object:
        """Sets the kind from a shape of one or two dimensions: a table row or a sequence."""
        if (
            isinstance(values, dict)
            and "kind" not in values
            and isinstance(values.get("shape"), list | tuple)
        ):
            kinds = {1: "table", 2: "sequence"}
            return {**values, "kind": kinds.get(len(values["shape"]), "image")}
        return values

    @model_validator(mode="after")
    def _fits_together(self) -> ModelSettings:
        if any(side < 1 for side in self.shape):
            raise ValueError(f"shape {self.shape} must hold positive sizes")
        if math.prod(self.shape) > LARGEST_INPUT:
            raise ValueError(
                f"shape {self.shape} is larger than {LARGEST_INPUT:,} numbers, the most that one"
                " input may have"
            )
        expected = {"image": 3, "table": 1, "sequence": 2}[self.kind]
        if self.shape and len(self.shape) != expected:
            raise ValueError(
                f"an input of kind {self.kind} has {expected} dimensions, not {len(self.shape)} as"
                f" in {self.shape}"
            )
        if self.shape:
            self._check_lengths()
        if any(value == 0 for value in self.std):
            raise ValueError("std must not be 0")
        return self

    def _check_lengths(self) -> None:
        if self.kind == "image":
            places = self.shape[0]
        else:
            places = self.shape[-1]
        for name in ("low", "high", "mean", "std"):
            count = len(getattr(self, name))
            if count not in (1, places):
                raise ValueError(f"{name} has {count} values; this model takes 1 or {places}")

    @property
    def settled(self) -> tuple[str, str]:
        """Settings fixed while the file is read; all others can be changed afterwards."""
        return self.architecture, self.scores

    @property
    def framing(self) -> Framing:
        """How pictures are brought to the model's size."""
        from robgui.core.dataset.framing import Framing

        return Framing(self.resize, self.crop, self.interpolation, self.antialias)

    def identity(self) -> str:
        """Text that changes with every setting.

        Settings added by later versions are left out at their defaults, which keeps the
        fingerprints of earlier runs.
        """
        fields = type(self).model_fields
        unset = {name for name in _ADDED if getattr(self, name) == fields[name].default}
        return self.model_dump_json(exclude=unset)

    def change(self, **values: object) -> ModelSettings:
        """A validated copy with ``values`` replaced; the error is one sentence."""
        return parse({**self.model_dump(), **values}, "model settings")


def parse(values: dict[str, object], where: str) -> ModelSettings:
    """Validates ``values``; the ModelError names ``where`` and the field."""
    try:
        return ModelSettings.model_validate(values)
    except ValidationError as error:
        raise ModelError(f"{where}: {_sentence(error)}.") from error


def side_file(model: Path) -> Path:
    """The side file that belongs to ``model``: its full name with ``.toml`` added."""
    return model.with_name(model.name + ".toml")


def read_side_file(model: Path) -> dict[str, object]:
    """The fields that the side file sets; empty without one.

    A text under ``labels`` names a file of class names.
    """
    path = side_file(model)
    if not path.is_file():
        return {}
    try:
        values = parse_toml(side_bytes(model))
    except ValueError as error:
        raise ModelError(_unreadable(path, str(error))) from error
    # Read now, so a file of names that is missing is reported with the side file that wants it.
    values = with_names_beside(values, path)
    parse(values, str(path))
    return values


def side_bytes(model: Path) -> bytes:
    """The bytes of the side file; empty without one."""
    path = side_file(model)
    if not path.is_file():
        return b""
    try:
        return read_regular(path, _LARGEST_SIDE_FILE)
    except OSError as error:
        raise ModelError(_unreadable(path, error.strerror or str(error))) from error


def _unreadable(path: Path, reason: str) -> str:
    return f"{path}: the side file cannot be read ({reason}); correct it or delete it."


def side_text(settings: ModelSettings, *, whole: bool = False) -> str:
    """The side file for ``settings``: every field that differs from its default.

    With ``whole``, every field, which leaves nothing to another file.
    """
    fields = settings.model_dump(mode="json", exclude_defaults=not whole)
    return "".join(f"{name} = {_toml(value)}\n" for name, value in fields.items())


def write_side_file(model: Path, settings: ModelSettings) -> Path:
    """Writes every field that differs from its default; returns the path."""
    path = side_file(model)
    try:
        # The same bytes on Windows: trust is kept by their digest.
        write_whole(path, side_text(settings).encode())
    except OSError as error:
        raise ModelError(
            f"{path}: the side file cannot be written ({error.strerror}); choose a folder you may"
            " write to."
        ) from error
    return path


def _toml(value: object) -> str:
    """Writes a flat value (string, number, boolean, list) as TOML.

    JSON is valid TOML for these except for one character.
    """
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")


def _sentence(error: ValidationError) -> str:
    detail = error.errors()[0]
    name = ".".join(str(part) for part in detail["loc"])
    message = str(detail["msg"]).removeprefix("Value error, ")
    if detail["type"] == "extra_forbidden":
        return (
            f"there is no setting {name!r}; the settings are:"
            f" {', '.join(ModelSettings.model_fields)}"
        )
    if name:
        return f"{name}: {message}"
    return message
