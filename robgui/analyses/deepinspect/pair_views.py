"""One pair of classes in detail.

The neurons that tell the two apart, and the inputs that mix them up.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from robgui.analyses.deepinspect.pairs import pair_inputs, pair_neurons, pixels_apart
from robgui.analyses.deepinspect.result import DeepInspectResult
from robgui.analyses.feature_game.result import FeatureGameResult
from robgui.analyses.feature_game.words import none_found
from robgui.core.offer import Offer
from robgui.core.text.words import count, number, percent
from robgui.core.view import Column, Images, Ink, Picture, Table

#: Inputs of a pair that are shown and sent on.
MOST_INPUTS = 60


def pair_words(result: DeepInspectResult, a: int, b: int) -> str:
    """What is known of two classes, in one line."""
    parts = [
        (
            f"“{result.classes[a]}” and “{result.classes[b]}”: distance"
            f" {number(float(result.napvd[a, b]))}"
        )
    ]
    if np.isfinite(result.avg_bias[a, b]):
        parts.append(f"bias {number(float(result.avg_bias[a, b]))}")
    if result.napvd_high.size:
        low, high = float(result.napvd_low[a, b]), float(result.napvd_high[a, b])
        parts[0] += f" ({number(low)} to {number(high)})"
    fewest = pixels_apart(result, a, b)
    if fewest is not None and np.isfinite(fewest):
        parts.append(f"{count(int(fewest), 'pixel')} apart")
    if result.conf.size and np.isfinite(result.conf[a, b]):
        parts.append(f"truly confused {percent(float(result.conf[a, b]))}")
    return (
        ", ".join(parts)
        + f"; predicted {int(result.counts[a]):,} and {int(result.counts[b]):,} times."
    )


def shown_places(result: DeepInspectResult, a: int, b: int) -> np.ndarray:
    """Places of a pair's inputs that are shown, mixed-up ones first."""
    return pair_inputs(result, a, b).places[:MOST_INPUTS]


def apart_words(game: FeatureGameResult) -> str:
    """What a targeted game says of a pair: how many pixels apart the two classes are."""
    start = game.labels[game.original]
    if game.found_class < 0:
        return f"A game from {game.input_name} (“{start}”) found no way: {none_found(game)}."
    apart = count(int(game.severity.l0_pixels), "pixel")
    end = game.labels[game.found_class]
    return f"They are {apart} apart: enough to turn {game.input_name} from “{start}” into “{end}”."


def pair_pictures(
    result: DeepInspectResult, a: int, b: int, pixels: Sequence[np.ndarray], apart: str = ""
) -> Images:
    """The inputs of a pair, mixed-up ones first; ``pixels`` are those at ``shown_places``.

    ``apart`` says what a game between the two has found.
    """
    places = shown_places(result, a, b)
    pictures = tuple(
        _picture(result, int(place), seen) for place, seen in zip(places, pixels, strict=False)
    )
    words = " ".join(part for part in (pair_words(result, a, b), apart) if part)
    return Images("Inputs of the pair", pictures, note=words)


def _picture(result: DeepInspectResult, place: int, pixels: np.ndarray) -> Picture:
    said = result.classes[int(result.predicted[place])]
    if len(result.true):
        true = int(result.true[place])
    else:
        true = -1
    if true >= 0:
        caption = f"is {result.classes[true]}"
    else:
        caption = f"input {place}"
    if true < 0:
        right = None
    else:
        right = true == int(result.predicted[place])
    return Picture(np.ascontiguousarray(pixels), caption, f"says {said}", right, Ink("text"))


def pair_table(result: DeepInspectResult, a: int, b: int) -> Table:
    """The neurons that separate the two classes most and least."""
    neurons = pair_neurons(result, a, b)
    rows = [(int(j), "most") for j in neurons.most] + [(int(j), "least") for j in neurons.least]
    shares = [
        Column(
            f"active for {result.classes[c]}",
            tuple(float(result.rho[j, c]) for j, _ in rows),
            "share",
        )
        for c in (a, b)
    ]
    names = Column("Neuron", tuple(neurons.names[j] for j, _ in rows))
    return Table(
        "Neurons of the pair",
        (names, Column("separates", tuple(words for _, words in rows)), *shares),
    )


def pair_offers(result: DeepInspectResult, a: int, b: int) -> Sequence[Offer]:
    """An input between the two classes with the other one as target, and the inputs of both."""
    places = shown_places(result, a, b)
    if not result.complete or not len(places):
        return ()
    both = f"“{result.classes[a]}” and “{result.classes[b]}”"
    one = _to_attack(result, places, (a, b))
    if result.predicted[one] == a:
        target = b
    else:
        target = a
    names = tuple(f"input {int(place)}" for place in places)
    attacked = Offer(
        f"An input between {both}",
        (f"input {one}",),
        places=(one,),
        params={"feature_game": {"target": result.classes[target]}},
    )
    return attacked, Offer(f"Inputs of {both}", names, places=tuple(int(place) for place in places))


def _to_attack(result: DeepInspectResult, places: np.ndarray, pair: tuple[int, int]) -> int:
    """A member that the model gets right (an attack on a wrong one is no news), else the first."""
    if len(result.true):
        right = places[
            (result.predicted[places] == result.true[places]) & np.isin(result.true[places], pair)
        ]
        if len(right):
            return int(right[0])
    return int(places[0])


def nearest_class(result: DeepInspectResult, c: int) -> int | None:
    """The class that looks most like class ``c`` to the network; None if there is none."""
    distance = np.where(np.arange(len(result.classes)) == c, np.nan, result.napvd[c])
    if np.isfinite(distance).any():
        return int(np.nanargmin(distance))
    return None
