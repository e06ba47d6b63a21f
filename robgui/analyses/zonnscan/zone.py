"""Kinds of zones: their names, their words, and how large they can get."""

from __future__ import annotations

from typing import Literal

Zone = Literal["linf", "box", "l2", "l1", "l2_clipped", "l1_clipped"]
#: How base points are spread.
Sampler = Literal["sobol", "antithetic", "plain"]
Power = Literal[1, 2]

#: What a radius measures, for axes: name, and of what. Inputs are scaled to values from 0 to 1.
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
    """The radius from which on the zone around any input contains the whole cube (or box)."""
    if zone in ("linf", "box"):
        return 1.0
    # The diagonal of the unit cube in this norm: √d for L2, d for L1.
    return float(dims ** (1 / power(zone)))


#: Shares of the largest radius: even steps show how an image dissolves …
EVEN = tuple(round(0.05 * i, 2) for i in range(21))
#: … while tables and balls change class within the first fifth.
FINE = (
    *(0, 0.01, 0.02, 0.03, 0.05, 0.075, 0.1, 0.125, 0.15, 0.175, 0.2, 0.25, 0.3),
    *(0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1),
)


#: A sweep that adds radii where its curves bend begins with these.
EVEN_FIRST = (0, 0.05, 0.1, 0.2, 0.3, 0.4, 0.6, 0.8, 1)
#: The same for tables and balls, which change class early.
FINE_FIRST = (0, 0.02, 0.05, 0.1, 0.2, 0.3, 0.5, 0.75, 1)


def fitted_radii(zone: Zone, dims: int, kind: str, *, few: bool = False) -> tuple[float, ...]:
    """The default radii of a sweep, from 0 to the largest that the zone can have.

    In balls they grow with the number of values: a length of 1 is nothing for 784 of them. With
    ``few`` they are the first of a sweep that adds others.
    """
    even = zone in ("linf", "box") and kind != "table"
    if even:
        first, every = (EVEN_FIRST, EVEN)
    else:
        first, every = (FINE_FIRST, FINE)
    shares = first if few else every
    largest = largest_radius(zone, dims)
    # Three digits, as a person would type them.
    return tuple(float(f"{share * largest:.3g}") for share in shares)


def power(zone: Zone) -> Power:
    """The norm of a ball."""
    if zone.startswith("l1"):
        return 1
    return 2


def change_words(zone: Zone, radius: str) -> str:
    """A change within a radius, as a sentence says it.

    ``a change of each value by at most 0.1 of its range``.
    """
    if zone == "linf":
        return f"a change of each value by at most {radius} of its range"
    if zone == "box":
        return f"a change within {radius} of the box around its centre"
    return f"a change of {'total size' if power(zone) == 1 else 'length'} {radius}"
