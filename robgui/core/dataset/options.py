"""What a user may say about a dataset that its files do not."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator

from robgui.core.errors import DataError
from robgui.core.model.settings import Kind


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
    split: Literal["train", "test"] | None = Field(
        None, title="Part", description="Which part to open when there are two."
    )
    low: float | None = Field(None, title="Black", description="The pixel value that is black.")
    high: float | None = Field(None, title="White", description="The pixel value that is white.")
    files: tuple[str, ...] = Field(
        (), title="Files", description="The images of the folder to open, all by default."
    )

    @field_validator("names", "features", mode="before")
    @classmethod
    def _words(cls, value: object) -> object:
        return [word.strip() for word in value.split(",")] if isinstance(value, str) else value

    @field_validator("split", mode="before")
    @classmethod
    def _t10k(cls, value: object) -> object:
        return "test" if value == "t10k" else value

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
