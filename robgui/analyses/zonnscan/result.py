"""Results of the four analyses: frozen dataclasses of arrays."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from robgui.analyses.zonnscan.zone import Sampler

if TYPE_CHECKING:
    from robgui.analyses.zonnscan.params import ZonnscanParams


#: Why there is no gradient attack while a sweep is still sampling.
ATTACK_TO_COME = "it has not been made yet"


def _nothing() -> np.ndarray:
    return np.zeros(0, dtype=np.float32)


@dataclass(frozen=True, slots=True)
class Twins:
    """Inputs moved against their class.

    Attributes:
        values: ``(n, *shape)`` in the units of the data.
        classes: ``(n,)`` the class that each was moved away from.
        inputs: ``(n, *shape)`` the same as the model takes them, in [0, 1].
        seen: ``(n,)`` the class that the model gives each of them.
    """

    values: np.ndarray
    classes: np.ndarray
    inputs: np.ndarray
    seen: np.ndarray


@dataclass(frozen=True, slots=True)
class ZonnscanResult:
    """A sweep over R radii for C classes; nan where a radius has no sample yet.

    Attributes:
        radii: ``(R,)`` in rising order.
        index: ``(R,)`` mean entropy of the outputs, in [0, 1]: the uncertainty.
        ci_low: ``(R,)`` lower end of its 95 % interval.
        ci_high: ``(R,)`` upper end.
        mean_confidence: ``(R, C)`` mean output.
        vote_share: ``(R, C)`` share of samples whose class is c.
        crossing: ``(R,)`` share of samples whose class differs from the input's.
        crossing_low: ``(R,)`` lower end of its exact 95 % interval.
        crossing_high: ``(R,)`` upper end.
        entropy_of_mean: ``(R,)`` entropy of the mean output.
        mutual_information: ``(R,)`` entropy of the samples' mean output less their mean entropy:
            how much they disagree.
        samples: ``(R,)`` samples taken; 1 at radius 0.
        model_calls: Inputs the model has seen, without those of the attack.
        crossing_radius: Smallest radius at which a sample crosses, refined by bisection; nan
            without any. A random search seldom finds the nearest change.
        witness: ``(1, *shape)`` the sample at that radius, ``(0, *shape)`` without any.
        witness_class: Its class, or -1.
        input: ``(*shape)`` the input, in [0, 1]; the centre of a box.
        input_name: What the dataset calls it.
        predicted: Class of the input.
        labels: Class names.
        shown_class: ``(R, 8)`` classes of the samples that ``zone_samples`` draws again; -1 where
            there is none.
        kind: image, table or sequence.
        sampler: The sampler used, which may stand in for the one asked for.
        corners: ``(2, *shape)`` corners of a box, ``(0, *shape)`` otherwise.
        truth: Class of the input by its label; -1 where there is none.
        attack_radius: Smallest radius at which a gradient attack changes the class; nan where it
            has found none.
        attack: ``(1, *shape)`` what it found, empty without any.
        attack_class: Its class, or -1.
        attack_calls: Inputs the model has seen for it; 0 before it has begun, and without one.
        attack_note: Why there is no attack, or why it says nothing; empty if all is well.
    """

    radii: np.ndarray
    index: np.ndarray
    ci_low: np.ndarray
    ci_high: np.ndarray
    mean_confidence: np.ndarray
    vote_share: np.ndarray
    crossing: np.ndarray
    crossing_low: np.ndarray
    crossing_high: np.ndarray
    entropy_of_mean: np.ndarray
    mutual_information: np.ndarray
    samples: np.ndarray
    model_calls: int
    crossing_radius: float
    witness: np.ndarray
    witness_class: int
    input: np.ndarray
    input_name: str
    predicted: int
    labels: tuple[str, ...]
    shown_class: np.ndarray
    kind: str
    sampler: Sampler
    corners: np.ndarray
    truth: int = -1
    attack_radius: float = math.nan
    attack: np.ndarray = field(default_factory=_nothing)
    attack_class: int = -1
    attack_calls: int = 0
    attack_note: str = ""


@dataclass(frozen=True, slots=True)
class PopulationsResult:
    """The index around N inputs that belong to two sets.

    Attributes:
        index: ``(N,)`` index of every input's zone.
        half_width: ``(N,)`` of its 95 % interval.
        crossing: ``(N,)`` share of samples of another class than the input's.
        second: ``(N,)`` bool, True for the second set.
        predicted: ``(N,)`` classes.
        names: What the two sets are called.
        keys: ``(N,)`` what the dataset calls each input.
        numbers: ``(N,)`` place of each input among those given; a twin has that of its original.
        thumbnails: ``(N, h, w, 3)`` uint8, small pictures of them.
        notable: ``(W,)`` the worst of the first set, worst first, as places in these arrays.
        notable_inputs: ``(W, *shape)`` these inputs, in [0, 1].
        kind: image, table or sequence.
        means: ``(2,)`` mean index of each set.
        ks_statistic: Largest distance of the two distribution functions.
        ks_p: Two-sample Kolmogorov-Smirnov p value.
        false_alarms: ``(T,)`` share of the first set above each threshold, rising.
        detected: ``(T,)`` share of the second set above it.
        auc: Area under that curve.
        samples: ``(N,)`` samples taken.
        model_calls: Inputs the model has seen, gradients included.
        labels: Class names.
        finished: False while samples are still drawn.
    """

    index: np.ndarray
    half_width: np.ndarray
    crossing: np.ndarray
    second: np.ndarray
    predicted: np.ndarray
    names: tuple[str, str]
    keys: tuple[str, ...]
    numbers: np.ndarray
    thumbnails: np.ndarray
    notable: np.ndarray
    notable_inputs: np.ndarray
    kind: str
    means: np.ndarray
    ks_statistic: float
    ks_p: float
    false_alarms: np.ndarray
    detected: np.ndarray
    auc: float
    samples: np.ndarray
    model_calls: int
    labels: tuple[str, ...]
    finished: bool = True


@dataclass(frozen=True, slots=True)
class CornerCasesResult:
    """K corner cases among the inputs that M models have seen.

    Attributes:
        models: ``(M,)`` names, the model in use first.
        looked: Inputs that all models have seen.
        numbers: ``(K,)`` place of each corner case among the inputs given, the worst first.
        keys: ``(K,)`` what the dataset calls them.
        classes: ``(M, K)`` class each model gives, numbered as in ``labels``.
        confidence: ``(M, K)`` and how sure it is.
        truth: ``(K,)`` class by the dataset, -1 where it does not tell.
        pairs: ``(M, M)`` on how many inputs each pair of models disagrees.
        thumbnails: ``(K, h, w, 3)`` uint8, small pictures of them; empty while looking.
        notable_inputs: ``(W, *shape)`` the worst of them, in [0, 1]; empty while looking.
        populations: The index under the first model around agreeing inputs and corner cases;
            empty while looking.
        model_calls: Inputs that all models together have seen.
        labels: Class names.
        kind: image, table or sequence.
        chosen: Inputs that all models will have seen in the end; 0 if unknown.
    """

    models: tuple[str, ...]
    looked: int
    numbers: np.ndarray
    keys: tuple[str, ...]
    classes: np.ndarray
    confidence: np.ndarray
    truth: np.ndarray
    pairs: np.ndarray
    thumbnails: np.ndarray
    notable_inputs: np.ndarray
    populations: tuple[PopulationsResult, ...]
    model_calls: int
    labels: tuple[str, ...]
    kind: str
    chosen: int = 0


@dataclass(frozen=True, slots=True)
class WatermarkResult:
    """Two models on n key inputs.

    Attributes:
        models: Names of the model and of its copy, or of the two models.
        numbers: ``(n,)`` place of each key input's original among the inputs given.
        keys: ``(n,)`` what the dataset calls it.
        classes: ``(n,)`` true classes.
        adversarial: ``(n,)`` bool: fools the first model by design.
        answers: ``(2, n)`` class each model gives; -1 for a copy that is not made yet.
        confidence: ``(2, n)`` and how sure it is.
        index: ``(2, runs, n)`` of every run; nan if there is none yet.
        means: ``(2,)`` mean index of each model.
        ks_statistic: Largest distance of the two distribution functions over all values.
        ks_p: Two-sample Kolmogorov-Smirnov p value.
        accuracy: ``(2,)`` share of the inputs looked at that each model gets right; nan without
            labels.
        kept: Share of them that have the same answer from both.
        rounds: Steps of fine-tuning done.
        notable_inputs: ``(W, *shape)`` the key input whose index has moved most, in [0, 1].
        thumbnails: ``(n, h, w, 3)`` uint8, small pictures of the key inputs.
        model_calls: Inputs the models have seen.
        labels: Class names.
        kind: image, table or sequence.
    """

    models: tuple[str, str]
    numbers: np.ndarray
    keys: tuple[str, ...]
    classes: np.ndarray
    adversarial: np.ndarray
    answers: np.ndarray
    confidence: np.ndarray
    index: np.ndarray
    means: np.ndarray
    ks_statistic: float
    ks_p: float
    accuracy: np.ndarray
    kept: float
    rounds: int
    notable_inputs: np.ndarray
    thumbnails: np.ndarray
    model_calls: int
    labels: tuple[str, ...]
    kind: str

    @property
    def back(self) -> int:
        """How many of the adversarial key inputs the second model puts into their class."""
        return int((self.adversarial & (self.answers[1] == self.classes)).sum())

    @property
    def runs_done(self) -> np.ndarray:
        """``(runs,)`` bool: which runs both models have finished."""
        return np.asarray(np.isfinite(self.index).all((0, 2)))

    @property
    def moved(self) -> np.ndarray:
        """``(n,)`` how far the mean index of each key input differs; 0 where unknown."""
        return moves(self.index)


def moves(index: np.ndarray) -> np.ndarray:
    """How far the mean index of each key input ``(n,)`` differs between the models."""
    # Runs that both models have finished for all inputs: only these are paired.
    runs = np.isfinite(index).all((0, 2))
    if not runs.any():
        return np.zeros(index.shape[2])
    return np.asarray(np.abs(index[1, runs].mean(0) - index[0, runs].mean(0)))


def corners_drawn(result: ZonnscanResult) -> np.ndarray:
    """The input ``(1, *shape)``, or the corners of a box, around which a sweep has sampled."""
    if len(result.corners):
        return result.corners
    return result.input[None]


def how_drawn(result: ZonnscanResult, params: ZonnscanParams) -> dict[str, Any]:
    """How a sweep has drawn its samples, for ``samples_of``."""
    return {
        "zone": params.zone,
        "sampler": result.sampler,
        "samples": int(result.samples.max()),
        "seed": params.seed,
    }
