"""ModelCard: what is known of a model that is loaded in a worker."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from robgui.core.model.settings import Kind, ModelSettings

if TYPE_CHECKING:
    from robgui.core.execution.request import Reference
    from robgui.core.model.classifier import Classifier


@dataclass(frozen=True, slots=True)
class ModelCard:
    """A model as those see it who do not hold it; whoever wants its answers asks the worker.

    Attributes:
        path: The file it came from.
        labels: One name per class.
        gradients: Whether it can give gradients.
        activations: Whether it can show its activations.
        reason: Why it cannot.
        remarks: What was found and guessed while loading, for people.
        parameters: How many numbers it has learned; None for a black box.
        device: Where it is.
        autocast: Whether it computes in half precision.
        ran: Digest of the code that its file has run; empty for none.
    """

    name: str
    path: str
    settings: ModelSettings
    labels: tuple[str, ...]
    gradients: bool
    activations: bool
    reason: str
    remarks: tuple[str, ...]
    parameters: int | None
    device: str
    autocast: bool
    fingerprint: str
    ran: str = ""

    @property
    def kind(self) -> Kind:
        """``image``, ``table`` or ``sequence``."""
        return self.settings.kind

    @property
    def shape(self) -> tuple[int, ...]:
        """Shape of one input."""
        return self.settings.shape

    @property
    def classes(self) -> int:
        """Number of classes."""
        return len(self.labels)

    @property
    def capabilities(self) -> ModelCard:
        """What it can do beyond answering, as a Classifier says it: ``gradients``,
        ``activations``, ``reason``.
        """
        return self

    def reference(self) -> Reference:
        """How to find it again."""
        from robgui.core.execution.request import Reference

        options = self.settings.model_dump(mode="json")
        return Reference(
            kind="model",
            name=self.name,
            path=self.path,
            fingerprint=self.fingerprint,
            options=options,
        )


def card_of(classifier: Classifier) -> ModelCard:
    """The card of a loaded model."""
    able = classifier.capabilities
    return ModelCard(
        name=classifier.name,
        path="" if classifier.path is None else str(classifier.path.absolute()),
        settings=classifier.settings,
        labels=tuple(classifier.labels),
        gradients=able.gradients,
        activations=able.activations,
        reason=able.reason,
        remarks=tuple(classifier.remarks),
        parameters=classifier.parameters,
        device=str(classifier.device),
        autocast=classifier.precision[0],
        fingerprint=classifier.fingerprint,
        ran=classifier.ran,
    )
