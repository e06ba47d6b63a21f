"""How often each engine may read from its device, and why at all."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Bound:
    """What a run may read at most: so much for each call of the model, for each Step, and once.

    Attributes:
        per_call: Reads for each call of the model, where its answers steer the engine.
        per_step: Reads for each Step.
        once: Reads of a run besides, at its beginning and its end.
        why: The reason for those that are left.
    """

    per_call: float
    per_step: float
    once: int
    why: str


BOUNDS = {
    "accuracy": Bound(1, 0, 8, "the answers are counted on the host; neighbours are read once"),
    "zonnscan": Bound(
        1, 1, 8, "a Step shows the counts; each round of bisection and of the attack needs answers"
    ),
    "zonnscan_populations": Bound(
        0, 3, 6, "a Step shows the counts and the inputs that stand out; the models answer once"
    ),
    "zonnscan_corner_cases": Bound(
        1, 2, 8, "the answers of each model are compared on the host; a Step shows the counts"
    ),
    "zonnscan_watermark": Bound(
        1, 1, 16, "training ends when every key is answered as wanted, asked in each round"
    ),
    "semantic_map": Bound(
        2, 0, 2, "which changes a picture needs, and the answers that fill its cells"
    ),
    "semantic_regions": Bound(
        2,
        1,
        14,
        "which changes a picture needs, and the answers that move a box; a Step shows the map",
    ),
    "srvr": Bound(2, 1, 10, "which changes a picture needs, and the slopes that move the bounds"),
    "operating_domain": Bound(
        2, 2, 10, "which changes a picture needs; a round kills the lowest; a Step shows poses"
    ),
    "feature_game": Bound(1, 0, 2, "the search chooses its next change from the answers"),
    "feature_game_batch": Bound(1, 0, 4, "the search chooses its next change from the answers"),
    "deepinspect": Bound(
        1, 2, 260, "each of 200 drawings asks how many pairs of classes are nearly equal"
    ),
    "deepinspect_thresholds": Bound(
        1, 2, 50, "the distances of each of 5 thresholds are ranked on the host"
    ),
    "deepinspect_coverage": Bound(2, 1, 2, "the owners of a batch, and what it reached"),
    "last_particle": Bound(
        1, 1, 40, "a round kills the lowest; plain samples, attack and proof read once each"
    ),
    "last_particle_table": Bound(
        1, 1, 200, "a round kills the lowest; a proof of each input compares its two recordings"
    ),
    "tolerance": Bound(
        2, 1, 60, "each round of the attack and of bisection needs answers; so does each proof"
    ),
    "corruptions": Bound(
        3, 0, 20, "pictures that are drawn on or compressed on the host, and the answers to them"
    ),
    "pipeline_audit": Bound(1, 1, 2, "the answers to each way of preparing a picture"),
}
