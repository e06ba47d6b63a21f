"""Opening: model files and data on their way into the library.

All of it runs away from the GUI thread.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from robgui.core.errors import IncompleteModelError, ModelError, TrustError
from robgui.core.execution.worker.asked import LostError

if TYPE_CHECKING:
    from robgui.core.dataset import Dataset
    from robgui.core.execution.asking.models import Models
    from robgui.core.model.card import ModelCard

#: What questions are for that open a model file.
OPENING = "opening"


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

    def replace(self, **changes: Any) -> Opening:
        """A copy with ``changes``."""
        return replace(self, **changes)


def load_model(
    opening: Opening, device: str, models: Models
) -> tuple[ModelCard | TrustError | IncompleteModelError, str]:
    """The card of the model, or the question that stands before it.

    And what the user should know about its settings.

    Args:
        opening: The file, and what was said about it.
        device: Where the model is to compute.
        models: Opens the file; see Models.
    """
    from robgui.core.model.remembered import settled

    known, remark = settled(opening.path, *opening.stored), ""
    if not opening.quiet:
        # The user asks for it by hand: a file that has crashed a process may be tried again.
        models.forgive(_path(opening))
    try:
        try:
            model = _load(opening, device, {**known, **opening.settings}, models)
        except ModelError as error:
            # Without the remembered settings it may load; a question or a
            # crash would only come twice.
            if not known or isinstance(error, TrustError | LostError):
                raise
            model = _load(opening, device, opening.settings, models)
            remark = (
                f"What is remembered of {opening.path.name} does not fit it any more, so its file"
                f" alone was asked: {error}"
            )
    except (TrustError, IncompleteModelError) as question:
        return question, ""
    except LostError as error:
        raise ModelError(f"{opening.path.name} was not opened. {error}") from error
    return model, remark


def _load(opening: Opening, device: str, settings: dict[str, Any], models: Models) -> ModelCard:
    trusted = sorted({opening.trusted} - {""})
    try:
        card: ModelCard = models.ask(
            "model",
            topic=OPENING,
            urgent=not opening.quiet,
            path=_path(opening),
            trust=trusted,
            device=device,
            autocast=False,
            settings=settings,
        )
    except TrustError as error:
        # What to ask the user is determined here, where no foreign code has run.
        from robgui.core.trust.opening import what_runs

        raise TrustError(str(error), what_runs(opening.path, **settings)) from error
    return card


def _path(opening: Opening) -> str:
    return str(opening.path.absolute())


def open_for_window(path: Path, options: dict[str, Any], models: Models) -> Dataset:
    """Opens the data and computes their fingerprint, so the window need not.

    What only large foreign libraries can read is opened by the process of the models.
    """
    from robgui.core.dataset import open_dataset as open_data
    from robgui.core.dataset.opening import is_foreign
    from robgui.core.execution.asking.held import open_held

    if is_foreign(path):
        return open_held(path, options, models.ask)
    dataset = open_data(path, **options)
    # A cached property: to ask for it is to compute it, here on the pool thread.
    assert dataset.fingerprint
    return dataset


def match(card: ModelCard, dataset: Dataset) -> tuple[ModelCard, list[str]]:
    """The model as it fits the data, and what the user should know of that.

    DataError says why it does not fit.
    """
    from robgui.core.dataset import match as fit

    notices: list[str] = []
    return fit(card, dataset, notices.append), notices
