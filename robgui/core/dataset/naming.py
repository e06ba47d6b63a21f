"""Guesses from names which class of a model each class of the data is.

Folders are called "00" … "42", "n01440764" or "speed_limit_20"; model outputs have numbers, or
names like "Speed limit (20km/h)" and "tench, Tinca tinca". Every comparison of labels with
predictions uses this one mapping.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import Literal

from robgui import resources
from robgui.core.regular import read_regular

How = Literal["names", "numbers", "WordNet", "places", "none"]

_WORDNET = re.compile(r"(n\d{8})(?:[-_ .:].*)?")
_NUMBER = re.compile(r"(?:class|label|category|id|c)?[-_ #.]?0*(\d{1,6})")
#: A number before a name, as in "07_speed limit" or "3: cat".
_PREFIX = re.compile(r"(?:n\d{8}|\d{1,5})[-_ .:)]+(?=[^\W\d_])")
#: Output counts of ImageNet networks; some have one for the background before the others.
_IMAGENET, _WITH_BACKGROUND = 1000, 1001
_LARGEST = 10**6


@dataclass(frozen=True, slots=True)
class Correspondence:
    """Which class of the model each class of the data is.

    Attributes:
        places: For each class of the data the number of the model's class, -1 for none.
        how: What it rests on: names, numbers, WordNet ids, places (if most names agree and stand at
            the same places), or nothing.
    """

    places: tuple[int, ...]
    how: How

    def strange(self, used: Iterable[int]) -> list[int]:
        """The classes of the data, among those ``used``, that the model does not have."""
        return [number for number in used if number >= len(self.places) or self.places[number] < 0]


@lru_cache(maxsize=32)
def correspond(
    names: tuple[str, ...], labels: tuple[str, ...], used: tuple[int, ...]
) -> Correspondence:
    """Guesses which class is which.

    Args:
        names: The classes of the data.
        labels: The classes of the model.
        used: The classes that some input has; only they count.
    """
    by_name = _by_name(names, labels)
    used = tuple(number for number in used if number < len(names))
    known = [number for number in used if by_name[number] >= 0]
    # Every class in use is found by name: nothing needs to be guessed.
    if used and len(known) == len(used):
        return Correspondence(by_name, "names")
    # Numbers and ids are tried only for classes that no name matches.
    rest = tuple(number for number in used if by_name[number] < 0)
    if (numbers := _by_number(names, labels, rest)) is not None:
        return Correspondence(_filled(by_name, numbers), "names" if known else "numbers")
    if (ids := _by_wordnet(names, labels, rest)) is not None:
        return Correspondence(_filled(by_name, ids), "names" if known else "WordNet")
    # Most names agree and stand at their own places: the others are taken to stand at theirs.
    same_places = len(names) == len(labels) and all(by_name[number] == number for number in known)
    if same_places and 2 * len(known) > len(used):
        return Correspondence(tuple(range(len(names))), "places")
    return Correspondence(by_name, "names" if known else "none")


def numbered(names: Sequence[str]) -> bool:
    """Whether names are just numbers, which say nothing to a person."""
    return bool(names) and all(_NUMBER.fullmatch(name.strip().casefold()) for name in names)


@cache
def tables() -> dict[str, tuple[str, ...]]:
    """The class names of well-known data, by their name."""
    known = {name: tuple(words) for name, words in _tables()["names"].items()}
    return {**known, "ImageNet": tuple(words[0] for words in _wordnet().values())}


def in_words(names: Sequence[str]) -> tuple[str, ...]:
    """Class names for people: WordNet ids become words."""
    return tuple(
        _wordnet()[found[1]][0]
        if (found := _WORDNET.fullmatch(name)) and found[1] in _wordnet()
        else name
        for name in names
    )


def _by_name(names: Sequence[str], labels: Sequence[str]) -> tuple[int, ...]:
    index: dict[str, set[int]] = {}
    for number, label in enumerate(labels):
        for key in _keys(label):
            index.setdefault(key, set()).add(number)
    places = []
    for name in names:
        # A key that several labels share tells nothing.
        found = (index[key] for key in _keys(name) if len(index.get(key, ())) == 1)
        places.append(next(iter(next(found, {-1}))))
    return tuple(places)


@lru_cache(maxsize=16384)
def _keys(name: str) -> tuple[str, ...]:
    """The keys a name is looked up by, the strictest first."""
    plain = _plain(name)
    # "=", "#" and "~" cannot occur in a plain key, so the kinds of keys never mix.
    keys = [f"={name}", plain]
    number = _NUMBER.fullmatch(name.strip().casefold())
    if number:
        keys.append(f"#{int(number[1])}")
    bare = _PREFIX.sub("", name, count=1)
    # "tench, Tinca tinca": each synonym counts, the first six at most.
    keys += [_plain(bare), *(_plain(part) for part in bare.split(",")[:6])]
    if (found := _WORDNET.fullmatch(name)) and found[1] in _wordnet():
        keys += [found[1], *(_plain(word) for word in _wordnet()[found[1]])]
    keys += [same for key in tuple(keys) if (same := _same().get(key))]
    return tuple(dict.fromkeys(key for key in keys if key))


def _plain(name: str) -> str:
    """A name without case, punctuation and blanks.

    ``SpeedLimit_20`` becomes ``speed limit (20)``'s key.
    """
    return re.sub(r"[\W_]+", "", name.casefold())


def _by_number(
    names: Sequence[str], labels: Sequence[str], used: Sequence[int]
) -> tuple[int, ...] | None:
    """Numeric names mean the outputs of those numbers; 1 … k for k outputs counts from 1."""
    found = [_NUMBER.fullmatch(name.strip().casefold()) for name in names]
    if not used or not all(found[number] for number in used):
        return None
    numbers = [int(each[1]) if each else -1 for each in found]
    present = [numbers[number] for number in used]
    # Numbers 1 … k for k outputs can only count from 1.
    if min(present) >= 1 and max(present) == len(labels):
        first = 1
    else:
        first = 0
    if max(present) - first >= len(labels):
        return None
    return tuple(
        number - first if first <= number < len(labels) + first else -1 for number in numbers
    )


def _by_wordnet(
    names: Sequence[str], labels: Sequence[str], used: Sequence[int]
) -> tuple[int, ...] | None:
    """WordNet ids mean the places of the 1,000 ImageNet classes."""
    shift = {_IMAGENET: 0, _WITH_BACKGROUND: 1}.get(len(labels))
    if shift is None or not used:
        return None
    ranks = {name: rank for rank, name in enumerate(_wordnet())}
    found = [_WORDNET.fullmatch(name) for name in names]
    places = [ranks[each[1]] + shift if each and each[1] in ranks else -1 for each in found]
    if all(places[number] >= 0 for number in used):
        return tuple(places)
    return None


def _filled(places: Sequence[int], others: Sequence[int]) -> tuple[int, ...]:
    """The places, with gaps filled from the others."""
    both = zip(places, others, strict=True)
    return tuple(place if place >= 0 else other for place, other in both)


@cache
def _tables() -> dict[str, dict[str, list[str]]]:
    text = read_regular(resources.path("names", "tables.json"), _LARGEST)
    found: dict[str, dict[str, list[str]]] = json.loads(text)
    return found


@cache
def _same() -> dict[str, str]:
    """One key for each group of synonyms."""
    groups: list[list[str]] = _tables()["same"]  # type: ignore[assignment]
    return {_plain(word): f"~{group[0]}" for group in groups for word in group}


@cache
def _wordnet() -> dict[str, tuple[str, ...]]:
    """The words of each WordNet id of ImageNet, in the order of its classes."""
    lines = read_regular(resources.path("names", "imagenet.txt"), _LARGEST).decode().splitlines()
    pairs = (line.split(" ", 1) for line in lines)
    return {name: tuple(words.split(", ")) for name, words in pairs}
