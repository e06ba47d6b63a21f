"""Default sizes of the noise, fitted to the kind of data and of noise."""

from __future__ import annotations

import math

from robgui.analyses.last_particle.params import Noise

#: How far each value may move, by kind of data: independent noise of .05 averages out over the
#: pixels of an image, while a table loses most inputs below .2.
_ONE = {"image": 0.1, "table": 0.05, "sequence": 0.05}
_MANY = {
    "image": (0.01, 0.02, 0.05, 0.1, 0.2, 0.3, 0.4),
    "table": (0.001, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2),
    "sequence": (0.001, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2),
}
#: Image-only noise: one size, and the sizes of a table.
_OF_IMAGES = {
    "smooth": (0.1, (0.01, 0.02, 0.05, 0.1, 0.15, 0.2, 0.3)),
    "light": (0.1, (0.02, 0.05, 0.1, 0.15, 0.2, 0.3, 0.4)),
    "jpeg": (0.9, (0.3, 0.5, 0.7, 0.8, 0.9, 0.95, 0.98)),
}


def fitted_size(noise: Noise, kind: str, values: int) -> float:
    """The size for one input of ``values`` numbers."""
    if noise in _OF_IMAGES:
        return _OF_IMAGES[noise][0]
    return _scaled(_ONE[kind], noise, values)


def fitted_sizes(noise: Noise, kind: str, values: int) -> tuple[float, ...]:
    """The sizes of a table of inputs of ``values`` numbers."""
    if noise in _OF_IMAGES:
        return _OF_IMAGES[noise][1]
    return tuple(_scaled(size, noise, values) for size in _MANY[kind])


def _scaled(size: float, noise: Noise, values: int) -> float:
    """The size at which this noise moves a value as far as uniform noise of ``size``.

    Measured by root mean square: size / √3, and radius / √(d + 2) in a ball.
    """
    if noise in ("l2", "ball"):
        # E|x|² of a uniform ball is d/(d + 2) r², so each of d values has
        # r²/(d + 2); uniform noise has s²/3.
        size *= math.sqrt((values + 2) / 3)
    elif noise == "gaussian":
        size /= math.sqrt(3)
    return float(f"{size:.2g}")
