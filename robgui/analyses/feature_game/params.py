"""Settings of the feature game, for one image and for many."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, ClassVar, Literal

from pydantic import Field, field_validator

from robgui.core.execution.params.params import Params

Player = Literal["cooperative", "adversarial", "nature"]
Norm = Literal["l0", "l1", "l2", "linf"]
#: What a severity counts, and where it stands in the row of all distances.
UNITS: dict[Norm, str] = {
    "l0": "changed pixels",
    "l1": "sum of all changes",
    "l2": "distance (root of squares)",
    "linf": "largest change of a value",
}
# Column 1 counts changed numbers, three in a colour pixel, which no norm of the game uses.
COLUMN: dict[Norm, int] = {"l0": 0, "l1": 2, "l2": 3, "linf": 4}
#: In the order in which they are played when all three are asked for.
PLAYERS: tuple[Player, ...] = ("cooperative", "nature", "adversarial")
#: Most classes that "all classes" means, those with the highest scores for the image.
MOST_TARGETS = 20

#: What the preset ``paper`` changes among settings left at their defaults (Sections 4 and 5: UCB,
#: 20 s a move, 60 s in all).
PAPER: dict[str, Any] = {
    # Section 4 selects by UCB; the prior is ours.
    "selection": "ucb1",
    "max_calls": 60_000,
    "search_seconds": 60.0,
    "move_seconds": 20.0,
    # 1/ε = 50 iterations without a better example end a search. The
    # paper's own values of 0.1 and 0.05 end it after 10 and 20.
    "epsilon": 0.02,
}
_COLOUR = re.compile(r"#[0-9a-fA-F]{6}")


class _Preset(Params):
    """The preset: ``paper`` replaces every setting that is still at its default."""

    preset: Literal["default", "paper"] = Field(
        "default",
        title="Preset",
        description=(
            "default: learns what pixels do first and repairs what it finds. paper:"
            " plain tree search with random play, 20 s a move, 60 s in all, as published; your own"
            " settings win."
        ),
    )

    presets: ClassVar[Mapping[str, Mapping[str, Any]]] = {"paper": PAPER}


class _Game(Params):
    """Rules of the game and how long it is played."""

    target: str = Field(
        "",
        title="Target class",
        description=(
            "Name or number of the class to reach; empty: any other class; all: every other class,"
            " one after the other."
        ),
        json_schema_extra={"empty": "any other class"},
    )
    norm: Norm = Field(
        "l0",
        title="Distance",
        description=(
            "What is kept small: l0 the number of changed pixels, l1 the sum of all changes, l2"
            " their root of squares, linf the largest change."
        ),
        json_schema_extra={
            "means": {
                "l0": "changed pixels",
                "l1": "sum of changes",
                "l2": "distance",
                "linf": "largest change",
            }
        },
    )
    distance: float | None = Field(
        None,
        title="Largest distance",
        description="No example may be farther from the image than this; empty: no limit.",
        json_schema_extra={"rare": True, "empty": "no limit"},
    )
    # At least one level of an 8-bit image: a smaller step would be rounded away.
    tau: float = Field(
        0.25,
        ge=1 / 255,
        le=1,
        title="Step",
        description=(
            "How far one move changes a pixel under l1, l2 and linf, values being from 0 to 1;"
            " what is found is then made finer. Under l0 a move goes to an extreme."
        ),
        json_schema_extra={"rare": True},
    )
    colours: tuple[str, ...] = Field(
        (),
        title="Colours",
        description=(
            "Colours a move may paint beside black and white under l0, such as #ff0000, #00ff00."
        ),
        json_schema_extra={"rare": True, "empty": "black and white only"},
    )
    max_calls: int = Field(
        5000,
        ge=50,
        le=100_000_000,
        title="Model calls",
        description="Most images shown to the model, for each search (target, player).",
    )
    search_seconds: float = Field(
        0.0,
        ge=0,
        le=1e7,
        title="Seconds a search",
        description=(
            "Seconds after which a search stops; 0: no limit. Results then depend on the machine."
        ),
        json_schema_extra={"rare": True, "zero": "no limit"},
    )
    epsilon: float = Field(
        0.0,
        ge=0,
        le=1,
        title="Convergence",
        description=(
            "Stops after 1/ε iterations without a better example; 0 uses all the calls. The paper"
            " has 0.1 and 0.05."
        ),
        json_schema_extra={"rare": True, "zero": "uses all the calls"},
    )
    gradients: bool = Field(
        False,
        title="With gradients",
        description=(
            "White-box: under l0, against no opponent, the model's gradients propose which pixels"
            " to change; on photographs it has so far ended with more pixels than without. Needs a"
            " model that gives gradients."
        ),
    )
    refine: bool = Field(
        True,
        title="Refine",
        description=(
            "Takes back every change that is not needed and tries swaps, after each example found."
        ),
        json_schema_extra={"rare": True},
    )
    spread: float = Field(
        1.0,
        gt=0,
        le=20,
        title="Spread",
        description="Multiplies the size of every feature in the map of where the search looks.",
        json_schema_extra={"rare": True},
    )
    selection: Literal["prior", "ucb1"] = Field(
        "prior",
        title="Selection",
        description=(
            "How the tree is walked: by upper confidence bounds alone, or with what is known as a"
            " prior."
        ),
        json_schema_extra={"rare": True},
    )
    # About √2, the constant of UCB1 for rewards in [0, 1].
    exploration: float = Field(
        1.4,
        ge=0,
        le=100,
        title="Exploration",
        description="Weight of curiosity against reward when the tree is walked.",
        json_schema_extra={"rare": True},
    )
    move_seconds: float = Field(
        0.0,
        ge=0,
        le=1e7,
        title="Seconds a move",
        description=(
            "Seconds after which a move is fixed, where moves are; 0: by iterations alone."
        ),
        json_schema_extra={"rare": True, "zero": "by iterations alone"},
    )
    move_iterations: int = Field(
        20,
        ge=1,
        le=1_000_000,
        title="Iterations a move",
        description="Iterations after which a move is fixed; for the preset paper.",
        json_schema_extra={"rare": True},
    )

    @field_validator("distance")
    @classmethod
    def _some_distance(cls, distance: float | None) -> float | None:
        if distance is not None and distance <= 0:
            raise ValueError(
                "within this distance there is only the image itself; give a distance above 0, or"
                " none for no limit"
            )
        return distance

    @field_validator("colours")
    @classmethod
    def _known_colours(cls, colours: tuple[str, ...]) -> tuple[str, ...]:
        for colour in colours:
            if not _COLOUR.fullmatch(colour):
                raise ValueError(
                    f"{colour!r} is not a colour; write it as #rrggbb, such as #ff0000"
                )
        return colours


class Judged(Params):
    """What decides whether a change of class is a failure or a risk."""

    few_pixels: float = Field(
        0.02,
        ge=0,
        le=1,
        title="Few pixels",
        description=(
            "Where changed pixels are counted, up to this share of them is a failure, more is a"
            " risk."
        ),
        json_schema_extra={"rare": True, "judges": "share of the pixels"},
    )
    small_change: float = Field(
        0.05,
        ge=0,
        le=1,
        title="Small change",
        description=(
            "In the other norms, a change of at most this share of the largest possible distance is"
            " a failure, a larger one a risk. Every value can change by 1."
        ),
        json_schema_extra={"rare": True, "judges": "share of the largest distance"},
    )


# The last base comes first in the form.
class FeatureGameParams(Judged, _Game, _Preset):
    """Settings of the game on one image."""

    player: Literal["cooperative", "adversarial", "nature", "all"] = Field(
        "cooperative",
        title="Opponent",
        description=(
            "Who picks the pixel within the feature (player II): cooperative helps to change the"
            " class, adversarial hinders, nature picks by chance; all plays the three one after the"
            " other. Against the last two whole games are played: median and quartiles."
        ),
        json_schema_extra={
            "means": {"cooperative": "helps", "adversarial": "hinders", "nature": "chance"}
        },
    )
    lookahead: int = Field(
        500,
        ge=1,
        le=1_000_000,
        title="Look-ahead",
        description=(
            "Against chance or an opponent the rest of a game is played exactly as soon as it has"
            " at most this many positions; before that, by the predicted effect of each move."
        ),
        json_schema_extra={"rare": True},
    )
    persistence: bool = Field(
        True,
        title="Turn and scale",
        description=(
            "Shows the model the example turned and scaled, to see whether it still fools it."
        ),
    )


class FeatureGameBatchParams(Judged, _Game, _Preset):
    """Settings of the game on many images."""

    formerly: ClassVar[Mapping[str, str]] = {"inputs": "images"}

    images: int = Field(
        20,
        ge=0,
        le=1_000_000,
        title="Images",
        description="Most images that are played, chosen at random by the seed; 0 takes all.",
        json_schema_extra={"zero": "all"},
    )


#: Settings of either.
GameParams = FeatureGameParams | FeatureGameBatchParams
