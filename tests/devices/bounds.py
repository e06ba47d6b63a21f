"""How often each engine may read from its device, and why more often than once for each Step."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Bound:
    """What a run may read at most: once for each Step, and what stands here besides.

    Attributes:
        once: Reads of a run besides its Steps, at its beginning and its end.
        why: The reason for them.
        per_call: Reads for each call of the model, where its answers steer the engine and there is
            nothing to show after it.
    """

    once: int
    why: str
    per_call: float = 0


BOUNDS = {
    "accuracy": Bound(0, "none: answers with each batch, neighbours with the last Step"),
    "zonnscan": Bound(
        12, "the input itself, which samples cross, and three times which of them can be nearest"
    ),
    "zonnscan_populations": Bound(1, "the inputs themselves, for their small pictures"),
    "zonnscan_corner_cases": Bound(1, "the inputs themselves, for their small pictures"),
    "zonnscan_watermark": Bound(
        10,
        "true classes, which inputs the attack turns, the key, what each model says of it, the new"
        " weights for their digest, and the counts of each run",
    ),
    "semantic_map": Bound(1, "the class of each input"),
    "semantic_regions": Bound(3, "the class of the input, and the pictures at the end"),
    "srvr": Bound(
        2, "scores and slopes of one step of growing are two calls, each moves bounds", per_call=0.2
    ),
    "operating_domain": Bound(
        12, "the class of the input; each failing pose that is shown is asked about alone"
    ),
    "feature_game": Bound(1, "the input's own answer"),
    "feature_game_batch": Bound(2, "the own answer of each input"),
    "attribution": Bound(1, "the classes and chances of the pictures"),
    "deepinspect": Bound(
        12, "distances, weights of the last layer, groups and wrong inputs at the end"
    ),
    "deepinspect_thresholds": Bound(2, "weights of the last layer, counts before the first rank"),
    "deepinspect_coverage": Bound(0, "none: a batch is read with the next Step"),
    "last_particle": Bound(
        60,
        "classes, margins and directions of leaps at first, a round with leaps being shorter than"
        " a Step; plain samples, attack, likeliest failure and proof",
    ),
    "last_particle_table": Bound(
        100,
        "rounds with leaps are shorter than a Step; a proof of each size compares two recordings,"
        " finds open units and tries its claim",
    ),
    "tolerance": Bound(
        20,
        "each round of the attack drops what has crossed, so it must see it; there is nothing to"
        " show before five inputs are done",
        per_call=1,
    ),
    "corruptions": Bound(1, "the pictures of the examples, once they are chosen"),
    "pipeline_audit": Bound(0, "none: all ways of preparing some pictures are read together"),
}
