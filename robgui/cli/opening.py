"""Models and data named on the command line."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from robgui.core.model.remembered import overlooked

if TYPE_CHECKING:
    from robgui.cli.progress import ProgressLine
    from robgui.core.execution.inline import Inline
    from robgui.core.execution.worker.workers import Workers
    from robgui.core.model.answers import DataCard
    from robgui.core.model.card import ModelCard

    Executor = Inline | Workers


def open_model(
    executor: Executor,
    path: str,
    given: argparse.Namespace,
    settings: dict[str, Any],
    say: Callable[[str], None],
) -> ModelCard:
    """Loads a model as the options say, where the executor computes.

    Points out where the window would do otherwise.
    """
    values = {
        "trust": given.trust,
        "device": given.device,
        "autocast": given.autocast,
        "settings": settings,
    }
    card: ModelCard = executor.ask("model", path=str(path), **values)
    if names := [name for name in overlooked(Path(path), card.settings) if name not in settings]:
        said = f"you have said something else of this model in the window ({', '.join(names)})"
        say(
            f"{card.name}: {said}; to use that here, give it with --model-set, or save it beside"
            " the model from the window."
        )
    return card


def open_data(
    executor: Executor,
    path: str,
    options: dict[str, Any],
    say: Callable[[str], None],
    query: str | None = None,
) -> DataCard:
    """Opens data where the executor computes, and says what was guessed or left out."""
    card: DataCard = executor.ask("data", path=str(path), options=options, query=query)
    name = card.reference.name
    for note in card.notes:
        say(note if note.startswith(name) else f"{name}: {note}")
    return card


def asking(executor: Executor) -> Callable[..., Any]:
    """Asks the executor as ``Models.ask`` does, for code shared by window and commands."""

    def ask(
        what: str,
        *,
        model: ModelCard | None = None,
        topic: str = "",
        urgent: bool = True,
        **values: Any,
    ) -> Any:
        del topic, urgent  # This executor has one caller.
        return executor.ask(what, **values, **({} if model is None else {"model": model.asked()}))

    return ask


@contextmanager
def computing(title: str) -> Iterator[tuple[Executor, ProgressLine]]:
    """A process that opens models, and where its progress is shown."""
    from robgui.cli.progress import ProgressLine
    from robgui.core.execution.choice import one_executor
    from robgui.core.execution.worker.terms import Terms

    progress = ProgressLine(title)
    executor = one_executor(Terms(notice=progress.say))
    try:
        yield executor, progress
    finally:
        # Ends the worker process also after an error or Ctrl+C.
        executor.close()
