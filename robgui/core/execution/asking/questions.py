"""What can be asked of models besides running an analysis, by name."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from robgui.core.execution.asking.held_data import HeldData
from robgui.core.execution.asking.question import Question
from robgui.core.execution.deferred import deferred
from robgui.core.execution.method import methods
from robgui.core.model.answers import DataCard, Scores, Speed
from robgui.core.model.card import ModelCard
from robgui.core.model.doubt.trying import WaysTried
from robgui.core.model.trial import Trial

if TYPE_CHECKING:
    from robgui.core.execution.loaded_cache import LoadedCache

_HERE = "robgui.core.execution.asking.answering"
_HELD = "robgui.core.execution.asking.held"

_QUESTIONS = (
    Question("devices", deferred(f"{_HERE}:devices"), list[tuple[str, str]]),
    Question("model", deferred(f"{_HERE}:model"), ModelCard),
    Question("data", deferred(f"{_HERE}:data"), DataCard),
    Question("hold", deferred(f"{_HELD}:hold"), HeldData),
    Question("held_items", deferred(f"{_HELD}:held_items"), np.ndarray),
    Question("held_picture", deferred(f"{_HELD}:held_picture"), np.ndarray),
    Question("held_keys", deferred(f"{_HELD}:held_keys"), list[str]),
    Question("held_lengths", deferred(f"{_HELD}:held_lengths"), np.ndarray),
    Question("trial", deferred(f"{_HERE}:trial"), Trial),
    Question("ways", deferred(f"{_HERE}:ways"), WaysTried),
    Question("left_out", deferred(f"{_HERE}:left_out"), str),
    Question("card", deferred(f"{_HERE}:card"), ModelCard),
    Question("let_go", deferred(f"{_HERE}:let_go"), bool),
    Question("scores", deferred(f"{_HERE}:scores"), Scores),
    Question("outputs", deferred(f"{_HERE}:outputs"), int),
    Question("speed", deferred(f"{_HERE}:speed"), list[Speed]),
)


#: Questions of layers above this one, see ``register_question``.
_MORE: dict[str, Question] = {}


def register_question(question: Question) -> None:
    """Makes a question known; a worker imports the module that does so."""
    _MORE[question.name] = question


def find_question(name: str) -> Question:
    """The question called ``name``: one of these, one that a method brings, or a registered one."""
    # First: asking the methods imports the record of every one of them.
    if name in _MORE:
        return _MORE[name]
    known = (*_QUESTIONS, *(one for method in methods() for one in method.questions))
    return next(one for one in known if one.name == name)


def answer(shelf: LoadedCache, what: str, values: Mapping[str, Any]) -> Any:
    """The answer to a question, computed here; what goes wrong is raised."""
    return find_question(what).function(shelf, **values)
