"""Settings of the last particle: the noise, the test, and what to compare it with."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Literal

from pydantic import Field, field_validator, model_validator

from robgui.core.execution.params.params import Params

Noise = Literal["box", "clip", "l2", "ball", "gaussian", "smooth", "light", "jpeg"]
Margin = Literal["auto", "logits", "probabilities"]
Preset = Literal["default", "paper", "ams20", "ams100"]

#: The sizes of noise of the paper's Table 1.
PUBLISHED_RADII = (1e-4, 5e-4, 1e-3, 5e-3, 0.01, 0.05, 0.1)
#: What a preset changes among settings left at their defaults. The paper: N = 2, t = 40, p_c =
#: 1e-10, one run, noise clipped at 0 and 1, and no samples around a failure.
PRESETS: dict[str, dict[str, Any]] = {
    "paper": {
        "guided": False,
        "particles": 2,
        "kill": 1,
        "steps": 40,
        "replicas": 1,
        "critical": 1e-10,
        "noise": "clip",
        "importance": 0,
    },
    # Measured at a nominal risk of 1 %: 0.83 % false passes with
    # 5,100 calls for the first, 0.67 % with 24,500 for the second.
    "ams20": {"particles": 20, "kill": 15, "steps": 20, "replicas": 1},
    "ams100": {"particles": 100, "kill": 75, "steps": 20, "replicas": 1},
}

#: With leaps, particles make this share of the moves, 12 of 40. Along slopes off by 0, 37 and 60
#: degrees, in 30 and 120 dimensions, intervals at p = 1e-8 then held it in 94.3 % of 6,000 tests,
#: as with published moves (94.8 % of 1,200); with 11 moves in 93.2 %.
LEAPING = 0.3


class _Front(Params):
    """Setting that comes first in every form."""

    preset: Preset = Field(
        "default",
        title="Preset",
        description=(
            "paper: as published, with 2 particles and one repetition. ams20, ams100: 20 or 100"
            " particles, three quarters killed at once, for scores in steps such as those of"
            " gradient boosting; your own settings win."
        ),
    )


class _One(_Front):
    eps: float = Field(
        0.0,
        ge=0,
        le=1e6,
        title="Size of the noise",
        description=(
            "Values being from 0 to 1: how far each may move, the radius of the ball, or the"
            " standard deviation; jpeg: what is lost of quality 100, such as 0.9 down to 10. 0"
            " takes a size that fits the kind of data and the noise (0.1 per value of an image,"
            " 0.05 of a table)."
        ),
        json_schema_extra={"zero": "fitted to the data"},
    )


class _Many(_Front):
    radii: tuple[float, ...] = Field(
        (),
        title="Sizes of the noise",
        description=(
            "Values being from 0 to 1: how far each may move; the table has one row for each size."
            " Empty takes sizes that fit the kind of data and the noise (0.01 to 0.4 per value of"
            " an image, 0.001 to 0.2 of a table)."
        ),
        json_schema_extra={"empty": "fitted to the data"},
    )
    most: int = Field(
        100,
        ge=1,
        le=100_000,
        title="Inputs",
        description="Number of inputs tested: the first ones that the model gets right.",
    )

    @field_validator("radii")
    @classmethod
    def _in_order(cls, radii: tuple[float, ...]) -> tuple[float, ...]:
        if len(radii) > 100:
            raise ValueError("give at most 100 sizes")
        if radii and min(radii) <= 0:
            raise ValueError(f"a size must be greater than 0, which {min(radii):g} is not")
        return tuple(sorted(set(radii)))


class MethodParams(Params):
    """What one input and a table share."""

    noise: Noise = Field(
        "box",
        title="Noise",
        description=(
            "box: every value uniform around its own, within 0 to 1. clip: the same, but cut off at"
            " 0 and 1 afterwards. l2: uniform in a ball (root of squares), then cut off. ball:"
            " uniform in the part of the ball within 0 to 1. gaussian: normal, not cut off. For"
            " images, noise that does not average out over the pixels: smooth (blotches: blurred"
            " normal noise), light (brightness and contrast), jpeg (loss by compression)."
        ),
        json_schema_extra={
            "means": {"box": "uniform", "clip": "uniform, cut off", "l2": "ball, cut off"}
        },
    )
    # p_c = 1e-10, N = 2 and t = 40 in all tables of the paper (Section 4).
    critical: float = Field(
        1e-10,
        gt=0,
        lt=1,
        title="Critical probability",
        description="Validated means: noise makes the model fail more rarely than this.",
        json_schema_extra={"judges": "probability"},
    )
    risk: float = Field(
        0.01,
        gt=0,
        lt=1,
        title="Risk",
        description=(
            "How often, at most, an input that fails more often is validated all the same; 0.01 is"
            " 99 % confidence."
        ),
    )
    particles: int = Field(
        2,
        ge=2,
        le=10_000,
        title="Particles",
        description="Noisy inputs kept at a time; more give a narrower estimate and cost more.",
    )
    steps: int = Field(
        40,
        ge=1,
        le=10_000,
        title="Moves",
        description=(
            "Random moves of each new particle, a third as many where it leaps; too few and"
            " the verdict cannot be trusted."
        ),
    )
    replicas: int = Field(
        10,
        ge=1,
        le=1000,
        title="Repetitions",
        description=(
            "Independent runs whose counts are added and which check each other. Ten give an"
            " interval of one to two powers of ten for up to 20,000 calls, 5,700 with leaps; one,"
            " as published, three to six powers of ten for up to 2,600."
        ),
    )
    guided: bool = Field(
        True,
        title="Leaps",
        description=(
            "Where the model gives gradients (white-box): particles also leap along the slope of"
            " the score and far across it, and make a third of the moves."
        ),
        json_schema_extra={"rare": True},
    )
    kill: int = Field(
        1,
        ge=1,
        le=9_999,
        title="Killed at once",
        description="Lowest particles replaced in one round; 1 is the paper's way.",
        json_schema_extra={"rare": True},
    )
    class_wise: bool = Field(
        False,
        title="Class by class",
        description=(
            "One test for each other class: finds failures hidden behind a likelier wrong class,"
            " and costs that many times more."
        ),
    )
    truth: Literal["label", "predicted"] = Field(
        "label",
        title="Right answer",
        description=(
            "label: the dataset's, where it has one. predicted: what the model says without noise."
        ),
        json_schema_extra={"rare": True},
    )
    margin: Margin = Field(
        "auto",
        title="Score",
        description=(
            "What climbs: the gap between scores (logits), or between probabilities; auto takes"
            " probabilities for trees only."
        ),
        json_schema_extra={"rare": True},
    )
    # Without a failure, 2,500 samples alone prove p < -log(0.01) / 2,500 = 1.8e-3.
    samples: int = Field(
        2500,
        ge=0,
        le=100_000_000,
        title="Samples",
        description=(
            "Plain random samples for each input; where 10 or more fail they give the probability,"
            " and where one fails nothing is validated. 0 for none."
        ),
        json_schema_extra={"rare": True, "zero": "none"},
    )
    # As many as Madry et al. (2018) take on MNIST.
    attack_steps: int = Field(
        40,
        ge=0,
        le=10_000,
        title="Attack steps",
        description="Steps of the gradient search for a failure within the noise; 0 for none.",
        json_schema_extra={"rare": True, "zero": "none"},
    )
    importance: int = Field(
        10_000,
        ge=0,
        le=100_000_000,
        title="Samples around failures",
        description=(
            "Random samples around the likeliest failures that gradients lead to, class by class:"
            " they measure a failure far too rare for plain samples; 0 for none."
        ),
        json_schema_extra={"rare": True, "zero": "none"},
    )
    blur: float = Field(
        2.0,
        gt=0,
        le=1000,
        title="Width of the blotches",
        description="Of smooth noise: the standard deviation of the blur, in pixels.",
        json_schema_extra={"rare": True},
    )
    proof: bool = Field(
        True,
        title="Formal bounds",
        description=(
            "Also tries to prove that no noise changes the class: networks of linear, convolution,"
            " rectifier and pooling layers, and trees; box and clip noise. A deep network takes"
            " about a second for each of its layers."
        ),
        json_schema_extra={"rare": True},
    )
    scale: tuple[float, ...] = Field(
        (),
        title="Noise per feature",
        description=(
            "Multiplies the size of the noise: one number for each feature (channel of an image);"
            " empty for the same everywhere."
        ),
        json_schema_extra={"rare": True, "empty": "the same everywhere"},
    )
    frozen: tuple[str, ...] = Field(
        (),
        title="Fixed features",
        description="Names or numbers (from 1) of features that get no noise.",
        json_schema_extra={"rare": True, "empty": "none"},
    )
    rounded: tuple[str, ...] = Field(
        (),
        title="Whole numbers",
        description=(
            "Names or numbers (from 1) of features rounded to whole numbers after the noise; of"
            " channels of an image, to the 256 levels of a picture file."
        ),
        json_schema_extra={"rare": True, "empty": "none"},
    )
    lower: tuple[float, ...] = Field(
        (),
        title="Lowest values",
        description=(
            "In the features' own units, one for each; empty for the lowest value the model knows."
        ),
        json_schema_extra={"rare": True, "empty": "the model's lowest"},
    )
    upper: tuple[float, ...] = Field(
        (),
        title="Highest values",
        description=(
            "In the features' own units, one for each; empty for the highest value the model knows."
        ),
        json_schema_extra={"rare": True, "empty": "the model's highest"},
    )

    presets: ClassVar[Mapping[str, Mapping[str, Any]]] = PRESETS

    def leaps(self, gradients: bool) -> bool:
        """Whether particles leap along a direction given by gradients.

        One direction serves all other classes together, where one particle dies at a time. In a
        ball the score depends only on the direction of the latent point, and is never straight.
        """
        shown = gradients and self.noise in ("box", "clip", "gaussian", "smooth")
        return self.guided and shown and not self.class_wise and self.kill == 1

    def moves(self, leaps: bool) -> int:
        """Moves of every new particle, leaps among them if there are any."""
        if leaps:
            return max(2, round(LEAPING * self.steps))
        return self.steps

    @model_validator(mode="after")
    def _fits_together(self) -> MethodParams:
        if self.kill >= self.particles:
            raise ValueError(
                f"kill = {self.kill} must be smaller than particles = {self.particles}: somebody"
                " has to survive"
            )
        if any(scale < 0 for scale in self.scale):
            raise ValueError("scale must not hold negative numbers")
        return self


class LastParticleParams(MethodParams, _One):
    """Settings for one input; a preset replaces every setting that is still at its default."""


class LastParticleTableParams(MethodParams, _Many):
    """Settings for a table of inputs and sizes of noise.

    A preset replaces what is still at its default.
    """

    presets: ClassVar[Mapping[str, Mapping[str, Any]]] = {
        **PRESETS,
        "paper": {**PRESETS["paper"], "radii": PUBLISHED_RADII},
    }


def table_units(params: LastParticleTableParams, inputs: int) -> int:
    """One unit for every input that may be tested.

    If the model gets some wrong, the right ones are distributed evenly.
    """
    return min(params.most, inputs)
