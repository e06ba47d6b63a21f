"""zoNNscan populations: does the index tell two sets of inputs apart?

Sections III-B and III-C of the paper (Figures 3 and 4, Table I): the distribution of the index at a
small radius around test inputs against that around adversarial or corner-case inputs, compared by
the Kolmogorov-Smirnov test.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, replace

import numpy as np
import torch
from scipy import stats
from torch import Tensor

from robgui.analyses.choosing import chosen_places
from robgui.analyses.zonnscan.cost import affordable
from robgui.analyses.zonnscan.crossing.attack import fast_gradient
from robgui.analyses.zonnscan.params import PopulationsParams, ScanParams
from robgui.analyses.zonnscan.result import PopulationsResult
from robgui.analyses.zonnscan.sampling.intervals import safe_half_widths
from robgui.analyses.zonnscan.sampling.points import Points, base_points
from robgui.analyses.zonnscan.sampling.scan import Scan
from robgui.analyses.zonnscan.sampling.tally import Tally, read_scores
from robgui.analyses.zonnscan.sampling.zones import BoxCloud
from robgui.analyses.zonnscan.thumbnails import thumbnails
from robgui.core.dataset import Dataset, inputs
from robgui.core.devices import to_host
from robgui.core.errors import DataError
from robgui.core.execution.step import Pace, Step
from robgui.core.model.classifier import Classifier

#: An input is notable if its class changes within the zone, or if its index is at least this.
UNSURE = 0.5
#: Inputs of a set that become findings.
MOST_FINDINGS = 10
#: Most values for the exact law of the Kolmogorov-Smirnov statistic; beyond, it is too slow for a
#: live picture.
_EXACT = 1000


def populations_part(
    classifier: Classifier, dataset: Dataset, params: PopulationsParams, part: range | None
) -> Iterator[Step[PopulationsResult]]:
    """Scans some inputs of both sets.

    Every zone has the same base points, whatever other inputs are scanned.
    """
    if params.against == "adversarial":
        names = ("test", "adversarial")
    else:
        names = ("first", "second")
    scan = PopulationScan(classifier, two_sets(classifier, dataset, params, part), names, params)
    pace = Pace()
    for _ in scan:
        # A comparison with missing inputs would compare other sets than it says.
        if scan.ready and pace.due():
            yield scan.step()
    yield scan.step()


def merge_populations(
    classifier: Classifier,
    dataset: Dataset,
    params: PopulationsParams,
    results: Sequence[PopulationsResult],
) -> PopulationsResult:
    """The comparison of all inputs from those of the parts."""
    from robgui.analyses.zonnscan.population_parts import merged

    return merged(results)


def zonnscan_populations(
    classifier: Classifier, dataset: Dataset, params: PopulationsParams
) -> Iterator[Step[PopulationsResult]]:
    """Scans the zone of every input of both sets: all coarsely first, then each until it is sure.

    With a time limit there are only as many inputs as there is time for a first look at all of
    them.
    """
    if params.max_seconds:
        most = affordable(params, classifier.times)
        # Fewer inputs rather than fewer samples of each: a zone hardly sampled says nothing.
        params = params.model_copy(update={"most": min(params.most or most, most)})
    return populations_part(classifier, dataset, params, None)


@dataclass(frozen=True, slots=True)
class Sets:
    """Inputs ``x (N, *shape)`` of two sets, part of ``total`` (0: all of them).

    Making them took ``calls`` model calls.
    """

    x: Tensor
    second: np.ndarray
    keys: tuple[str, ...]
    numbers: np.ndarray
    calls: int = 0
    total: int = 0


class PopulationScan:
    """The scan of two sets: iterating does the work.

    ``result`` is available once it is ``ready``.
    """

    def __init__(
        self, classifier: Classifier, sets: Sets, names: tuple[str, str], params: ScanParams
    ) -> None:
        self._classifier = classifier
        self._sets = sets
        self._names = names
        points, _, self._note = base_points(
            params.sampler, sets.x[0].numel(), params.samples, params.seed, classifier.device
        )
        self.scan, classes = scan_inputs(
            classifier,
            sets.x,
            params.radius,
            points,
            samples=params.samples,
            target=params.target_half_width,
            batch=params.batch,
        )
        self._inputs, self._predicted = to_host(sets.x, classes)
        self._thumbnails = thumbnails(self._inputs, classifier.kind, sets.total)

    def __iter__(self) -> Iterator[None]:
        return iter(self.scan)

    @property
    def ready(self) -> bool:
        """Whether every input has samples."""
        return bool(self.scan.tally.samples.all())

    def step(self) -> Step[PopulationsResult]:
        """The complete picture now."""
        return Step(
            done=self.scan.done, total=self.scan.total, result=self.result(), note=self._note
        )

    def result(self) -> PopulationsResult:
        """The two sets side by side as far as they are scanned."""
        sets, counts = self._sets, self.scan.tally.counts()
        notable = notable_places(counts.index, counts.crossing, ~sets.second)
        return PopulationsResult(
            index=counts.index,
            half_width=safe_half_widths(counts),
            crossing=counts.crossing,
            second=sets.second,
            predicted=self._predicted,
            names=self._names,
            keys=sets.keys,
            numbers=sets.numbers,
            thumbnails=self._thumbnails,
            notable=notable,
            notable_inputs=self._inputs[notable],
            kind=self._classifier.kind,
            **asdict(compare(counts.index[~sets.second], counts.index[sets.second])),
            samples=counts.samples,
            model_calls=sets.calls + len(sets.x) + int(counts.samples.sum()),
            labels=tuple(self._classifier.labels),
            finished=self.scan.done >= self.scan.total,
        )


def notable_places(
    index: np.ndarray, crossing: np.ndarray, among: np.ndarray, most: int = MOST_FINDINGS
) -> np.ndarray:
    """The worst of the inputs ``among``, worst first: those with a crossing or a high index."""
    # Both are shares in [0, 1]; the worse of the two decides.
    severity = np.where(
        among & ((crossing > 0) | (index >= UNSURE)), np.maximum(index, crossing), -1.0
    )
    order = np.argsort(-severity, kind="stable")[:most]
    return order[severity[order] >= 0]


def units(params: PopulationsParams, count: int) -> int:
    """How many parts a comparison of ``count`` inputs can be split into."""
    return min(map(len, chosen_sets(params, count)))


def chosen_sets(params: PopulationsParams, count: int) -> tuple[np.ndarray, np.ndarray]:
    """The numbers of both sets among ``count`` inputs.

    An adversarial twin has the number of its original.
    """
    if params.against == "rest":
        first = params.first or count // 2
        if not 0 < first < count:
            sizes = f"{count:,} inputs with {first:,} in the first"
            raise DataError(
                f"Two sets cannot be made of {sizes}; choose more inputs or a smaller first set."
            )
        return chosen_places(first, params.most, params.seed), first + chosen_places(
            count - first, params.most, params.seed
        )
    if not count:
        raise DataError(
            "A comparison needs at least one input; choose some in the gallery or with --select."
        )
    places = chosen_places(count, params.most, params.seed)
    return places, places


def two_sets(
    classifier: Classifier, dataset: Dataset, params: PopulationsParams, part: range | None = None
) -> Sets:
    """The inputs of both sets, the first before the second; for a part, its share of each."""
    before, after = chosen = chosen_sets(params, len(dataset))
    if part is not None:
        units = min(map(len, chosen))
        # Proportional parts: the parts of two sets of different size cover both without a gap.
        before, after = (
            places[part.start * len(places) // units : part.stop * len(places) // units]
            for places in chosen
        )
    if params.against == "rest":
        return replace(read_sets(classifier, dataset, before, after), total=sum(map(len, chosen)))
    subset = dataset.subset(before)
    x = classifier.tensor(inputs(classifier, subset)).clamp(0, 1)
    twins = adversarial_twins(
        classifier, x, true_classes(classifier, subset, x), params.eps, params.batch
    )
    keys = tuple(subset.keys())
    return Sets(
        torch.cat([x, twins]),
        np.arange(2 * len(x)) >= len(x),
        keys + tuple(f"{key}, adversarial" for key in keys),
        np.concatenate([before, after]),
        2 * len(x),
        sum(map(len, chosen)),
    )


def read_sets(
    classifier: Classifier, dataset: Dataset, before: np.ndarray, after: np.ndarray
) -> Sets:
    """Two sets of inputs by their places in the dataset."""
    places = np.concatenate([before, after])
    x = classifier.tensor(inputs(classifier, dataset, places)).clamp(0, 1)
    return Sets(
        x, np.arange(len(places)) >= len(before), tuple(dataset.key(int(i)) for i in places), places
    )


def true_classes(classifier: Classifier, dataset: Dataset, x: Tensor) -> Tensor:
    """The true class of each input if known, else the predicted one."""
    predicted = classifier.infer(x).argmax(1)
    if dataset.labels is None:
        return predicted
    # An attack starts from the true class (Section III-B); a
    # label the model does not know is no help.
    labels = torch.from_numpy(np.asarray(dataset.labels, dtype=np.int64)).to(classifier.device)
    return torch.where((labels >= 0) & (labels < classifier.classes), labels, predicted)


def adversarial_twins(
    classifier: Classifier, x: Tensor, classes: Tensor, eps: float, batch: int = 0
) -> Tensor:
    """The fast gradient sign attack on inputs ``(n, *shape)``, in batches.

    Gradients take about four times the memory.
    """
    # A gradient keeps every layer in memory: a quarter of the usual batch.
    size = max(1, classifier.batch(batch) // 4)
    return torch.cat(
        [
            fast_gradient(classifier, x[i : i + size], classes[i : i + size], eps)
            for i in range(0, len(x), size)
        ]
    )


def scan_inputs(
    classifier: Classifier,
    x: Tensor,
    radius: float,
    points: Points,
    *,
    samples: int,
    target: float = 0.0,
    batch: int = 0,
) -> tuple[Scan, Tensor]:
    """A scan of the zones around inputs ``(n, *shape)``, not yet run, and their classes."""
    own = read_scores(classifier.infer(x, batch), classifier.settings.multi_label)
    cloud = BoxCloud.around(x.flatten(1), radius, points)
    # Whole rows: part of a Sobol replicate or of a mirrored pair would be biased.
    cap = samples // cloud.lanes * cloud.lanes
    tally = Tally(
        len(x), classifier.classes, cloud.lanes, cap, own.votes, classifier.settings.multi_label
    )
    return (
        Scan(classifier, cloud, tally, cap=cap, target=target, batch=batch),
        own.top[:, 0],
    )


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
    """Means, two-sample Kolmogorov-Smirnov test, and the index as a detector of the second set."""
    # The paper's test of Sections III-B to III-D; it rejects equality with p < 1e-3 in each.
    test = stats.ks_2samp(
        first, second, method="auto" if max(len(first), len(second)) <= _EXACT else "asymp"
    )
    # Every observed value as a threshold, the highest first: the whole detector curve.
    thresholds = np.unique(np.concatenate([first, second]))[::-1]
    false_alarms, detected = (
        np.r_[0.0, 1 - np.searchsorted(np.sort(v), thresholds) / len(v)] for v in (first, second)
    )
    # By trapezoids: pairs of equal index count half.
    auc = float(np.trapezoid(detected, false_alarms))
    return Comparison(
        np.array([first.mean(), second.mean()]),
        float(test.statistic),
        float(test.pvalue),
        false_alarms,
        detected,
        auc,
    )
