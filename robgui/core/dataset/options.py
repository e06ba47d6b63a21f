"""What a user may say about a dataset that its files do not."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator

from robgui.core.errors import DataError
from robgui.core.model.settings import Kind

Part = Literal["train", "val", "test"]
#: The parts that data are split into.
PARTS: tuple[Part, ...] = ("train", "val", "test")
_WORDS: dict[str, Part] = {
    **dict.fromkeys(("train", "training", "trn"), "train"),
    **dict.fromkeys(("val", "valid", "validation", "dev"), "val"),
    **dict.fromkeys(("test", "testing", "tst", "eval", "t10k"), "test"),
}
# A word of its own: "contest" is no test.
_PART = re.compile(rf"(?:.*[-_. ])?({'|'.join(_WORDS)})(?:[-_. ]?(?:set|data|images?))?")


def part_named(name: str) -> Part | None:
    """The part that a folder or file name refers to: ``Final_Training`` is train."""
    found = _PART.fullmatch(name.casefold())
    if found is None:
        return None
    return _WORDS[found[1]]


class Options(BaseModel):
    """Options of open_dataset; each has a guess as its default."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)

    kind: Kind | None = Field(
        None, title="Kind", description="What one input is, when the shape alone does not tell."
    )
    names: tuple[str, ...] = Field(
        (), title="Class names", description="Class names in the order of the labels."
    )
    labels: str = Field(
        "",
        title="Labels file",
        description="A file with the labels: CSV or JSON by file name or track id, NPY by place.",
    )
    label: str = Field("", title="Label column", description="The column that holds the label.")
    id: str = Field(
        "", title="Id column", description="The column that tells which track a row belongs to."
    )
    features: tuple[str, ...] = Field(
        (), title="Columns", description="The columns to use, in this order."
    )
    inputs: str = Field(
        "", title="Inputs", description="The array or column that holds the inputs."
    )
    split: Part | None = Field(
        None, title="Part", description="Which part to open when there are several."
    )
    every: int = Field(
        1, ge=1, le=1_000_000, title="Every", description="Of a video, one frame in every N."
    )
    names_file: str = Field(
        "",
        title="Names file",
        description="A file that gives each class folder or number its name: CSV, text or JSON.",
    )
    classes: dict[str, str] = Field(
        {},
        title="Classes",
        description=(
            "Other names for classes of the data, as 00=Stop,01=Give way; an empty name leaves"
            " their inputs without a label."
        ),
    )
    low: float | None = Field(None, title="Black", description="The pixel value that is black.")
    high: float | None = Field(None, title="White", description="The pixel value that is white.")
    files: tuple[str, ...] = Field(
        (), title="Files", description="The images of the folder to open, all by default."
    )

    @field_validator("names", "features", mode="before")
    @classmethod
    def _words(cls, value: object) -> object:
        if isinstance(value, str):
            return [word.strip() for word in value.split(",")]
        return value

    @field_validator("labels", "names_file", mode="before")
    @classmethod
    def _path(cls, value: object) -> object:
        if isinstance(value, os.PathLike):
            return str(value)
        return value

    @field_validator("split", mode="before")
    @classmethod
    def _part(cls, value: object) -> object:
        if isinstance(value, str):
            return _WORDS.get(value.casefold(), value)
        return value

    @field_validator("classes", mode="before")
    @classmethod
    def _pairs(cls, value: object) -> object:
        """A mapping, or ``a=b, c=d`` as one line or in pieces.

        A piece without = continues the last.
        """
        if isinstance(value, Mapping):
            return value
        words = value.split(",") if isinstance(value, str) else value
        pairs: dict[str, str] = {}
        last = ""
        for word in words if isinstance(words, list | tuple) else ():
            old, equals, new = str(word).partition("=")
            # A class name may hold a comma: a piece without "=" continues the name before it.
            if not equals and last:
                pairs[last] += f",{word}"
            elif old.strip():
                last = old.strip()
                pairs[last] = new.strip()
        return pairs

    def told(self) -> dict[str, object]:
        """What differs from the defaults, as JSON."""
        return self.model_dump(mode="json", exclude_defaults=True)


def parse(values: dict[str, object]) -> Options:
    """Validates the options; DataError in one sentence."""
    try:
        return Options.model_validate(values)
    except ValidationError as error:
        detail = error.errors()[0]
        name = ".".join(str(part) for part in detail["loc"])
        if detail["type"] == "extra_forbidden":
            raise DataError(
                f"a dataset has no option {name!r}; the options are:"
                f" {', '.join(Options.model_fields)}."
            ) from error
        raise DataError(f"dataset option {name}: {detail['msg']}.") from error
