"""How often the operating domain's interval holds a known probability, and how often a domain that
fails as often as the critical probability passes: ``python -m tests.bench.studies.domain_coverage``.

The scene is linear: the sum of two uniform shares exceeds 2 - s with probability s² / 2.
"""

from __future__ import annotations

import argparse

from robgui.core.execution.registry import find
from robgui.core.model.classifier import Classifier
from tests.analyses.semantic import toy
from tests.analyses.semantic.domain.test_operating_domain import Linear

_ANALYSIS = find("operating_domain")


def _run(p: float, seed: int, critical: float) -> object:
    net = Classifier.from_module(
        Linear((1.0, 1.0), 2 - (2 * p) ** 0.5), (1, 4, 4), ("kept", "lost"), "linear"
    )
    given = {
        "scene": "toy",
        "axes": ("azimuth", "elevation"),
        "target": "kept",
        "search": 0,
        "critical": critical,
        "seed": seed,
    }
    return list(_ANALYSIS.engine(net, None, _ANALYSIS.params.parse(given)))[-1].result


def main() -> None:
    """Prints one line for each probability, at the default settings."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=100)
    seeds = parser.parse_args().seeds
    import robgui.analyses.semantic.scene.space as space

    space.open_scene = toy.open_toy
    for p in (1e-2, 1e-3, 1e-4, 1e-5, 1e-6):
        runs = [_run(p, seed, p / 1000) for seed in range(seeds)]
        told = [one for one in runs if one.p_source]
        covered = sum(one.p_low <= p <= one.p_high for one in told)
        passed = sum(_run(p, 10_000 + seed, p).validated for seed in range(seeds))
        print(
            f"p = {p:g}: interval holds it in {covered} of {len(told)} that say a number;"
            f" validated at the critical probability {p:g}: {passed} of {seeds}",
            flush=True,
        )


if __name__ == "__main__":
    main()
