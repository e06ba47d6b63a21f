"""Numbers as people say them: three significant digits, powers of ten, times in words."""

from __future__ import annotations

import math
from decimal import ROUND_HALF_EVEN, Decimal

_SUPERSCRIPT = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")


def duration(seconds: float | None) -> str:
    """``850 ms``, ``2.1 s``, ``3 min 20 s``, ``2 h 5 min``."""
    if seconds is None or not math.isfinite(seconds):
        return "unknown"
    if seconds < 1:
        return f"{seconds * 1000:.0f} ms"
    if seconds < 60:
        return f"{seconds:.1f} s"
    minutes, rest = divmod(round(seconds), 60)
    if minutes < 60:
        return f"{minutes} min {rest} s"
    hours, minutes = divmod(minutes, 60)
    return f"{hours} h {minutes} min"


def roughly(seconds: float) -> str:
    """A time as an estimate deserves: ``under 1 s``, ``40 s``, ``3 min``, ``2.5 h``."""
    if not math.isfinite(seconds):
        return "an unknown time"
    if seconds < 1:
        return "under 1 s"
    # From here on whole seconds would read “60 s”.
    if seconds < 59.5:
        if seconds < 10:
            return f"{seconds:.0f} s"
        return f"{float(f'{seconds:.2g}'):.0f} s"
    # From here on minutes of two digits would read "60 min".
    if seconds < 3570:
        return f"{float(f'{seconds / 60:.2g}'):g} min"
    return f"{float(f'{seconds / 3600:.2g}'):g} h"


def time_left(seconds: float | None) -> str:
    """``about 31 s left``; a rough guess has no decimals."""
    if seconds is None or not math.isfinite(seconds):
        return "an unknown time left"
    if seconds < 1:
        return "almost done"
    if seconds < 59.5:
        rough = f"{seconds:.0f} s"
    else:
        rough = duration(max(60.0, seconds))
    return f"about {rough} left"


def number(value: float) -> str:
    """Three significant digits, thousands grouped, ``3.1·10⁻⁵`` or ``10⁻⁵`` below a thousandth."""
    if not math.isfinite(value):
        return "n/a"
    if value == int(value) and abs(value) < 1e15:
        return f"{int(value):,}"
    if abs(value) >= 1000:
        return f"{value:,.0f}"
    if abs(value) >= 1e-3:
        return f"{value:.3g}"
    return _with_power(value, 2)


def probability(p: float, digits: int = 1) -> str:
    """Few significant digits, as a probability deserves.

    ``0.02``, below a thousandth ``7·10⁻⁷`` or ``10⁻¹⁰``.
    """
    if not math.isfinite(p):
        return "n/a"
    if p == 0 or p >= 1e-3:
        return f"{p:.{digits}g}"
    return _with_power(p, digits)


def count(many: int, noun: str) -> str:
    """``1 input``, ``2,000 inputs``, ``3 classes``."""
    if many == 1:
        return f"{many:,} {noun}"
    return f"{many:,} {noun}{'es' if noun.endswith(('s', 'x', 'ch')) else 's'}"


def as_sentence(words: str) -> str:
    """With a capital, unless they begin with the name of a file, which stays as it is written."""
    first = words.partition(" ")[0].rstrip(".,;:")
    if "." in first or "_" in first or "/" in first:
        return words
    return words[:1].upper() + words[1:]


def sample(done: int, total: int, known: int, noun: str, source: str, among: str = "") -> str:
    """``So far 20 of 100 inputs of signs, chosen at random from 4,000 with a label``.

    Args:
        done: How many were looked at.
        total: How many are to be.
        known: How many there are to choose from.
        noun: What one of them is.
        source: Where they come from.
        among: What all of them have in common, such as ``with a label``.
    """
    if done >= total:
        so_far = ""
    else:
        so_far = f"So far {done:,} of "
    if total < known:
        chosen = f", chosen at random from {known:,} {among}".rstrip()
    else:
        chosen = ""
    return f"{so_far}{count(total, noun)} of {source}{chosen}"


def _with_power(value: float, digits: int) -> str:
    """A mantissa of at most ``digits`` digits, left out when it is 1, and a power of ten."""
    mantissa, exponent = f"{value:.{digits - 1}e}".split("e")
    power = f"10{str(int(exponent)).translate(_SUPERSCRIPT)}"
    factor = f"{float(mantissa):g}"
    return {"1": power, "-1": f"-{power}"}.get(factor, f"{factor}·{power}")


def percent(share: float) -> str:
    """``91.2 %``; ``0 %`` only for nothing at all and ``100 %`` only for all."""
    if not math.isfinite(share):
        return "n/a"
    if -1 < share < 0:
        # Beyond it one decimal would round to -100 %.
        if share > -0.9995:
            return f"-{percent(-share)}"
        return "below -99.9 %"
    if share in (0, 1):
        return f"{share:.0%}".replace("%", " %")
    # Beyond these, one decimal would round to 0 % or 100 %.
    if 0.0005 <= share < 0.9995:
        return f"{_hundredths(share, '0.1')} %"
    if share < 0.5:
        return f"{number(100 * share)} %"
    return "over 99.9 %"


def with_share(name: str, share: str) -> str:
    """``cat 42 %``, but ``24: 42 %``: a class called by a number is kept apart from its share."""
    if name[-1:].isdigit():
        return f"{name}: {share}"
    return f"{name} {share}"


def rough_percent(share: float) -> str:
    """``42 %`` where there is little room; ``0 %`` only for nothing and ``100 %`` only for all."""
    if not math.isfinite(share):
        return "n/a"
    if 0 < share < 0.01:
        return "under 1 %"
    if 0.99 < share < 1:
        return "over 99 %"
    return f"{_hundredths(share, '1')} %"


def _hundredths(share: float, unit: str) -> Decimal:
    """A share in per cent, rounded to add up to 100 with the rest.

    Half goes to the even digit: of 8.65 and 91.35 one goes down and the other up. Ties are those of
    the decimal number, not of the binary one nearest to it.
    """
    exact = Decimal(str(round(100 * float(share), 4)))
    return exact.quantize(Decimal(unit), ROUND_HALF_EVEN)


def severity(value: float) -> str:
    """The severity of a finding, from 0 to 1: ``0.43``."""
    return f"{value:.2f}"


def amount(size: float) -> str:
    """Bytes as ``1.5 GB``."""
    for unit in ("B", "kB", "MB", "GB", "TB"):
        if size < 1000 or unit == "TB":
            if unit == "B":
                return f"{size:.0f} {unit}"
            return f"{size:.1f} {unit}"
        size /= 1000
    return ""
