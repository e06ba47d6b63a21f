"""Settings of the operating domain."""

from __future__ import annotations

from pydantic import Field, field_validator

from robgui.analyses.semantic.domain.distributions import check_distribution
from robgui.analyses.semantic.params import IMAGE, OneSceneParams, SpaceParams
from robgui.analyses.semantic.scene.axes import image_axes

#: Default parameters and ranges: what a camera meets every day.
_EVERYDAY: dict[str, tuple[float, float]] = {
    "rotation": (-10.0, 10.0),
    "brightness": (-20.0, 20.0),
    "blur": (0.0, 2.0),
}
#: The same for a mesh: seen from all sides, from above, in more or less light.
_AROUND = ("azimuth", "elevation", "light")


class OperatingDomainParams(SpaceParams, OneSceneParams):
    """Which poses to expect, how often, and how rarely they may fail."""

    axes: tuple[str, ...] = Field(
        (),
        title="Vary",
        description=(
            "Names of the parameters that vary; empty: rotation, brightness and blur of an image,"
            " azimuth, elevation and light of a mesh."
        ),
        json_schema_extra={"empty": "the usual three"},
    )
    ranges: dict[str, tuple[float, float]] = Field(
        {},
        title="Ranges",
        description=(
            "From where to where a parameter varies, such as rotation=-15:15; otherwise rotation"
            " from -10° to 10°, brightness from -20 to 20 %, blur from 0 to 2 px, and everything"
            " else over the range above."
        ),
        json_schema_extra={"empty": "everyday changes"},
    )
    distributions: dict[str, str] = Field(
        {},
        title="Distributions",
        description=(
            "How often each value comes, such as rotation=normal:3, blur=measured.csv. normal: most"
            " often near its usual value, with this standard deviation, or normal:mean:deviation. A"
            " CSV file: as often as in its first column of numbers, or measured.csv:column. Others"
            " are uniform."
        ),
        json_schema_extra={"empty": "all uniform"},
    )
    critical: float = Field(
        1e-6,
        gt=0,
        lt=1,
        title="Critical probability",
        description="Validated means: a pose of the domain loses the class more rarely than this.",
        json_schema_extra={"judges": "probability"},
    )
    risk: float = Field(
        0.01,
        gt=0,
        lt=1,
        title="Risk",
        description=(
            "How often, at most, a domain that fails more often is validated all the same; 0.01 is"
            " 99 % confidence."
        ),
    )
    samples: int = Field(
        2000,
        ge=100,
        le=10_000_000,
        title="Plain samples",
        description="Poses drawn as they come; they show where the class is lost.",
    )
    search: int = Field(
        1500,
        ge=0,
        le=10_000_000,
        title="Search",
        description="Poses tried in search of the worst one; 0 takes the worst that was met.",
        json_schema_extra={"zero": "none"},
    )
    particles: int = Field(
        2,
        ge=2,
        le=1000,
        title="Particles",
        description="Poses that climb towards failure together in each repetition.",
        json_schema_extra={"rare": True},
    )
    steps: int = Field(
        40,
        ge=1,
        le=10_000,
        title="Moves",
        description="Moves of every new pose; more make poses less alike.",
        json_schema_extra={"rare": True},
    )
    # Ten, as in the last particle: what they kill is added up,
    # and their spread shows whether the poses moved freely.
    replicas: int = Field(
        10,
        ge=1,
        le=1000,
        title="Repetitions",
        description="Independent repetitions of the test, whose counts are added.",
        json_schema_extra={"rare": True},
    )

    @field_validator("distributions")
    @classmethod
    def _known(cls, distributions: dict[str, str]) -> dict[str, str]:
        for name, words in distributions.items():
            check_distribution(name, words)
        return distributions


def filled(params: OperatingDomainParams, shape: tuple[int, ...]) -> OperatingDomainParams:
    """The same with every varied parameter named, for a network that takes images of ``shape``."""
    if params.scene != IMAGE:
        return params.model_copy(update={"axes": params.axes or _AROUND})
    known = {axis.name: axis for axis in image_axes(shape[0] == 3, min(shape[1:]))}
    axes = params.axes or tuple(_EVERYDAY)
    usual = {
        # An image of fewer than 28 pixels allows less than 2 px of blur.
        name: (max(low, known[name].low), min(high, known[name].high))
        for name, (low, high) in _EVERYDAY.items()
        if name in axes and params.span == "usual"
    }
    # What the user typed wins.
    return params.model_copy(update={"axes": axes, "ranges": {**usual, **params.ranges}})
