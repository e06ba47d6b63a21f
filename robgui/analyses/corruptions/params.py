"""Settings of the corruptions."""

from __future__ import annotations

import zlib

from pydantic import Field, field_validator

from robgui.core.execution.params.params import Params

#: The kinds by name, in display order; the engine checks that it knows each.
NAMES = (
    "gaussian_noise",
    "shot_noise",
    "impulse_noise",
    "speckle_noise",
    "defocus_blur",
    "glass_blur",
    "motion_blur",
    "zoom_blur",
    "gaussian_blur",
    "snow",
    "frost",
    "fog",
    "brightness",
    "spatter",
    "contrast",
    "elastic",
    "pixelate",
    "jpeg",
    "saturate",
)
#: Those that change nothing if a picture has no colours, so they are left out.
OF_COLOURS = ("saturate",)


def picture_seed(seed: int, kind: str, severity: int, place: int) -> int:
    """A separate number for each picture and corruption of a run, whatever else is asked."""
    # Not hash(): Python salts it anew in each process.
    return zlib.crc32(f"{seed} {kind} {severity} {place}".encode())


class CorruptionsParams(Params):
    """Which corruptions, on how many inputs, and how far accuracy may fall."""

    most: int = Field(
        100,
        ge=0,
        le=1_000_000,
        title="Most inputs",
        description="Most labelled pictures that are corrupted, chosen at random; 0 takes all.",
        json_schema_extra={"zero": "all"},
    )
    kinds: tuple[str, ...] = Field(
        (),
        title="Kinds",
        description=f"Which corruptions; empty takes all: {', '.join(NAMES)}.",
        json_schema_extra={"empty": "all"},
    )
    severities: tuple[int, ...] = Field(
        (1, 2, 3, 4, 5),
        title="Severities",
        description="How strong, from 1 (hardly seen) to 5 (hardly recognised).",
    )
    judged: int = Field(
        2,
        ge=1,
        le=5,
        title="Must survive",
        description="Corruptions up to this severity decide the status.",
        json_schema_extra={"judges": "severity"},
    )
    most_fall: float = Field(
        0.1,
        gt=0,
        lt=1,
        title="Largest fall",
        description=(
            "The model holds when, 95 % sure, no corruption that it must survive costs more than"
            " this share of right answers."
        ),
        json_schema_extra={"judges": "share of the pictures"},
    )

    @field_validator("kinds")
    @classmethod
    def _known(cls, values: tuple[str, ...]) -> tuple[str, ...]:
        for value in values:
            if value not in NAMES:
                raise ValueError(f"there is no corruption {value}; there are {', '.join(NAMES)}")
        return tuple(dict.fromkeys(values))

    @field_validator("severities")
    @classmethod
    def _from_one_to_five(cls, values: tuple[int, ...]) -> tuple[int, ...]:
        if not values or any(not 1 <= value <= 5 for value in values):
            raise ValueError("a severity lies between 1 and 5")
        return tuple(sorted(set(values)))

    def seen(self, channels: int) -> tuple[str, ...]:
        """The kinds asked for, except those invisible on such pictures."""
        wanted = self.kinds or NAMES
        return tuple(name for name in wanted if channels == 3 or name not in OF_COLOURS)
