"""How often each value of a parameter occurs: from a latent normal number to a value.

A parameter with distribution F is F⁻¹(Φ(z)) with z standard normal, so the particles of the last
particle move through poses as they move through noise. Distributions are truncated at the ends of
the range: what lies outside is dropped, not piled up at the ends.
"""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from robgui.analyses.semantic.words import with_unit
from robgui.core.errors import DataError
from robgui.core.regular import read_regular
from robgui.core.text.words import count

if TYPE_CHECKING:
    from torch import Tensor

    from robgui.analyses.semantic.scene.scene import SceneAxis

#: Largest file of measured values.
_LARGEST_FILE = 64 * 2**20
#: Fewest values that say how often each occurs.
_FEWEST_VALUES = 10
#: The standard deviation of a normal distribution that names none, as a share of the range: both
#: ends of the range are then two deviations away.
_USUAL_DEVIATION = 0.25

_Quantile = Callable[["Tensor"], "Tensor"]


@dataclass(frozen=True, slots=True)
class Distribution:
    """How one parameter is distributed.

    Attributes:
        words: For people: ``uniform``, ``normal about 0°, deviation 3°``.
        quantile: Shares ``(m,)`` in [0, 1], double precision -> values.
    """

    words: str
    quantile: _Quantile


class Distributions:
    """How all varied parameters are distributed, each by itself.

    Args:
        axes: The parameters with their ranges.
        wanted: Name -> distribution as typed; the others are uniform.
    """

    def __init__(self, axes: Sequence[SceneAxis], wanted: dict[str, str]) -> None:
        self._each = [distribution(axis, wanted.get(axis.name, "")) for axis in axes]

    @property
    def words(self) -> tuple[str, ...]:
        """How each parameter is distributed, in words."""
        return tuple(each.words for each in self._each)

    def points(self, latent: Tensor) -> Tensor:
        """Latent points ``(m, n)`` -> values ``(m, n)`` in the units of the axes."""
        import torch

        # Doubles: in single precision Φ is 1 from z = 5.5 on, and rare poses would all be the same.
        shares = torch.special.ndtr(latent.double())
        columns = zip(self._each, shares.unbind(1), strict=True)
        return torch.stack([each.quantile(share) for each, share in columns], 1)


def check_distribution(name: str, words: str) -> None:
    """Raises ValueError if a distribution is not understood; files are read when the run begins."""
    kind, *numbers = (part.strip() for part in words.split(":"))
    if kind in ("", "uniform"):
        if numbers:
            raise ValueError(f"{name}: a uniform distribution takes its ends from the ranges")
        return
    if kind != "normal":
        if not kind.lower().endswith((".csv", ".txt")) and len(words.split(":")) < 2:
            raise ValueError(f"{name}: {words!r} is neither uniform, normal nor a CSV file")
        return
    if len(numbers) > 2:
        raise ValueError(f"{name}: write normal, normal:deviation or normal:mean:deviation")
    for text in numbers:
        try:
            value = float(text)
        except ValueError:
            raise ValueError(f"{name}: {text!r} in {words!r} is no number") from None
        if not math.isfinite(value):
            raise ValueError(f"{name}: {text} in {words!r} is no finite number")
    if numbers and float(numbers[-1]) <= 0:
        raise ValueError(f"{name}: the deviation in {words!r} must be above 0")


def distribution(axis: SceneAxis, words: str) -> Distribution:
    """The distribution that ``words`` name, within the range of ``axis``."""
    kind, *numbers = (part.strip() for part in words.split(":"))
    if kind in ("", "uniform"):
        return Distribution("uniform", lambda share: axis.low + (axis.high - axis.low) * share)
    if kind == "normal":
        return _normal(axis, [float(text) for text in numbers])
    return _measured(axis, words)


def _normal(axis: SceneAxis, numbers: list[float]) -> Distribution:
    import torch

    if numbers:
        # Of normal:deviation and normal:mean:deviation alike, the last one.
        deviation = numbers[-1]
    else:
        deviation = _USUAL_DEVIATION * (axis.high - axis.low)
    if len(numbers) == 2:
        mean = numbers[0]
    else:
        # The usual value may lie outside a range that the user has typed.
        mean = min(max(axis.default, axis.low), axis.high)
    # Truncated: shares are stretched over what lies within the range.
    first, last = (_below((end - mean) / deviation) for end in (axis.low, axis.high))
    # Less than one pose in a billion would fall into the range: stretched, it is all rounding.
    if last - first < 1e-9:
        raise DataError(
            f"distributions: {axis.name} is hardly ever within {axis.low:g} to {axis.high:g}"
            f" {axis.unit}".rstrip()
            + "; choose another mean, deviation or range."
        )

    def quantile(share: Tensor) -> Tensor:
        z = torch.special.ndtri(first + (last - first) * share)
        # ndtri(0) and ndtri(1) are infinite, and rounding may leave the range by a hair.
        return torch.clamp(mean + deviation * z, axis.low, axis.high)

    about, width = (with_unit(value, axis.unit) for value in (mean, deviation))
    return Distribution(f"normal about {about}, deviation {width}", quantile)


def _below(z: float) -> float:
    """Φ(z)."""
    return 0.5 * math.erfc(-z / math.sqrt(2))


def _measured(axis: SceneAxis, words: str) -> Distribution:
    """Distributed like the values in a file, with straight lines between neighbours."""
    import torch

    path, column = _path_and_column(words)
    values = np.sort(_column(path, column))
    inside = values[(values >= axis.low) & (values <= axis.high)]
    if len(inside) < _FEWEST_VALUES:
        raise DataError(
            f"{path.name}: {count(len(inside), 'value')} of {axis.name} within {axis.low:g} to"
            f" {axis.high:g}; at least {_FEWEST_VALUES} are needed: give more, or another range."
        )
    known = torch.from_numpy(inside)

    def quantile(share: Tensor) -> Tensor:
        at = share * (len(inside) - 1)
        # A share of 1 would ask for a value after the last.
        below = at.floor().long().clamp(max=len(inside) - 2)
        low, high = (known[below + k] for k in (0, 1))
        return low + (high - low) * (at - below)

    left = len(values) - len(inside)
    if left:
        outside = f", {count(left, 'value')} outside the range left out"
    else:
        outside = ""
    return Distribution(f"as in {path.name} ({count(len(inside), 'value')}{outside})", quantile)


def _path_and_column(words: str) -> tuple[Path, str]:
    """Splits ``file.csv`` or ``file.csv:column``; a file name may contain colons."""
    # From the right: on Windows a path begins with a drive and its colon.
    path, colon, column = words.rpartition(":")
    if not colon or words.lower().endswith((".csv", ".txt")):
        path, column = words, ""
    return Path(path.strip()).expanduser(), column.strip()


def _column(path: Path, column: str) -> np.ndarray:
    """The numbers in one column of a CSV file, with or without a header."""
    try:
        # With or without the mark that spreadsheets put first.
        text = read_regular(path, _LARGEST_FILE).decode("utf-8-sig")
        rows = [row for row in csv.reader(io.StringIO(text)) if row]
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        reason = getattr(error, "strerror", None) or "it is no text of comma-separated values"
        raise DataError(f"{path} cannot be read ({reason}); name a CSV file.") from error
    if not rows:
        raise DataError(f"{path.name} is empty; it must hold one value in each row.")
    place = _place_of(rows, path, column)
    numbers = [_number(row[place]) for row in rows if place < len(row)]
    return np.array([value for value in numbers if math.isfinite(value)], dtype=np.float64)


def _place_of(rows: list[list[str]], path: Path, column: str) -> int:
    names = [name.strip() for name in rows[0]]
    if column:
        if column not in names:
            known = ", ".join(names[:20])
            raise DataError(f"{path.name} has no column {column!r}; its first line is: {known}.")
        return names.index(column)
    # The second line, since the first may be a header.
    sample = rows[min(1, len(rows) - 1)]
    places = [place for place, text in enumerate(sample) if math.isfinite(_number(text))]
    if not places:
        raise DataError(f"{path.name} has no column of numbers; its second line has none.")
    return places[0]


# A header or an empty cell becomes nan, which ``_column`` leaves out.
def _number(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        return math.nan
