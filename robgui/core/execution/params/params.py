"""Params: the settings of an analysis."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from robgui.core.errors import ParamsError
from robgui.core.execution.params.problems import sentence


class Params(BaseModel):
    """Settings of an analysis: the only source of form, command-line option, validation and record.

    A field may tell its form more with ``json_schema_extra``: ``rare`` (True puts it behind
    "More"), ``empty`` (what an empty text means, for example "all"), ``zero`` (what 0 means, for
    example "no limit"), ``means`` (plain words for each word of the papers) and ``judges`` (the
    unit of a threshold, which decides a status and appears in Preferences).

    Attributes:
        presets: Value of the field ``preset`` -> settings it stands for. A preset fills in settings
            that were not given, and the form shows what it filled in. The user's values win, and
            what is shown is what runs.
        formerly: Former name of a setting -> its name now, for existing files.
    """

    presets: ClassVar[Mapping[str, Mapping[str, Any]]] = {}
    formerly: ClassVar[Mapping[str, str]] = {}

    # The validator is built when the first settings are made: the window lists many analyses
    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False, defer_build=True)

    seed: int = Field(
        0,
        ge=0,
        le=2**63 - 1,
        title="Seed",
        description="Start of the random numbers; same seed, same result.",
    )
    batch: int = Field(
        0,
        ge=0,
        le=1_000_000,
        title="Batch",
        description="Inputs per model call; 0 lets the program choose. Only rounding changes.",
        json_schema_extra={"zero": "automatic"},
    )
    max_seconds: float = Field(
        0.0,
        ge=0,
        le=1e7,
        title="Time limit in seconds",
        description=(
            "Seconds after which computing ends with what is known by then, and says so; 0: no"
            " limit. Results then depend on the machine."
        ),
        json_schema_extra={"zero": "no limit"},
    )

    @model_validator(mode="before")
    @classmethod
    def _fill_in(cls, values: Any) -> Any:
        """Adds the preset's values for settings that were not given."""
        if not isinstance(values, dict):
            return values
        given = cls.renamed(values)
        # Given last: a setting named beside a preset wins over it.
        return {**cls.presets.get(str(given.get("preset")), {}), **given}

    @classmethod
    def renamed(cls, values: Mapping[str, Any]) -> dict[str, Any]:
        """The values under the current names of their settings."""
        return {cls.formerly.get(name, name): value for name, value in values.items()}

    @classmethod
    def preset_values(cls, name: str) -> dict[str, Any]:
        """The preset's value for every setting that any preset touches.

        A form uses it to switch between presets.
        """
        touched = dict.fromkeys(key for settings in cls.presets.values() for key in settings)
        usual = {
            key: cls.model_fields[key].get_default(call_default_factory=True) for key in touched
        }
        return {**usual, **cls.presets.get(name, {})}

    @classmethod
    def parse(cls, values: dict[str, Any]) -> Params:
        """Validates ``values``; the error is one sentence naming the field and its bounds."""
        try:
            return cls.model_validate(values)
        except ValidationError as error:
            raise ParamsError(sentence(cls.model_fields, error)) from error
