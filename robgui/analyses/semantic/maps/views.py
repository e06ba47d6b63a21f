"""What a semantic map looks like: which class wins where, how surely, and where the traps are."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import product

import numpy as np

from robgui.analyses.semantic.maps.curves import SCORES, map_subject, score_curves
from robgui.analyses.semantic.maps.guessed import guessed_cells, maps_of
from robgui.analyses.semantic.maps.params import MapParams
from robgui.analyses.semantic.maps.survival import survival
from robgui.analyses.semantic.result import MapResult
from robgui.analyses.semantic.views import rect_of, score_matrix, usual_spot, view_axis
from robgui.analyses.semantic.words import finding_picture, place_words
from robgui.core.text.words import number, percent
from robgui.core.view import (
    Axis,
    Bars,
    Column,
    Images,
    Ink,
    Matrix,
    Picture,
    Series,
    Spot,
    Table,
    View,
)

#: Most maps shown of one result; more can be chosen in the window.
MOST_MAPS = 6
#: Classes with a colour of their own; the others share the last one.
_MOST_CLASSES = 7
_OTHERS = "other classes"
_SURE = Axis("confidence", low=0.0, high=1.0)
_SHARE = Axis("share of the poses", low=0.0, high=1.0, kind="share")
WINNERS, TRAPS = "Which class wins", "Traps, the worst first"


def map_views(result: MapResult, params: MapParams) -> Sequence[View]:
    """The map first, then every other map, how often each class wins, and the traps."""
    views: list[View] = []
    if len(result.axes) == 1:
        views.append(score_curves(result, params))
    else:
        views += _maps(result)
    return [*views, *map_details(result)]


def map_details(result: MapResult) -> list[View]:
    """What accompanies the maps: how often each class wins, the networks, the traps."""
    details = [_wins(result), *_networks(result)]
    if len(result.traps.score):
        details += [trap_table(result), _trap_pictures(result)]
    return details


def winner_map(result: MapResult, network: int, shape: int) -> Matrix:
    """Which class wins (hue) and how surely (intensity); the score if unknown."""
    title, note = _titled(result, WINNERS, network, shape), _told(result, network, shape)
    spots = (*trap_spots(result, network, shape), *usual_spot(result.axes))
    if not result.top_scores.size:
        scores = result.scores[network, shape]
        grid, guessed = (result.x, result.y), guessed_cells(result, network, shape)
        found = score_matrix(title, result.axes, grid, scores, spots, note, guessed)
        return replace(found, model=network)
    order, names = class_order(result)
    tops = result.tops[network, shape]
    ranked = np.where(tops >= 0, np.minimum(order[tops], len(names) - 1), -1)
    return Matrix(
        title=title,
        x=view_axis(result.axes[0]),
        y=view_axis(result.axes[1]),
        values=np.asarray(result.top_scores[network, shape], dtype=float),
        scale=_SURE,
        levels=(0.0, 1.0),
        place=rect_of(result.x, result.y),
        classes=ranked,
        class_names=names,
        class_list=result.labels,
        spots=spots,
        note=note,
        guessed=guessed_cells(result, network, shape),
        model=network,
    )


def score_map(result: MapResult, network: int, shape: int) -> Matrix:
    """The score of the class; below 0 stands for the mean over all networks or shapes."""
    if network < 0:
        scores = result.scores.mean(0)
    else:
        scores = result.scores[network]
    scores = scores.mean(0) if shape < 0 else scores[shape]
    title = _titled(result, SCORES, network, shape)
    spots = (*trap_spots(result, network, shape), *usual_spot(result.axes))
    note = _told(result, network, shape)
    grid, guessed = (result.x, result.y), guessed_cells(result, network, shape)
    found = score_matrix(title, result.axes, grid, scores, spots, note, guessed)
    return replace(found, model=None if network < 0 else network)


def trap_spots(result: MapResult, network: int, shape: int) -> tuple[Spot, ...]:
    """The traps of one map, with what is seen there; a ring makes each stand out from the cells."""
    spots: list[Spot] = []
    for place in traps_of(result, network, shape):
        x, y = (float(value) for value in result.traps.at[place])
        top = int(result.traps.top1[place])
        seen = ""
        if top >= 0:
            seen = f", seen as “{result.labels[top]}”"
        name = f"trap: score {number(result.traps.score[place])}{seen}"
        spots += [Spot(x, y, "", Ink("text"), "circle"), Spot(x, y, name, Ink("fails"), "cross")]
    return tuple(spots)


def traps_of(result: MapResult, network: int, shape: int) -> np.ndarray:
    """Places in the list of traps of those that lie on one map; below 0 stands for the mean."""
    traps = result.traps
    if network < 0 and shape < 0:
        return np.flatnonzero(traps.network < 0)
    return np.flatnonzero((traps.network == network) & (traps.shape == shape))


def class_order(result: MapResult) -> tuple[np.ndarray, tuple[str, ...]]:
    """Rank of every class ``(classes,)`` and the names of the ranks.

    The target class comes first and its strongest rival second, which gives them colours of
    their own in the maps of all networks; rare classes share the last rank.
    """
    known = result.tops[result.tops >= 0]
    counts = np.bincount(known, minlength=len(result.labels)).astype(float)
    # More than any class can win, so the target ranks first.
    counts[result.target[result.target >= 0]] += result.tops.size
    ranked = np.argsort(-counts, kind="stable")
    order = np.empty(len(ranked), dtype=np.int64)
    order[ranked] = np.arange(len(ranked))
    if len(result.labels) <= _MOST_CLASSES + 1:  # All are named: one may be named after a colour.
        return order, tuple(result.labels[c] for c in ranked)
    shown = ranked[: max(1, int((counts > 0).sum()))]
    names = tuple(result.labels[c] for c in shown[:_MOST_CLASSES])
    return order, names if len(shown) <= _MOST_CLASSES else (*names, _OTHERS)


def trap_table(result: MapResult) -> Table:
    """One row for every trap, the worst first."""
    traps = result.traps
    columns = [
        Column("Trap at", tuple(place_words(result.axes, at) for at in traps.at)),
        Column("Score", tuple(float(score) for score in traps.score), "number"),
        Column("Score around", tuple(float(wall) for wall in traps.wall), "number"),
        Column("Seen as", tuple(_named(result.labels, c) for c in traps.top1)),
    ]
    if len(result.networks) > 1:
        owners = tuple(_named(result.networks, m, "mean") for m in traps.network)
        columns.append(Column("Network", owners))
    if len(result.shapes) > 1:
        shapes = tuple(_named(result.shapes, k, "mean") for k in traps.shape)
        columns.append(Column("Shape", shapes))
    return Table(TRAPS, tuple(columns))


def _named(names: Sequence[str], place: int, otherwise: str = "") -> str:
    """The name at a place; below 0 there is none."""
    if place < 0:
        return otherwise
    return names[place]


def _maps(result: MapResult) -> list[View]:
    """Winning classes of every network on every shape, and the mean scores."""
    places = list(product(range(len(result.networks)), range(len(result.shapes))))
    views: list[View] = [winner_map(result, m, k) for m, k in places[:MOST_MAPS]]
    if len(places) == 1:
        return [*views, score_map(result, 0, 0)]
    if len(result.shapes) > 1:
        views += [score_map(result, m, -1) for m in range(min(MOST_MAPS, len(result.networks)))]
    return [*views, score_map(result, -1, -1)]


def _wins(result: MapResult) -> Bars:
    """How often each class is on top, network by network."""
    order, names = class_order(result)
    shares = []
    for m in range(len(result.networks)):
        tops = result.tops[m][result.tops[m] >= 0]
        counts = np.bincount(np.minimum(order[tops], len(names) - 1), minlength=len(names))
        shares.append(counts / tops.size if tops.size else np.full(len(names), np.nan))
    # nan as 1: before anything is known every class keeps its place.
    seen = np.nan_to_num(np.stack(shares), nan=1.0).any(0)
    if len(result.networks) > 1:
        owners = result.networks
    else:
        owners = (_SHARE.name,)
    each = enumerate(zip(owners, shares, strict=True))
    rows = tuple(Series(name, row[seen], Ink("series", m)) for m, (name, row) in each)
    won = tuple(name for name, there in zip(names, seen, strict=True) if there)
    return Bars("How often each class wins", _SHARE, won, rows, x=Axis("class on top"))


def _networks(result: MapResult) -> list[View]:
    """What each network does with the class, if there are several."""
    if len(result.networks) == 1:
        return []
    each = [survival(result, network) for network in range(len(result.networks))]
    columns = (
        Column("Network", result.networks),
        Column("Keeps the class", tuple(found.share for found in each), "share"),
        Column("Mean score", tuple(found.mean for found in each), "number"),
        Column("Traps", tuple(len(found.traps) for found in each), "count"),
        Column(
            "Most often taken for",
            tuple(result.labels[f.rivals[0]] if f.rivals else "" for f in each),
        ),
    )
    return [Table("Networks", columns)]


def _trap_pictures(result: MapResult) -> Images:
    traps = result.traps
    pictures = tuple(
        Picture(
            finding_picture(image),
            caption=place_words(result.axes, traps.at[place]),
            chip=_chip(result, place),
            right=False if traps.top1[place] >= 0 else None,
        )
        for place, image in enumerate(traps.images)
    )
    return Images("What the network sees at the traps", pictures)


def _chip(result: MapResult, place: int) -> str:
    top = int(result.traps.top1[place])
    if top >= 0:
        return result.labels[top]
    return f"score {number(result.traps.score[place])}"


def _titled(result: MapResult, title: str, network: int, shape: int) -> str:
    """The title alone if there is one map: another network's can be laid beside it."""
    if len(result.networks) == 1 and len(result.shapes) == 1:
        return title
    if network < 0:
        return f"{title}, mean of all networks and shapes"
    if len(result.networks) > 1:
        owner = result.networks[network]
    else:
        owner = ""
    if len(result.shapes) > 1 and shape >= 0:
        where = result.shapes[shape]
    else:
        where = ""
    mean = "mean of all shapes" if shape < 0 else ""
    return f"{title}: {', '.join(part for part in (owner, where, mean) if part)}"


def _told(result: MapResult, network: int, shape: int) -> str:
    """What the map shows, and how many of its cells are borrowed."""
    missing = 1 - float(maps_of(result.computed, network, shape).mean())
    subject = map_subject(result, network, shape)
    if not missing:
        return subject
    return f"{subject} {percent(missing)} of the cells were not computed and show a coarser one."
