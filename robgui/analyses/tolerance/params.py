"""Settings of the tolerance analysis."""

from __future__ import annotations

from pydantic import Field, model_validator

from robgui.core.execution.params.params import Params


class ToleranceParams(Params):
    """Which inputs, how far the attack reaches, and what the model must withstand."""

    most: int = Field(
        50,
        ge=0,
        le=100_000,
        title="Most inputs",
        description="Most inputs that are attacked and proven, chosen at random; 0 takes all.",
        json_schema_extra={"zero": "all"},
    )
    largest: float = Field(
        0.25,
        gt=0,
        le=1,
        title="Largest change",
        description="The attack looks for changes of every value by at most this, 0 to 1.",
    )
    hold: float = Field(
        0.03,
        gt=0,
        le=1,
        title="Must take",
        description=(
            "An input that changes class when its values change by at most this is a failure;"
            " 0.03 is about 8 of 255 brightness levels."
        ),
        json_schema_extra={"judges": "change of every value, 0 to 1"},
    )
    prove: bool = Field(
        True,
        title="Prove",
        description="Also compute formal bounds where the model allows them.",
    )
    sizes: int = Field(
        12,
        ge=1,
        le=100,
        title="Sizes of the proof",
        description="At how many sizes a proof is tried, each half as large again as the last.",
        json_schema_extra={"rare": True},
    )

    # 37,000: without a failure the exact upper end is 1 - 0.025^(1/n), which falls below 1e-4 from
    # n = ln(40) / 1e-4 = 36,889 on.
    samples: int = Field(
        37_000,
        ge=0,
        le=10_000_000,
        title="Samples of noise",
        description=(
            "Only where there is one input: most random changes of one size, which only sizes with"
            " rare failures need, besides a test by the last particle; 0 leaves them out. Fewer"
            " than 37,000 cannot tell a chance of 1 in 10,000."
        ),
        json_schema_extra={"rare": True, "zero": "none"},
    )

    @model_validator(mode="after")
    def _within_reach(self) -> ToleranceParams:
        if self.hold > self.largest:
            raise ValueError("what the model must take is larger than the largest change looked at")
        return self
