"""What the table of the last particle looks like: how the inputs stand at each size of noise."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from robgui.analyses.last_particle.params import LastParticleTableParams
from robgui.analyses.last_particle.result import LastParticleTableResult
from robgui.analyses.last_particle.table.words import counts_of, failing_pairs
from robgui.core.intervals import clopper_pearson
from robgui.core.text.words import count, probability
from robgui.core.view import (
    Axis,
    Bars,
    Column,
    Curves,
    Images,
    Ink,
    Line,
    Matrix,
    Picture,
    Series,
    Table,
    View,
)

#: Smaller probabilities are drawn at this one.
_LEAST = 1e-300


def table_views(result: LastParticleTableResult, params: LastParticleTableParams) -> Sequence[View]:
    """Outcomes at each noise, their shares with intervals, each input, and the failing ones."""
    shown: list[View] = [_standing(result, params), _shares(result), _cells(result, params)]
    if len(result.shown):
        shown.append(_shown_failures(result))
    return [*shown, _sizes(result)]


def _standing(result: LastParticleTableResult, params: LastParticleTableParams) -> Bars:
    """Failed, at risk, validated, certified, unclear and open: all inputs at every size."""
    known = counts_of(result)
    rows = (
        ("fails", known.failing, Ink("fails")),
        ("passes, fails in a gradient search", known.risky, Ink("risk")),
        ("validated", known.validated, Ink("holds")),
        ("certified", known.certified, Ink("series", 0)),
        ("unclear", known.unclear, Ink("unknown")),
        ("open", known.open, Ink("quiet")),
    )
    series = tuple(
        Series(name, values.astype(np.float64), ink) for name, values, ink in rows if values.any()
    )
    names = tuple(f"{radius:g}" for radius in result.radii)
    most = float(result.validated.shape[1])
    return Bars(
        "How the inputs stand",
        Axis("inputs", kind="count", low=0, high=most),
        names,
        series or (Series("open", known.open.astype(np.float64), Ink("quiet")),),
        stacked=True,
        x=Axis("size of the noise", remark="values are from 0 to 1"),
        note=(
            f"{count(result.validated.shape[1], 'input')}; critical probability"
            f" {probability(params.critical, 2)}."
        ),
    )


def _shares(result: LastParticleTableResult) -> Curves:
    """Shares of all inputs with exact intervals, which reach as far as the open ones may lead.

    While inputs of a size are open their shares are left out: failures are decided first.
    """
    known, inputs = counts_of(result), result.validated.shape[1]
    lines = []
    for name, values, ink, symbol in (
        ("fails", known.failing, Ink("fails"), "cross"),
        ("validated or certified", known.validated + known.certified, Ink("holds"), "circle"),
        ("certified", known.certified, Ink("series", 0), "triangle"),
    ):
        every = np.full_like(values, inputs)
        low, high = (
            clopper_pearson(values, every)[0],
            # The upper end as if every open input turned out this way.
            clopper_pearson(values + known.open, every)[1],
        )
        # Failures end sooner than passes, so a share of the decided ones
        # would be biased towards failing.
        share = np.where(known.open > 0, np.nan, values / max(1, inputs))
        lines.append(Line(name, share.astype(np.float64), ink, low=low, high=high, symbol=symbol))  # type: ignore[arg-type]
    return Curves(
        "Shares of the inputs",
        Axis("size of the noise", log=len(result.radii) > 1),
        Axis("inputs (95 % bands)", kind="share", low=0, high=1),
        result.radii.astype(np.float64),
        tuple(lines),
    )


def _cells(result: LastParticleTableResult, params: LastParticleTableParams) -> Matrix:
    """How often each input fails, as a power of ten.

    What holds is at the weak end, what is unknown is left out.
    """
    floor = float(np.log10(params.critical))
    powers = np.clip(np.log10(np.maximum(result.p_estimate, _LEAST)), floor, 0)
    sampled = result.monte_carlo_failures / max(1, result.monte_carlo_samples)
    # Plain samples assume nothing, so their share outranks the estimate of the test.
    powers = np.where(
        result.monte_carlo_failures > 0, np.log10(np.maximum(sampled, _LEAST)), powers
    )
    # A failing plain sample is an answer, even where the test goes on.
    known = (result.finished & ~result.inconclusive) | failing_pairs(result)
    powers = np.where(known, powers, np.nan)
    # Validated without an estimate: drawn at the critical probability, below which it is.
    powers = np.where(result.safe & ~failing_pairs(result), floor, powers)
    if len(result.names) <= 24:
        names = result.names
    else:
        names = ()
    return Matrix(
        "Each input",
        Axis("input"),
        Axis("size of the noise"),
        powers,
        Axis("failure probability as a power of ten", low=floor, high=0, better="low"),
        (floor, 0.0),
        worst="high",
        rows=tuple(f"{radius:g}" for radius in result.radii),
        columns=names,
        note="Empty: not decided or unclear.",
        unknown="not decided or unclear",
    )


def _shown_failures(result: LastParticleTableResult) -> Images:
    from robgui.core.dataset.picture import picture_of

    pictures = []
    for place, (e, i) in enumerate(result.shown.tolist()):
        name, other = (
            result.labels[int(result.classes[i])],
            result.labels[int(result.shown_class[place])],
        )
        before = picture_of(result.shown_input[place], result.kind)
        pictures.append(Picture(before, result.names[i], name, True, Ink("original", name=name)))
        after = picture_of(result.shown_failure[place], result.kind)
        pictures.append(
            Picture(after, f"noise {result.radii[e]:g}", other, False, Ink("changed", name=other))
        )
    return Images("Inputs that fail", tuple(pictures), pairs=True)


def _sizes(result: LastParticleTableResult) -> Table:
    known = counts_of(result)
    columns = [Column("Noise", tuple(float(radius) for radius in result.radii), "number")]
    for name, values in (
        ("Fail", known.failing),
        ("Pass, fail in a gradient search", known.risky),
        ("Validated", known.validated),
        ("Certified", known.certified),
        ("Unclear", known.unclear),
        ("Open", known.open),
    ):
        columns.append(Column(name, tuple(int(value) for value in values), "count"))
    columns.append(Column("Time", tuple(float(value) for value in result.seconds), "seconds"))
    return Table("All sizes", tuple(columns))
