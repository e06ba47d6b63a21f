"""One small task for every analysis, on the models and data of the demo."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

_FASHION = "fashion.npz"
_CNN = "fashion_cnn.safetensors"
_MLP = "fashion_mlp.pt2"


@dataclass(frozen=True, slots=True)
class Job:
    """What to run.

    Attributes:
        analysis: Its name.
        models: Files of the demo.
        data: File or folder of the demo.
        indices: Which inputs of it.
        params: Settings that keep it short.
    """

    analysis: str
    models: tuple[str, ...]
    data: str
    indices: Sequence[int]
    params: Mapping[str, Any] = field(default_factory=dict)


#: One for each analysis.
JOBS: tuple[Job, ...] = (
    Job("zonnscan", (_MLP,), _FASHION, (3,), {"samples": 64, "radii": (0.0, 0.1, 0.3)}),
    Job("zonnscan_populations", (_MLP,), _FASHION, range(12), {"samples": 32}),
    Job(
        "zonnscan_corner_cases",
        (_MLP, "fashion_rnn.pt"),
        _FASHION,
        range(60),
        {"samples": 32, "most": 10},
    ),
    Job(
        "zonnscan_watermark",
        (_MLP,),
        _FASHION,
        range(100),
        {"size": 10, "runs": 1, "rounds": 20, "samples": 32},
    ),
    Job("semantic_map", (_CNN,), _FASHION, (3,), {"step": {"rotation": 15.0, "scale": 10.0}}),
    Job("semantic_regions", (_CNN,), _FASHION, (3,), {"start_count": 1, "samples": 256}),
    Job("srvr", (_CNN,), _FASHION, (3,), {"start_count": 1, "iterations": 6}),
    Job(
        "operating_domain",
        (_CNN,),
        _FASHION,
        (3,),
        {"samples": 200, "search": 256, "critical": 1e-3, "steps": 5, "replicas": 4},
    ),
    Job("feature_game", ("traffic_cnn.pt2",), "traffic", (0,), {"max_calls": 200}),
    Job("feature_game_batch", (_CNN,), _FASHION, (3, 4), {"max_calls": 100}),
    Job("attribution", (_CNN,), _FASHION, (3,), {"steps": 5}),
    Job("deepinspect", (_MLP,), _FASHION, range(150)),
    Job("deepinspect_thresholds", (_MLP,), _FASHION, range(100)),
    Job("deepinspect_coverage", (_CNN,), _FASHION, range(100)),
    Job(
        "last_particle",
        (_MLP,),
        _FASHION,
        (3,),
        {
            "critical": 1e-3,
            "steps": 5,
            "replicas": 4,
            "samples": 250,
            "importance": 500,
            "attack_steps": 10,
        },
    ),
    Job(
        "last_particle_table",
        ("table_mlp.onnx",),
        "table.csv",
        range(3),
        {
            "critical": 1e-3,
            "steps": 5,
            "replicas": 4,
            "samples": 100,
            "importance": 200,
            "attack_steps": 10,
            "radii": (0.02, 0.1),
        },
    ),
    Job("pipeline_audit", ("traffic_cnn.pt2",), "traffic", range(16), {"pictures": 16}),
    Job("accuracy", (_CNN,), _FASHION, range(100)),
    Job("tolerance", (_MLP,), _FASHION, range(3), {"sizes": 3}),
    Job(
        "corruptions",
        ("traffic_cnn.pt2",),
        "traffic",
        range(8),
        {"severities": (1, 4)},
    ),
)
