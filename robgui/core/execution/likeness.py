"""Likeness: whether two runs asked the same question and their answers compare."""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING

from robgui.core.execution.params.problems import title_of
from robgui.core.execution.registry import analyses
from robgui.core.text.words import count

if TYPE_CHECKING:
    from robgui.core.execution.request import Request

#: Settings that do not change the question: another seed asks the same again.
_MEANS = frozenset({"seed", "batch", "max_seconds"})


def differences(one: Request, other: Request, besides: Collection[str] = ()) -> list[str]:
    """How two requests differ besides their models, in words; empty if they do not.

    Args:
        one: The first.
        other: The second.
        besides: Settings that may differ as well, by name.
    """
    if one.analysis != other.analysis:
        return ["another analysis"]
    return [*_inputs(one, other), *_settings(one, other, besides)]


def is_of_one_input(request: Request) -> bool:
    """Whether a request asks about a single input.

    What is counted over many inputs stays a share, also where a filter left one of them.
    """
    known = analyses().get(request.analysis)
    if known is not None and known.inputs == "many":
        return False
    if request.indices is not None:
        return len(request.indices) == 1
    return known is not None and known.inputs == "one"


def same_question(one: Request, other: Request) -> bool:
    """Whether two requests ask the same; models after the first may be in any order."""
    # From three models on: besides the first there is only one in a pair, so nothing to reorder.
    if one.models[:1] == other.models[:1] and len(one.models) > 2:
        names = [[model.fingerprint for model in each.models] for each in (one, other)]
        if sorted(names[0]) == sorted(names[1]):
            one = one.model_copy(update={"models": other.models})
    return one.fingerprint == other.fingerprint


def incomparable(one: Request, other: Request) -> str:
    """Why the difference of two results would mean nothing; empty if it means something.

    Two models on the same inputs compare, and one model on two inputs; never both at once.
    """
    if one.analysis != other.analysis:
        return "They are of two analyses."
    apart = _inputs(one, other)
    same_models = [m.fingerprint for m in one.models] == [m.fingerprint for m in other.models]
    same_data = (one.dataset and one.dataset.fingerprint) == (
        other.dataset and other.dataset.fingerprint
    )
    if apart and not same_data:
        return f"They looked at {apart[0]}."
    if apart and not same_models:
        shared = _within(one.indices, other.indices)
        if shared:
            return f"They are of different models, and {shared}: run both on the same inputs."
        return f"They are of different models and {apart[0]} at once."
    return ""


def inputs_in_words(request: Request) -> str:
    """Which inputs of which data."""
    if request.dataset is not None:
        name = request.dataset.name
    else:
        name = ""
    if request.indices is None:
        return name
    if len(request.indices) == 1:
        return f"{name} {request.indices[0]:,}"
    return f"{name}, {count(len(request.indices), 'input')}"


def _inputs(one: Request, other: Request) -> list[str]:
    first, second = one.dataset, other.dataset
    if (first and first.fingerprint) != (second and second.fingerprint):
        named = [("none" if each is None else each.name) for each in (first, second)]
        return [f"other data ({named[0]}, {named[1]})"]
    if one.indices == other.indices:
        return []
    return [f"other inputs ({_places(one.indices)}, {_places(other.indices)})"]


def _within(one: tuple[int, ...] | None, other: tuple[int, ...] | None) -> str:
    """In words that one of two choices of inputs is a part of the other; empty if it is not."""
    if one is None or (other is not None and set(other) < set(one)):
        part, which, whole = other, "second", "first"
    elif other is None or set(one) < set(other):
        part, which, whole = one, "first", "second"
    else:
        return ""
    return f"the {which} looked at {len(part or ()):,} of the inputs of the {whole} only"


def _places(indices: tuple[int, ...] | None) -> str:
    """Which inputs, in a word or two."""
    if indices is None:
        return "all"
    if len(indices) == 1:
        return f"{indices[0]:,}"
    return count(len(indices), "input")


def _settings(one: Request, other: Request, besides: Collection[str]) -> list[str]:
    """The settings that differ, by title; missing settings have their default."""
    known = analyses().get(one.analysis)
    if known is None:
        if one.params == other.params:
            return []
        return ["other settings"]
    fields = known.params.model_fields
    usual = {name: field.get_default(call_default_factory=True) for name, field in fields.items()}
    titles = [
        title_of(name, fields)
        for name in fields
        if name not in _MEANS
        and name not in besides
        and _plain(one.params.get(name, usual[name])) != _plain(other.params.get(name, usual[name]))
    ]
    if titles:
        return [f"other settings ({', '.join(titles)})"]
    return []


def _plain(value: object) -> object:
    """A setting as JSON holds it: a tuple becomes a list."""
    if isinstance(value, list | tuple):
        return [_plain(each) for each in value]
    return value
