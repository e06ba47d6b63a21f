"""The largest box on scenes whose border is known: calls, volume, lost share and false claims.

``python -m tests.bench.studies.closed_boxes [--seeds 100] [--only disc] [--starts 4]`` prints a line for each scene, alone
and with the poses of a first look as an analysis has them; it asserts nothing. A claim is false when
more than the allowed 1 % of the box is lost, by 100,000 poses of its own; at most 5 % may be.
"""

from __future__ import annotations

import argparse

import numpy as np

from robgui.analyses.semantic.regions.scan import spread
from tests.analyses.semantic.regions.growing import (
    MOST_LOST,
    Loses,
    corner,
    disc,
    found_together,
)


def box(points: np.ndarray) -> np.ndarray:
    """Outside of a box of three sides."""
    return np.asarray((np.abs(points - (0.4, 0.5, 0.6)) > (0.25, 0.3, 0.2)).any(1))


def plane(points: np.ndarray) -> np.ndarray:
    """Beyond a slanted plane."""
    return np.asarray(points @ (1.0, 0.7, 0.4) > 1.3)


def ball(points: np.ndarray) -> np.ndarray:
    """Outside of a ball of four dimensions."""
    return np.asarray(((points - 0.5) ** 2).sum(1) > 0.35**2)


SCENES: dict[str, tuple[Loses, tuple[float, ...]]] = {
    "disc": (disc, (0.5, 0.5)),
    "corner": (corner, (0.3, 0.4)),
    "box": (box, (0.4, 0.5, 0.6)),
    "plane": (plane, (0.4, 0.4, 0.4)),
    "ball": (ball, (0.5, 0.5, 0.5, 0.5)),
}


def first_look(n: int) -> np.ndarray:
    """As many poses as an analysis looks at before it chooses its starts."""
    if n == 2:
        across, down = np.meshgrid(np.linspace(0, 1, 25), np.linspace(0, 1, 13))
        return np.stack([across.ravel(), down.ravel()], 1)
    return spread(200, n)


def starts_of(name: str, count: int) -> tuple[tuple[float, ...], ...]:
    """The scene's own start and others around it where the class holds."""
    loses, start = SCENES[name]
    around = np.array(start) + 0.3 * (spread(200, len(start)) - 0.5)
    kept = around[~loses(around)][: count - 1]
    return (start, *(tuple(one) for one in kept.tolist()))


def line(name: str, seeds: int, looked: bool, count: int) -> str:
    """What boxes of one scene cost and are: calls of all, the largest claimed, any false claim."""
    loses, starts = SCENES[name][0], starts_of(name, count)
    rows = []
    for seed in range(seeds):
        first = first_look(len(starts[0])) if looked else None
        made, calls = found_together(loses, starts, seed, looked=first)
        random = np.random.default_rng(10**6 + seed)
        best, lost, false, claimed = 0.0, 0.0, 0, 0
        for box in made:
            if box.most > MOST_LOST:
                continue
            unit = random.random((100_000, len(starts[0])))
            own = float(loses(box.low + (box.high - box.low) * unit).mean())
            volume = float((box.high - box.low).prod())
            best, lost = max((best, lost), (volume, own))
            claimed, false = claimed + 1, false + (own > MOST_LOST)
        rows.append((calls, best, lost, claimed, false > 0))
    calls, volume, lost, claimed, false = np.mean(np.array(rows, dtype=float), axis=0)
    return (
        f"{name}, {count} starts{', after a first look' if looked else ''}: {calls:,.0f} calls,"
        f" volume {volume:.4f}, {100 * lost:.2f} % lost, claimed {claimed * seeds:.0f} of"
        f" {count * seeds}, runs with a false claim {false * seeds:.0f} of {seeds}"
    )


def main() -> None:
    """Prints all figures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=100)
    parser.add_argument("--only", nargs="+", choices=tuple(SCENES), default=list(SCENES))
    parser.add_argument("--starts", type=int, default=1, help="boxes that share a run")
    given = parser.parse_args()
    for name in given.only:
        for looked in (False, True):
            print(line(name, given.seeds, looked, given.starts), flush=True)


if __name__ == "__main__":
    main()
