"""Zones by name: what they are in words, how large they can get."""

from __future__ import annotations

from typing import Literal

Zone = Literal["linf", "box", "l2", "l1", "l2_clipped", "l1_clipped"]
#: How base points are spread.
Sampler = Literal["sobol", "antithetic", "plain"]
Power = Literal[1, 2]

#: What a radius measures, for axes: its name and its unit. Inputs are scaled so that a value goes
#: from 0 to 1.
RADIUS_WORDS: dict[Zone, tuple[str, str]] = {
    "linf": ("radius: each value changes by at most", "of its range"),
    "box": ("size of the box around its centre", "of the whole box"),
    "l2": ("radius: length of the change, L2", "ranges of a value"),
    "l1": ("radius: sum of the changes, L1", "ranges of a value"),
    "l2_clipped": ("radius: length of the change, L2, cut off at 0 and 1", "ranges of a value"),
    "l1_clipped": ("radius: sum of the changes, L1, cut off at 0 and 1", "ranges of a value"),
}
#: Samplers as the program calls them.
SAMPLER_WORDS: dict[Sampler, str] = {
    "sobol": "even (Sobol)",
    "antithetic": "mirrored",
    "plain": "plain random",
}


def largest_radius(zone: Zone, dims: int) -> float:
    """The radius from which on the zone around any input holds the whole cube (or box)."""
    return 1.0 if zone in ("linf", "box") else float(dims ** (1 / power(zone)))


def power(zone: Zone) -> Power:
    """The norm of a ball."""
    return 1 if zone.startswith("l1") else 2


def change_words(zone: Zone, radius: str) -> str:
    """A change within a radius, as a sentence says it: ``a change of each value by at most
    0.1``.
    """
    if zone == "linf":
        return f"a change of each value by at most {radius}"
    if zone == "box":
        return f"a change within {radius} of the box around its centre"
    return f"a change of {'total size' if power(zone) == 1 else 'length'} {radius}"
