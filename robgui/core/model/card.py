"""ModelCard: what is known about a model that is loaded in another process."""

from __future__ import annotations

import hashlib
import logging
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from robgui.core.model.settings import Kind, ModelSettings
from robgui.core.model.timing.times import CallTimes

if TYPE_CHECKING:
    from robgui.core.execution.request import Reference
    from robgui.core.model.classifier import Classifier


@dataclass(frozen=True, slots=True)
class ModelCard:
    """A model as seen from outside the process that holds it; its answers are asked for there.

    Attributes:
        file: The path of its file; empty if it exists only in memory.
        labels: One name per class.
        gradients: Whether it can give gradients.
        activations: Whether it can show its activations.
        reason: Why it cannot.
        remarks: What was found and guessed while loading, for people.
        parameters: Number of learned parameters; None for a black box.
        device: Where it is.
        autocast: Whether it computes in half precision.
        channels_last: Whether its images lie channels last in memory.
        largest_batch: How many inputs it should see at once.
        content: Digest of the weights alone, whatever the settings.
        ran: Digest of the code that loading it ran; empty for none.
        times: Time for one input on its device.
    """

    name: str
    file: str
    settings: ModelSettings
    labels: tuple[str, ...]
    gradients: bool
    activations: bool
    reason: str
    remarks: tuple[str, ...]
    parameters: int | None
    device: str
    autocast: bool
    channels_last: bool
    largest_batch: int
    content: str
    ran: str = ""
    # Not compared: one model timed twice is still one model.
    times: CallTimes = field(default=CallTimes(), compare=False)

    @property
    def path(self) -> Path | None:
        """The file it came from, if any."""
        if self.file:
            return Path(self.file)
        return None

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
    def precision(self) -> tuple[bool, bool]:
        """Whether half precision (autocast) and channels last are on."""
        return self.autocast, self.channels_last

    @property
    def capabilities(self) -> ModelCard:
        """What it can do besides answering.

        ``gradients``, ``activations``, ``reason``, as in a Classifier.
        """
        return self

    @property
    def fingerprint(self) -> str:
        """Sixteen hexadecimal digits that change with weights and settings."""
        return fingerprint(self.content, self.settings)

    def with_settings(self, settings: ModelSettings) -> ModelCard:
        """The same weights with other settings, which are not tried out."""
        numbers = tuple(str(number) for number in range(self.classes))
        return replace(self, settings=settings, labels=settings.labels or numbers)

    def at(self, device: str, *, autocast: bool, channels_last: bool) -> ModelCard:
        """The same model on another device; it moves when it is next asked."""
        return replace(self, device=device, autocast=autocast, channels_last=channels_last)

    def encode(self, values: Any) -> np.ndarray:
        """Table or sequence values in their own units -> [0, 1]; images are in [0, 1] already."""
        return encode(self.settings, values)

    def decode(self, x: Any) -> np.ndarray:
        """[0, 1] -> table or sequence values in their own units; the inverse of encode."""
        return decode(self.settings, x)

    def batch(self, wanted: int = 0) -> int:
        """How many inputs to send at once; ``wanted`` 0 lets the program choose."""
        return min(wanted or self.largest_batch, self.largest_batch)

    def notice(self, sentence: str) -> None:
        """Writes to the log, as a card has no window."""
        logging.getLogger("robgui").info("%s", sentence)

    def reference(self) -> Reference:
        """How to find it again."""
        from robgui.core.execution.request import reference

        return reference(self)

    def asked(self) -> dict[str, Any]:
        """How a question refers to this model."""
        return {
            "reference": self.reference().model_dump(mode="json"),
            "trusted": [self.ran] if self.ran else [],
            "device": self.device,
            "autocast": self.autocast,
            "channels_last": self.channels_last,
        }


def card_of(classifier: Classifier) -> ModelCard:
    """The card of a loaded model."""
    able, (autocast, channels_last) = classifier.capabilities, classifier.precision
    return ModelCard(
        name=classifier.name,
        file="" if classifier.path is None else str(classifier.path.absolute()),
        settings=classifier.settings,
        labels=tuple(classifier.labels),
        gradients=able.gradients,
        activations=able.activations,
        reason=able.reason,
        remarks=tuple(classifier.remarks),
        parameters=classifier.parameters,
        device=str(classifier.device),
        autocast=autocast,
        channels_last=channels_last,
        largest_batch=classifier.batch(),
        content=classifier.content,
        ran=classifier.ran,
        times=classifier.times,
    )


def fingerprint(content: str, settings: ModelSettings) -> str:
    """Sixteen hexadecimal digits of a model: they change with its weights and its settings."""
    return hashlib.sha256(f"{content}|{settings.identity()}".encode()).hexdigest()[:16]


def encode(settings: ModelSettings, values: Any) -> np.ndarray:
    """Table or sequence values in their own units -> [0, 1]; images are in [0, 1] already."""
    array = np.asarray(values, dtype=np.float32)
    if settings.kind == "image":
        return array
    low, high = _limits(settings)
    # A column with a single value has no range; it becomes 0 rather than NaN.
    return np.asarray((array - low) / np.where(high == low, 1, high - low), dtype=np.float32)


def decode(settings: ModelSettings, x: Any) -> np.ndarray:
    """[0, 1] -> table or sequence values in their own units; the inverse of encode."""
    array = np.asarray(x, dtype=np.float32)
    if settings.kind == "image":
        return array
    low, high = _limits(settings)
    return np.asarray(low + array * (high - low), dtype=np.float32)


def _limits(settings: ModelSettings) -> tuple[np.ndarray, np.ndarray]:
    low, high = (np.asarray(limit, dtype=np.float32) for limit in (settings.low, settings.high))
    return low, high
