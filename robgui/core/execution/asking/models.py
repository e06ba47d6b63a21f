"""Models: sends questions about models to the process that can answer them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from robgui.core.execution.asking.questions import answer
from robgui.core.execution.asking.service import Service
from robgui.core.execution.loaded_cache import LoadedCache
from robgui.core.execution.worker.graphics import Graphics
from robgui.core.model.card import ModelCard, card_of

if TYPE_CHECKING:
    from robgui.core.dataset import Dataset
    from robgui.core.execution.worker.terms import Terms
    from robgui.core.model.classifier import Classifier
    from robgui.core.workspace import Workspace


class Models:
    """Asks the process that opened a model's file, or answers in this one.

    Until ``start`` everything is answered here, by the same code, on the calling thread. Models
    made in this process (in a notebook, in a test) are always answered here.

    Attributes:
        service: The process that answers; None before ``start``.
    """

    def __init__(self) -> None:
        self._shelf = LoadedCache()
        self.service: Service | None = None

    def start(self, terms: Terms, told: Callable[[str], None]) -> None:
        """Starts the process that opens model files from now on; see Service."""
        if self.service is None:
            self.service = Service(terms, told)

    def hold(self, classifier: Classifier) -> ModelCard:
        """Takes a model made in this process; others refer to it by its card."""
        self._shelf.add_model(classifier)
        return card_of(classifier)

    def holds(self, card: ModelCard) -> bool:
        """Whether a model is in this process."""
        # By content: a card with other settings still means these weights.
        return any(known.content == card.content for known in self._shelf.loaded)

    def shelf(self, workspace: Workspace | None, datasets: Sequence[Dataset]) -> LoadedCache:
        """What runs of this process find loaded."""
        return LoadedCache(workspace=workspace, models=self._shelf.loaded, datasets=datasets)

    def ask(
        self,
        what: str,
        *,
        model: ModelCard | None = None,
        topic: str = "",
        urgent: bool = True,
        **values: Any,
    ) -> Any:
        """The answer to a question, see ``questions``; errors are raised.

        Args:
            what: The question.
            model: The model that it is about, if any.
            topic: What it is for; ``stop`` ends all questions of a topic. A question without one
                cannot be stopped.
            urgent: Whether a person waits for it.
            **values: What else it is about, as plain values.
        """
        if model is not None:
            values = {**values, "model": model.asked()}
        # What was made in this process exists in no file that the worker could open.
        if self.service is None or (model is not None and self.holds(model)):
            return answer(self._shelf, what, values)
        if model is None:
            subject = values.get("path", "")
        else:
            subject = model.file
        return self.service.ask(what, topic=topic, urgent=urgent, subject=subject, **values)

    def stop(self, topic: str = "") -> None:
        """Abandons the questions of a ``topic``; an empty one means all topics."""
        if self.service is not None:
            self.service.stop(topic)

    def arrange(self, memory: int) -> None:
        """Limits the memory of the process that answers, in bytes; 0 lets the program choose."""
        if self.service is not None:
            self.service.arrange(memory)

    def forgive(self, path: str) -> None:
        """Allows a model file again, after the user asked for it, whatever it did before."""
        if self.service is not None:
            self.service.forgive(path)

    @property
    def pids(self) -> list[int]:
        """The processes that answer."""
        if self.service is not None and self.service.pid:
            return [self.service.pid]
        return []

    @property
    def graphics(self) -> Graphics:
        """How full the graphics cards are, as last reported."""
        if self.service is None:
            return Graphics()
        return self.service.graphics

    def close(self) -> None:
        """Ends the process; callers still waiting get an error."""
        if self.service is not None:
            self.service.close()
