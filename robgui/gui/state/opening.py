"""Opening: model files and data on their way into the library.

All of it runs away from the GUI thread.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from robgui.core.errors import IncompleteModelError, ModelError, TrustError

if TYPE_CHECKING:
    from robgui.core.dataset import Dataset
    from robgui.core.model.classifier import Classifier
    from robgui.core.model.speed import Speed


@dataclass(frozen=True)
class Opening:
    """A model file on its way in, with all that was said about it so far.

    Attributes:
        settings: What the user says of it now.
        stored: What a workspace says of it, and when it was used there; what the user has said
            themselves goes before.
        trusted: Digest of the code that the user has just allowed to run; empty without one.
        quiet: Part of a larger step (demo, reopened workspace): no dialog follows.
        use: Whether it becomes the one in use; None leaves a quiet one out of use while another is.
    """

    path: Path
    settings: dict[str, Any] = field(default_factory=dict)
    stored: tuple[dict[str, Any], float] = field(default_factory=lambda: ({}, 0.0))
    trusted: str = ""
    quiet: bool = False
    use: bool | None = None

    def but(self, **changes: Any) -> Opening:
        """A copy with ``changes``."""
        return replace(self, **changes)


def load_model(
    opening: Opening, device: str
) -> tuple[Classifier | TrustError | IncompleteModelError, str]:
    """The model, or the question that stands before it.

    And what the user should know about its settings.
    """
    from robgui.core.loading import load
    from robgui.core.model.remembered import remember, settled

    trust = frozenset({opening.trusted} - {""})
    known, remark = settled(opening.path, *opening.stored), ""
    try:
        try:
            model = load(
                opening.path, trust=trust, device=device or None, **{**known, **opening.settings}
            )
        except ModelError as error:
            if not known or isinstance(error, TrustError):
                raise
            model = load(opening.path, trust=trust, device=device or None, **opening.settings)
            remark = (
                f"What is remembered of {opening.path.name} does not fit it any more, so its file"
                f" alone was asked: {error}"
            )
    except (TrustError, IncompleteModelError) as question:
        return question, ""
    if opening.settings and not opening.quiet:
        remember(opening.path, model.settings)
    return model, remark


def open_dataset(path: Path, options: dict[str, Any]) -> Dataset:
    """Opens the data and computes their fingerprint, so that the window need not."""
    from robgui.core.dataset import open_dataset as open_data

    dataset = open_data(path, **options)
    assert dataset.fingerprint
    return dataset


def match(classifier: Classifier, dataset: Dataset) -> Classifier:
    """The classifier as it fits the data; DataError says why it does not."""
    from robgui.core.dataset import match as fit

    return fit(classifier, dataset)


def measure(classifier: Classifier) -> list[Speed]:
    """How fast the model is each way."""
    from robgui.core.model.speed import measure as time_it

    return time_it(classifier)
