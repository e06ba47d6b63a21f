"""Export: inputs made by a run, as files for other programs."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from robgui.core.dataset.dataset import Dataset
    from robgui.core.model.card import ModelCard


@dataclass(frozen=True)
class Origin:
    """What a run was about, for making its inputs again.

    Attributes:
        model: Its first model.
        data: Its inputs, in order.
        ask: Asks the process that holds the models, as ``Models.ask`` does.
    """

    model: ModelCard
    data: Dataset
    ask: Callable[..., Any]


@dataclass(frozen=True)
class Export:
    """What a run can export besides its pictures and numbers.

    Attributes:
        title: What is written, for a button and a menu.
        places: The kinds of file, as a file dialog lists them.
        write: ``(result, params, origin, place) -> words``: writes to a place, and says what; see
            ``deferred``. Called away from the GUI thread.
    """

    title: str
    places: str
    write: Callable[[Any, Any, Origin, Path], str]
