"""Failures found by a semantic map, and inputs it offers to other analyses."""

from __future__ import annotations

import numpy as np

from robgui.analyses.semantic.maps.params import MapParams
from robgui.analyses.semantic.result import MapResult, image_place
from robgui.analyses.semantic.words import finding_picture, place_words
from robgui.core.finding import Finding
from robgui.core.offer import Offer
from robgui.core.text.words import number


def map_findings(result: MapResult, params: MapParams) -> list[Finding]:
    """Every trap, with the picture and the input at its lowest point."""
    return [_finding(result, place) for place in range(len(result.traps.score))]


def map_offers(result: MapResult, params: MapParams) -> list[Offer]:
    """The pictures of the worst traps."""
    traps = result.traps
    many = len(traps.images)
    if not many:
        return []
    # -1 is the mean of all shapes, whose picture is that of the first.
    shapes = [max(0, int(shape)) for shape in traps.shape[:many]]
    at = zip(shapes, traps.at[:many], strict=True)
    names = tuple(f"trap of {result.shapes[k]}, {place_words(result.axes, p)}" for k, p in at)
    if many == 1:
        title = "The worst trap"
    else:
        title = f"The worst {many} traps"
    places = tuple(image_place(result.specs, shape) for shape in shapes)
    return [Offer(title, names, traps.images, places=places)]


def _finding(result: MapResult, place: int) -> Finding:
    traps = result.traps
    network, shape = int(traps.network[place]), int(traps.shape[place])
    score, wall = float(traps.score[place]), float(traps.wall[place])
    mean = network < 0
    subject = f"{result.shapes[shape]}, {result.networks[network]}"
    # A trap of the mean belongs to no network, and no class is seen there.
    owner, picture_of_shape, among, top = "", "", -1, -1
    if not mean:
        owner, picture_of_shape = result.networks[network], result.shapes[shape]
        among, top = image_place(result.specs, shape), int(traps.top1[place])
    name, seen = result.labels[result.target[max(0, shape)]], ""
    if top >= 0:
        seen = result.labels[top]
    where = place_words(result.axes, traps.at[place])
    at = zip(result.axes, traps.at[place], strict=True)
    detail = {
        "class": name,
        "seen_as": seen,
        "score": score,
        "score_around": wall,
        "at": {axis.name: float(value) for axis, value in at},
        "cells": int(traps.cells[place]),
        "network": owner,
        "shape": picture_of_shape,
        "place": among,
    }
    if place < len(traps.images):
        image = traps.images[place]
    else:
        image = None
    if image is None:
        picture = None
    else:
        picture = finding_picture(image)
    if mean:
        begin = "mean of all networks and shapes"
    else:
        begin = subject
    fall = f"“{name}” falls from {number(wall)} to {number(score)} at {where}"
    if seen:
        title = f"{begin}: {fall}, seen as “{seen}”"
    else:
        title = f"{begin}: {fall}"
    # The fall from the shore to the deepest cell.
    return Finding("trap", title, float(np.clip(wall - score, 0, 1)), detail, picture, image)
