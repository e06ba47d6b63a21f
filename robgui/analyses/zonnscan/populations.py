"""zoNNscan populations: does the index tell two sets of inputs apart?

Sections III-B and III-C of the paper (Figures 3 and 4, Table I): the distribution of the index at a small radius
around test inputs against that around adversarial or corner-case inputs, compared by the Kolmogorov-Smirnov test.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import torch
from pydantic import Field, model_validator
from scipy import stats
from torch import Tensor

from robgui.analyses.zonnscan.attack import fast_gradient
from robgui.analyses.zonnscan.points import Points, Sampler, base_points, block_size
from robgui.analyses.zonnscan.scan import Scan
from robgui.analyses.zonnscan.sweep import PAPER, as_published
from robgui.analyses.zonnscan.tally import Tally, half_widths, read_scores
from robgui.analyses.zonnscan.zones import Block, linf_corners
from robgui.core.analysis import Pace, Params, Step, analysis
from robgui.core.classifier import Classifier
from robgui.core.dataset import Dataset, inputs
from robgui.core.errors import DataError
from robgui.core.words import number


class PopulationsParams(Params):
    """Settings of a comparison; ``paper`` replaces every setting that is still at its default."""

    preset: Literal["default", "paper"] = Field(
        "default", title="Preset", description="paper: plain sampling, 10,000 samples, no early stop, as published; your own settings win."
    )
    against: Literal["adversarial", "rest"] = Field(
        "adversarial", title="Against", description="adversarial: the twins of the same inputs. rest: the inputs after the first so many."
    )
    first: int = Field(0, ge=0, title="First set", description="With rest: how many inputs belong to the first set; 0 means half of them.")
    eps: float = Field(0.1, ge=0, le=1, title="Attack size", description="How far the attack moves every value, 0 to 1.")
    radius: float = Field(0.025, gt=0, title="Radius", description="Size of the zone around every input.")
    samples: int = Field(256, ge=2, le=1_000_000, title="Samples", description="Most samples per input.")
    sampler: Sampler = Field("sobol", title="Sampler", description="How samples are spread in the zone.")
    target_half_width: float = Field(
        0.01, ge=0, le=0.5, title="Sure enough at", description="An input stops when its 95 % interval is this close; 0 never stops early."
    )

    @model_validator(mode="before")
    @classmethod
    def _as_published(cls, values: Any) -> Any:
        return as_published(cls, values, PAPER)


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
        means: ``(2,)`` mean index of each set.
        ks_statistic: Largest distance of the two distribution functions.
        ks_p: Two-sample Kolmogorov-Smirnov p value.
        false_alarms: ``(T,)`` share of the first set above each threshold, rising.
        detected: ``(T,)`` share of the second set above it.
        auc: Area under that curve.
        radius: As in the settings.
        samples: ``(N,)`` samples taken.
        model_calls: Inputs the model has seen, gradients included.
        labels: Class names.
    """

    index: np.ndarray
    half_width: np.ndarray
    crossing: np.ndarray
    second: np.ndarray
    predicted: np.ndarray
    names: tuple[str, str]
    keys: tuple[str, ...]
    means: np.ndarray
    ks_statistic: float
    ks_p: float
    false_alarms: np.ndarray
    detected: np.ndarray
    auc: float
    radius: float
    samples: np.ndarray
    model_calls: int
    labels: tuple[str, ...]


def populations_verdict(result: PopulationsResult) -> str:
    """Whether the index tells the sets apart, how sure that is, and what it cost."""
    first, second = result.names
    low, high = (number(float(mean)) for mean in result.means)
    where = f"at radius {number(result.radius)}"
    if result.ks_p >= 1e-3:
        found = f"The index does not tell {second} from {first} inputs {where}: means {high} and {low}"
    else:
        word = "higher" if result.means[1] > result.means[0] else "lower"
        found = f"The index is {word} around {second} than around {first} inputs {where}: mean {high} against {low}"
    sizes = f"{int(result.second.sum()):,} and {int((~result.second).sum()):,} inputs"
    return f"{found} ({sizes}, KS p = {number(result.ks_p)}, AUC {number(result.auc)}). {result.model_calls:,} model calls."


@analysis(
    title="zoNNscan populations",
    question="Does the index tell two sets of inputs apart, such as test and adversarial ones?",
    verdict=populations_verdict,
    inputs="many",
)
def zonnscan_populations(classifier: Classifier, dataset: Dataset, params: PopulationsParams) -> Iterator[Step[PopulationsResult]]:
    """Scans the zone of every input of both sets: all coarsely first, then each until it is sure enough."""
    x, second, keys, calls = two_sets(classifier, dataset, params)
    points, _, note = base_points(params.sampler, x[0].numel(), params.samples, params.seed, classifier.device)
    scan, predicted = scan_inputs(
        classifier, x, params.radius, points, samples=params.samples, target=params.target_half_width, batch=params.batch
    )
    names = ("test", "adversarial") if params.against == "adversarial" else ("first", "second")

    def step() -> Step[PopulationsResult]:
        counts = scan.tally.counts()
        known = compare(counts.index[~second], counts.index[second])
        result = PopulationsResult(
            index=counts.index,
            half_width=half_widths(counts),
            crossing=counts.crossing,
            second=second,
            predicted=predicted,
            names=names,
            keys=keys,
            means=known.means,
            ks_statistic=known.ks_statistic,
            ks_p=known.ks_p,
            false_alarms=known.false_alarms,
            detected=known.detected,
            auc=known.auc,
            radius=params.radius,
            samples=counts.samples,
            model_calls=calls + len(x) + int(counts.samples.sum()),
            labels=tuple(classifier.labels),
        )
        return Step(done=scan.done, total=scan.total, result=result, note=note)

    pace = Pace()
    for _ in scan:
        if scan.tally.samples.all() and pace.due():
            yield step()
    yield step()


def two_sets(classifier: Classifier, dataset: Dataset, params: PopulationsParams) -> tuple[Tensor, np.ndarray, tuple[str, ...], int]:
    """Inputs of both sets ``(N, *shape)``, who belongs to the second, their names, and the model calls this took."""
    x = classifier.tensor(inputs(classifier, dataset)).clamp(0, 1)
    keys = tuple(dataset.key(i) for i in range(len(dataset)))
    if params.against == "rest":
        first = params.first or len(x) // 2
        if not 0 < first < len(x):
            sizes = f"{len(x):,} inputs with {first:,} in the first"
            raise DataError(f"Two sets cannot be made of {sizes}; choose more inputs or a smaller first set.")
        return x, np.arange(len(x)) >= first, keys, 0
    if not len(x):
        raise DataError("A comparison needs at least one input; choose some in the gallery or with --select.")
    twins = adversarial_twins(classifier, x, _classes(classifier, dataset, x), params.eps, params.batch)
    return torch.cat([x, twins]), np.arange(2 * len(x)) >= len(x), keys + tuple(f"{key}, adversarial" for key in keys), 2 * len(x)


def _classes(classifier: Classifier, dataset: Dataset, x: Tensor) -> Tensor:
    """The true class of each input where it is known, else the predicted one."""
    predicted = classifier.infer(x).argmax(1)
    if dataset.labels is None:
        return predicted
    labels = torch.from_numpy(np.asarray(dataset.labels, dtype=np.int64)).to(classifier.device)
    return torch.where((labels >= 0) & (labels < classifier.classes), labels, predicted)


def adversarial_twins(classifier: Classifier, x: Tensor, classes: Tensor, eps: float, batch: int = 0) -> Tensor:
    """The fast gradient sign attack on inputs ``(n, *shape)``, in batches; gradients take about four times the memory."""
    size = max(1, classifier.batch(batch) // 4)
    return torch.cat([fast_gradient(classifier, x[i : i + size], classes[i : i + size], eps) for i in range(0, len(x), size)])


class InputsCloud:
    """The zone B_inf(x, r) ∩ [0, 1]^d around each of Z inputs ``(Z, d)``; corners are made as they are needed."""

    def __init__(self, x: Tensor, radius: float, points: Points) -> None:
        self.lanes = points.lanes
        self.block_size = block_size(x.shape[1])
        self._x = x
        self._radius = radius
        self._points = points

    def block(self, start: int, stop: int, zones: Tensor) -> Block:
        return _InputsBlock(self._x, self._radius, self._points.draw(start, stop))


@dataclass(frozen=True)
class _InputsBlock:
    x: Tensor
    radius: float
    u: Tensor

    def prepare(self) -> Iterator[None]:
        return iter(())

    def at(self, zones: Tensor) -> Tensor:
        x = self.x[zones]
        low, high = linf_corners(x, torch.full_like(x[:, 0], self.radius))
        return torch.lerp(low[:, None], high[:, None], self.u)


def scan_inputs(
    classifier: Classifier, x: Tensor, radius: float, points: Points, *, samples: int, target: float = 0.0, batch: int = 0
) -> tuple[Scan, np.ndarray]:
    """A scan of the zones around inputs ``(n, *shape)``, not yet run, and the classes of the inputs."""
    own = read_scores(classifier.infer(x, batch), classifier.settings.multi_label)
    cloud = InputsCloud(x.flatten(1), radius, points)
    cap = samples // cloud.lanes * cloud.lanes
    tally = Tally(len(x), classifier.classes, cloud.lanes, cap, own.votes, classifier.settings.multi_label)
    return Scan(classifier, cloud, tally, cap=cap, target=target, batch=batch), own.top[:, 0].cpu().numpy()


@dataclass(frozen=True, slots=True)
class Comparison:
    """Two samples of the index side by side; fields as in PopulationsResult."""

    means: np.ndarray
    ks_statistic: float
    ks_p: float
    false_alarms: np.ndarray
    detected: np.ndarray
    auc: float


def compare(first: np.ndarray, second: np.ndarray) -> Comparison:
    """Means, two-sample Kolmogorov-Smirnov test, and "index above a threshold" as a detector of the second set."""
    test = stats.ks_2samp(first, second)
    thresholds = np.unique(np.concatenate([first, second]))[::-1]
    false_alarms, detected = (np.r_[0.0, (values[None] >= thresholds[:, None]).mean(1)] for values in (first, second))
    auc = float(np.trapezoid(detected, false_alarms))
    return Comparison(np.array([first.mean(), second.mean()]), float(test.statistic), float(test.pvalue), false_alarms, detected, auc)
