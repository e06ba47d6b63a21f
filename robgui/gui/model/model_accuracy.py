"""How often a model is right on the current inputs, and what a low number probably means."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from robgui.core.errors import ModelError
from robgui.core.execution.worker.asked import LostError
from robgui.core.model.doubt.class_order import ClassOrder, other_order
from robgui.core.model.doubt.low_accuracy import (
    ENOUGH,
    Rightness,
    clearly_better,
    suspicion,
    verdict_of,
)
from robgui.core.model.doubt.trying import IN_THE_DATA, applies
from robgui.core.model.preprocessing import Answer, Tried, ways
from robgui.core.text.words import count, percent

if TYPE_CHECKING:
    from robgui.core.dataset import Dataset
    from robgui.core.model.answers import Scores
    from robgui.core.model.card import ModelCard
    from robgui.core.model.settings import ModelSettings
    from robgui.gui.model.model_check import Ask

#: Most inputs and most seconds that measuring the accuracy may take.
COUNTED = 1_000
SECONDS = 3.0
#: About how often a trial of all ways asks the model, and how long it may take unasked.
_ASKED_IN_A_TRIAL = 900
_TRIAL_SECONDS = 12.0


@dataclass(frozen=True)
class Accuracy:
    """How often the model is right.

    Attributes:
        words: The share, on how many of how many inputs.
        warnings: What is suspicious about it.
        notes: What is good to know about it.
        known: The numbers behind it; None without labels.
        quick: Whether the usual ways can be tried without asking the user first.
    """

    words: str
    warnings: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    known: Rightness | None = None
    quick: bool = False

    @property
    def doubtful(self) -> bool:
        """Whether the user should look for another way of feeding the model."""
        return bool(self.warnings) or (self.known is not None and self.known.doubtful)


def measure(
    ask: Ask, classifier: ModelCard, dataset: Dataset, wanted: Callable[[], bool]
) -> Accuracy:
    """Clean accuracy on a spread of inputs, until time is up or it is cancelled."""
    from robgui.core.dataset import align, batches

    fitting = align(classifier, dataset)
    labels = fitting.labels
    chosen = _spread(labels, len(dataset))
    # An empty one each: concatenate does not take an empty list.
    guesses, truths = [np.empty(0, np.int64)], [np.empty(0, np.int64)]
    began = time.monotonic()
    # Small batches: between two of them the clock and the user are heard.
    for places, x in batches(classifier, dataset.subset(chosen), 32):
        # One batch at least, however slow the model is.
        if not wanted() or (time.monotonic() > began + SECONDS and len(guesses) > 1):
            break
        scores: Scores = ask("scores", model=classifier, x=x)
        guesses.append(scores.probabilities.argmax(1))
        if labels is not None:
            truths.append(labels[chosen[places]])
    said = np.concatenate(guesses)
    if labels is None or not len(said):
        return Accuracy(
            "The inputs carry no labels, so the accuracy is not known.",
            _only(_one_class(classifier, said, None)),
        )
    each = (time.monotonic() - began) / len(said)
    quick = classifier.kind == "image" and _ASKED_IN_A_TRIAL * each < _TRIAL_SECONDS
    true = np.concatenate(truths)
    order = other_order(classifier.labels, true, said)
    return _accuracy(classifier, dataset, said, true, (order, quick))


def _spread(labels: np.ndarray | None, total: int) -> np.ndarray:
    """Inputs from everywhere in the data, of those with a label if there are any."""
    if labels is None:
        known = np.arange(total)
    else:
        known = np.flatnonzero(labels >= 0)
    # Shuffled: a measurement cut short by the clock is fair to every class, and equal steps would
    # miss classes in data that repeat them in turn.
    return np.random.default_rng(0).permutation(known)[:COUNTED]


def _accuracy(
    classifier: ModelCard,
    dataset: Dataset,
    guesses: np.ndarray,
    truths: np.ndarray,
    found: tuple[ClassOrder | None, bool],
) -> Accuracy:
    order, quick = found
    many, total = len(guesses), len(dataset)
    known = Rightness(int((guesses == truths).sum()), many, classifier.classes)
    if order is None:
        doubt = suspicion(known)
    # The order of the classes explains it: no other way need be tried unasked.
    elif applies(classifier, dataset, order):
        doubt, quick = f"{order.sentence} “Guess …” offers that order.", False
    else:
        doubt, quick = f"{order.sentence} {IN_THE_DATA}", False
    if many == total:
        of = count(many, "input")
    else:
        of = f"{many:,} of {count(total, 'input')}"
    return Accuracy(
        f"{percent(known.share)} right on {of}",
        _only(_one_class(classifier, guesses, truths), doubt),
        known=known,
        quick=quick and known.doubtful,
    )


def tried_out(
    ask: Ask,
    classifier: ModelCard,
    dataset: Dataset,
    accuracy: Accuracy,
    wanted: Callable[[], bool],
) -> Accuracy:
    """A low accuracy compared with what the usual ways of feeding the model give."""
    known = accuracy.known
    if known is None:
        return accuracy
    newest: dict[str, Tried] = {}
    for tried in ways(classifier, dataset, answer_by(ask, classifier)):
        # A way comes again with more inputs; its last number counts.
        newest[tried.name] = tried
        if not wanted():
            return accuracy
    found = list(newest.values())
    doubt = suspicion(known)
    others = tuple(sentence for sentence in accuracy.warnings if sentence != doubt)
    words = verdict_of(known, found)
    if clearly_better(found) is not None:
        return Accuracy(accuracy.words, (*others, f"{words} “Guess …” offers it."), known=known)
    if known.poor or others:
        return Accuracy(accuracy.words, (*others, words), known=known)
    return Accuracy(accuracy.words, notes=(words,))


def answer_by(ask: Ask, model: ModelCard) -> Answer:
    """What a model says with other settings, asked where it lives."""

    def answer(settings: ModelSettings, x: np.ndarray) -> np.ndarray | None:
        try:
            scores: Scores = ask("scores", model=model, x=x, settings=settings.model_dump())
        # A process that has gone would answer no other way either.
        except LostError:
            raise
        except ModelError:
            return None
        return np.asarray(scores.probabilities.argmax(1))

    return answer


def _only(*sentences: str) -> tuple[str, ...]:
    return tuple(filter(None, sentences))


def _one_class(classifier: ModelCard, guesses: np.ndarray, truths: np.ndarray | None) -> str:
    """A sentence when nearly all predictions are the same class though the inputs are not."""
    if len(guesses) < ENOUGH:
        return ""
    votes = np.bincount(guesses)
    favourite = int(votes.argmax())
    if truths is None:
        expected = 0.0
    else:
        expected = float((truths == favourite).mean())
    # Data that are mostly of one class may well be predicted as that class.
    if votes[favourite] < 0.9 * len(guesses) or expected > 0.75:
        return ""
    if votes[favourite] == len(guesses):
        many = f"All {len(guesses):,}"
    else:
        many = f"{votes[favourite]:,} of {len(guesses):,}"
    return (
        f"{many} inputs are predicted as {classifier.labels[favourite]}; mean, std, value range or"
        " channel order are probably wrong."
    )
