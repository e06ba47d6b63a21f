"""Right answers under each corruption."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from robgui.core.intervals import clopper_pearson


@dataclass(frozen=True, slots=True)
class Example:
    """A picture that was right and is wrong when corrupted.

    Attributes:
        network: Number of the model.
        place: Its number among the inputs of the run.
        name: What it is called.
        kind: Number of the corruption.
        severity: How strong.
        truth: Its class.
        predicted: What the model says now.
        confidence: With which probability.
        before: ``(h, w, 3)`` uint8 as it is.
        after: The same corrupted.
        input: What the model gets of ``after``, in [0, 1].
    """

    network: int
    place: int
    name: str
    kind: int
    severity: int
    truth: int
    predicted: int
    confidence: float
    before: np.ndarray
    after: np.ndarray
    input: np.ndarray


@dataclass(frozen=True, slots=True)
class CorruptionsResult:
    """Answers of m models to n pictures under k corruptions in s severities.

    Attributes:
        networks: What the models are called; errors are also given as multiples of the first's.
        kinds: What the corruptions are called.
        groups: Noise, blur, weather or digital, for each kind.
        severities: The severities.
        clean: ``(m, n)`` whether the answer is right as the picture is.
        right: ``(m, k, s, n)`` whether it is right when corrupted.
        places: ``(n,)`` numbers among the inputs of the run.
        classes: Class names of each model.
        dataset: What the data are called.
        total: How many pictures will be corrupted.
        labelled: How many have a label that the models know.
        examples: Right answers that the weakest corruptions turn, those at the lowest severity
            first.
        model_calls: Inputs the models have seen.
    """

    networks: tuple[str, ...]
    kinds: tuple[str, ...]
    groups: tuple[str, ...]
    severities: tuple[int, ...]
    clean: np.ndarray
    right: np.ndarray
    places: np.ndarray
    classes: tuple[tuple[str, ...], ...]
    dataset: str
    total: int
    labelled: int
    examples: tuple[Example, ...]
    model_calls: int

    @property
    def done(self) -> int:
        """How many pictures were corrupted so far."""
        return int(self.clean.shape[1])

    @property
    def complete(self) -> bool:
        """Whether every input was counted."""
        return self.done >= self.total

    def clean_accuracy(self, network: int) -> float:
        """Share that is right as the pictures are."""
        if self.done:
            return float(self.clean[network].mean())
        return np.nan

    def clean_bounds(self, network: int) -> tuple[float, float]:
        """Exact 95 % interval of ``clean_accuracy``."""
        low, high = clopper_pearson(int(self.clean[network].sum()), self.done)
        return float(low), float(high)

    def accuracy(self, network: int) -> np.ndarray:
        """``(k, s)`` share that is right under each corruption."""
        if not self.done:
            return np.full((len(self.kinds), len(self.severities)), np.nan)
        return np.asarray(self.right[network].mean(-1))

    def bounds(self, network: int) -> tuple[np.ndarray, np.ndarray]:
        """Exact 95 % interval of ``accuracy``."""
        hits = self.right[network].sum(-1)
        return clopper_pearson(hits, np.full(hits.shape, self.done))

    def falls(self, network: int, most: int = 5) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """``(k, s)`` accuracy that a corruption up to severity ``most`` costs, with bounds.

        Wrong answers that it corrects are subtracted. The bounds hold for all cells jointly at 95
        %: losses and gains have an exact interval each, and their difference at most that of the
        ends.
        """
        right = self.right[network][:, [severity <= most for severity in self.severities]]
        # Paired by picture: the same ones clean and corrupted, so chance in choosing them cancels.
        lost = (self.clean[network] & ~right).sum(-1)
        gained = (~self.clean[network] & right).sum(-1)
        # Bonferroni: two intervals in every cell.
        level = 1 - 0.05 / (2 * max(1, lost.size))
        lost_low, lost_high = clopper_pearson(lost, np.full(lost.shape, self.done), level)
        gained_low, gained_high = clopper_pearson(gained, np.full(lost.shape, self.done), level)
        fall = (lost - gained) / max(1, self.done)
        return fall, lost_low - gained_high, lost_high - gained_low

    def mean_accuracy(self, network: int) -> tuple[float, float, float]:
        """Share that is right over all corruptions and severities, and its 95 % interval.

        The pictures are the independent draws; corruptions of one picture belong together. Maurer
        and Pontil's empirical Bernstein bound (2009) on the mean of each picture.
        """
        if self.done < 2:
            return float(self.accuracy(network).mean()), np.nan, np.nan
        # (pictures,).
        each = self.right[network].mean((0, 1))
        # One side takes ln(2/δ); two sides share the 5 %, hence ln(4/0.05).
        term = np.log(4 / 0.05)
        width = float(
            np.sqrt(2 * each.var(ddof=1) * term / self.done) + 7 * term / (3 * (self.done - 1))
        )
        mean = float(each.mean())
        return mean, max(0.0, mean - width), min(1.0, mean + width)

    def relative_error(self, network: int) -> float:
        """Mean corruption error as a multiple of the first model's.

        Hendrycks and Dietterich (2019), section 4: errors are summed over severities, divided, then
        averaged over kinds. Nan if the first model makes no error under a corruption.
        """
        own, first = (1 - self.accuracy(at) for at in (network, 0))
        # As they define it, the errors of one kind are summed over severities before they are
        # divided, so easy severities with few errors do not decide.
        sums = first.sum(1)
        return float((own.sum(1) / np.where(sums > 0, sums, np.nan)).mean())


def worst_cell(result: CorruptionsResult, network: int, most: int) -> tuple[int, int] | None:
    """Kind and severity, as numbers, of the corruption that costs one model most right answers.

    Up to a severity; if none is so weak, among all. None if none costs any.
    """
    fall, _, _ = result.falls(network, most)
    if not fall.size:
        fall, _, _ = result.falls(network)
    if not fall.size or not fall.max() > 0:
        return None
    kind, at = np.unravel_index(int(fall.argmax()), fall.shape)
    return int(kind), int(at)
