"""Coverage per class: does neuron coverage or DeepGauge tell classes apart (first question)?

Neuron coverage (Pei et al.) per input, and per class with the criteria of DeepGauge (Ma et al.):
k-multisection, boundary, strong activation, top-k neurons and top-k patterns. A part of the inputs,
chosen by chance, tells the usual range of every neuron for every class; the others are held against
it. Classes are the predicted ones, as everywhere in DeepInspect.
"""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np
import torch
from scipy import stats
from torch import Tensor

from robgui.analyses.deepinspect.counting.neurons import GrowingPace, NeuronBatch, members, read
from robgui.analyses.deepinspect.params import CoverageParams
from robgui.analyses.deepinspect.studies.result import CoverageResult
from robgui.analyses.deepinspect.studies.sections import section_marks
from robgui.core.dataset import Dataset
from robgui.core.devices import to_host
from robgui.core.execution.step import Step
from robgui.core.model.classifier import Classifier
from robgui.core.model.randomness import HOST, host_generator
from robgui.core.text.words import count

#: Cohen's limits of a negligible, small and medium effect.
EFFECTS = (0.2, 0.5, 0.8)
#: Entries (members x neurons) processed at once.
#: 16 MB a tensor in single precision.
_PORTION = 4_000_000


def deepinspect_coverage(
    classifier: Classifier, dataset: Dataset, params: CoverageParams
) -> Iterator[Step[CoverageResult]]:
    """First the inputs of the profile, then the others."""
    covered = _Coverage(classifier, dataset, params)
    # A Step reduces all (m, N) marks and brings
    # them to the host: rarer as that takes longer.
    pace = GrowingPace(shortest=0.1)
    # The paper profiles on training and measures on test images (Section 5, setting 3). A user has
    # one dataset, so it is split by chance: by order the profile could miss whole classes.
    order = np.random.default_rng(params.seed).permutation(len(dataset))
    # Both parts get at least one input if there are two.
    count = min(
        max(1, round(len(dataset) * params.profile_percent / 100)), max(1, len(dataset) - 1)
    )
    # Sorted within each part: inputs are read in the order of the dataset.
    for profile, places in ((True, np.sort(order[:count])), (False, np.sort(order[count:]))):
        if not len(places):
            continue
        for reading in read(
            classifier, dataset.subset(places), batch=params.batch, last_layer=params.last_layer
        ):
            covered.add(reading, places, profile=profile)
            if pace.due():
                step = covered.step()
                pace.made()
                yield step
    yield covered.step(complete=True)


class _Coverage:
    """Everything known while it runs, on the model's device."""

    def __init__(self, classifier: Classifier, dataset: Dataset, params: CoverageParams) -> None:
        self._classifier = classifier
        self._dataset = dataset
        self._params = params
        self._seen = 0
        self._predicted = np.full(len(dataset), -1, dtype=np.int32)
        self._coverage = np.full(len(dataset), math.nan, dtype=np.float32)
        self._pattern = np.zeros(len(dataset), dtype=np.int64)
        self._owners: list[tuple[np.ndarray, np.ndarray]] = []
        self._unread: list[tuple[np.ndarray, tuple[Tensor, ...]]] = []
        self._neurons = 0

    def add(self, reading: NeuronBatch, places: np.ndarray, *, profile: bool) -> None:
        """Adds a batch of the profile or of the others."""
        if not self._neurons:
            self._begin(sum(reading.sizes))
        own = places[reading.places]
        # DeepXplore scales the outputs of a layer before it
        # compares them with the threshold; the ranges and sections
        # of DeepGauge are those of the outputs themselves.
        active = reading.scaled() > self._params.threshold
        top, pattern = top_neurons(reading.raw(), self._params.top)
        member = members(reading.scores, self._classifier.settings.multi_label)
        best = reading.scores.argmax(1)
        # Left on the device until a Step is due: reading after each
        # batch would wait for the device.
        self._unread.append((own, (best, active.float().mean(1), pattern, member)))
        if self._classifier.settings.multi_label:
            # An input of several classes counts once for each, as rows
            # (k,) of inputs and their classes.
            rows, classes = member.nonzero(as_tuple=True)
        else:
            rows, classes = torch.arange(len(best), device=best.device), best
        raw = torch.cat(reading.raw(), 1)
        # Several (k, N) tensors of the portion exist at a time; those of a whole batch may not fit.
        for start in range(0, len(rows), max(1, _PORTION // self._neurons)):
            part = slice(start, start + max(1, _PORTION // self._neurons))
            self._add_members(
                raw[rows[part]], active[rows[part]], top[rows[part]], classes[part], profile=profile
            )
        self._seen += len(own)

    def _begin(self, neurons: int) -> None:
        m, sections, device = (
            self._classifier.classes,
            self._params.sections,
            self._classifier.device,
        )
        self._neurons = neurons
        self._sections = section_marks(m, neurons, sections, device)
        self._low = torch.full((m, neurons), math.inf, device=device)
        self._high = torch.full((m, neurons), -math.inf, device=device)
        self._active, self._top, self._below, self._above = (
            torch.zeros((m, neurons), dtype=torch.bool, device=device) for _ in range(4)
        )

    def _add_members(
        self, raw: Tensor, active: Tensor, top: Tensor, classes: Tensor, *, profile: bool
    ) -> None:
        """Adds rows of members ``(k, N)`` to their classes ``(k,)``."""
        for flags, rows in ((self._active, active), (self._top, top)):
            mark(flags, rows, classes)
        if profile:
            index = classes[:, None].expand_as(raw)
            # The range [low, high] of each neuron for each class (m, N), by which DeepGauge tells
            # usual outputs from corner cases.
            self._low.scatter_reduce_(0, index, raw, "amin")
            self._high.scatter_reduce_(0, index, raw, "amax")
            return
        low, high = self._low[classes], self._high[classes]
        # Without a member in the profile low is still inf: such a class has no corner cases.
        known = low <= high
        mark(self._below, (raw < low) & known, classes)
        mark(self._above, (raw > high) & known, classes)
        sections = self._params.sections
        # A neuron that never varied has one section; 1 instead of 0 keeps the quotient finite.
        width = torch.where(high > low, high - low, 1)
        # raw = high would fall into section k of 0 … k - 1; without a profile low is inf, and the
        # infinite quotient is clamped before it becomes an integer.
        section = ((raw - low) / width * sections).nan_to_num(0).clamp(0, sections - 1).long()
        self._sections.add(classes, section, (raw >= low) & (raw <= high))

    def step(self, *, complete: bool = False) -> Step[CoverageResult]:
        """The picture now."""
        total = len(self._dataset)
        return Step(total if complete else self._seen, total, self._result(complete))

    def _read(self) -> tuple[np.ndarray, ...]:
        """Which classes have a profile, and the share of each kind of mark in each class.

        In one read, with the numbers of all inputs since the last.
        """
        flags = self._active, self._below, self._above, self._top
        active, *others = (each.double().mean(1) for each in flags)
        shares = [active, self._sections.shares(), *others]
        unread, self._unread = self._unread, []
        there = [each for _, numbers in unread for each in numbers]
        told = iter(to_host(*there, (self._low <= self._high).any(1), *shares))
        for own, _ in unread:
            self._predicted[own], self._coverage[own] = next(told), next(told)
            self._pattern[own] = next(told)
            rows, classes = np.nonzero(next(told))
            self._owners.append((own[rows], classes))
        return tuple(told)

    def _result(self, complete: bool) -> CoverageResult:
        m = self._classifier.classes
        profiled, *means = self._read()
        inputs, classes = (np.concatenate([pair[i] for pair in self._owners]) for i in (0, 1))
        counts = np.bincount(classes, minlength=m)
        coverage = self._coverage.astype(np.float64)
        # Per input, as the paper's box plots have it (Figure 3), not the union over a class.
        groups = [coverage[inputs[classes == c]] for c in range(m)]
        statistic, p = kruskal(groups)
        effect = cohens_d(groups)
        seen = counts > 0
        active, reached, below, above, top = (
            np.where(known, mean, math.nan)
            for known, mean in zip((seen, profiled, profiled, profiled, seen), means, strict=True)
        )

        patterns = np.array(
            [len(np.unique(self._pattern[inputs[classes == c]])) for c in range(m)],
            dtype=np.float64,
        )
        return CoverageResult(
            classes=tuple(self._classifier.labels),
            counts=counts,
            predicted=self._predicted.copy(),
            coverage=self._coverage.copy(),
            neuron=active,
            multisection=reached,
            # Two corner regions per neuron (DeepGauge), so the share of both is their mean.
            boundary=np.where(profiled, (below + above) / 2, math.nan),
            strong=above,
            top=top,
            patterns=np.where(counts > 0, patterns, math.nan),
            kruskal=statistic,
            kruskal_p=p,
            effect=effect,
            effect_shares=effect_shares(effect),
            neurons=self._neurons,
            done=self._seen,
            model_calls=self._seen,
            complete=complete,
            remarks=self._remarks(counts, profiled),
            model=self._classifier.name,
            dataset=self._dataset.name,
        )

    def _remarks(self, counts: np.ndarray, profiled: np.ndarray) -> tuple[str, ...]:
        said = []
        if never := int((counts == 0).sum()):
            if never == 1:
                verbs = ("is", "has")
            else:
                verbs = ("are", "have")
            said.append(
                f"{never:,} of {count(len(counts), 'class')} {verbs[0]} never predicted and"
                f" {verbs[1]} no coverage."
            )
        missing = int(((counts > 0) & ~profiled).sum())
        if missing:
            if missing == 1:
                verb, whose = ("has", "its")
            else:
                verb, whose = ("have", "their")
            said.append(
                f"{count(missing, 'class')} {verb} no member in the profile, so the range of"
                f" {whose} neurons is not known."
            )
        return tuple(said)


def mark(flags: Tensor, rows: Tensor, classes: Tensor) -> None:
    """Sets ``flags (m, N)`` where any row ``(k, N)`` of a class is True."""
    # A sum instead of an assignment: of rows with the same class an indexed write keeps only one.
    hits = torch.zeros(flags.shape, dtype=torch.float32, device=flags.device).index_add_(
        0, classes, rows.float()
    )
    flags |= hits > 0


def top_neurons(layers: list[Tensor], k: int) -> tuple[Tensor, Tensor]:
    """Which neurons ``(n, N)`` are their layer's k most active, and a number ``(n,)`` per set."""
    chosen = []
    for layer in layers:
        flags = torch.zeros(layer.shape, dtype=torch.bool, device=layer.device)
        chosen.append(flags.scatter_(1, layer.topk(min(k, layer.shape[1]), 1).indices, True))
    top = torch.cat(chosen, 1)
    # A random 63-bit key per neuron; a set is known by the sum of its keys. Among a million sets
    # two agree by chance with probability below 1e-7, and no set is stored.
    # The same keys in every batch, so that a set has one number throughout the run.
    keys = torch.randint(
        -(2**62), 2**62, (top.shape[1],), generator=host_generator(0), device=HOST
    ).to(top.device)
    return top, torch.where(top, keys, 0).sum(1)


def kruskal(groups: list[np.ndarray]) -> tuple[float, float]:
    """Statistic and p value of the Kruskal test between groups with values.

    Nan for fewer than two, p = 1 for equal values.
    """
    filled = [group[np.isfinite(group)] for group in groups if np.isfinite(group).any()]
    if len(filled) < 2:
        return math.nan, math.nan
    if np.ptp(np.concatenate(filled)) == 0:
        # All ranks are tied, for which the statistic is 0/0.
        return 0.0, 1.0
    test = stats.kruskal(*filled)
    return float(test.statistic), float(test.pvalue)


def cohens_d(groups: list[np.ndarray]) -> np.ndarray:
    """Cohen's d ``(m, m)`` of every two groups, as a size without sign.

    Nan for a group of fewer than two values.
    """
    sizes = np.array([len(group) for group in groups], dtype=np.float64)
    means = np.array(
        [group.mean() if len(group) else math.nan for group in groups], dtype=np.float64
    )
    variances = np.array(
        [group.var(ddof=1) if len(group) > 1 else math.nan for group in groups], dtype=np.float64
    )
    # Pooled over both groups, weighted by their degrees of freedom.
    freedom = (sizes - 1)[:, None] + (sizes - 1)
    pooled = ((sizes - 1) * variances)[:, None] + (sizes - 1) * variances
    pooled = np.sqrt(pooled / np.where(freedom > 0, freedom, math.nan))
    difference = np.abs(means[:, None] - means)
    effect = np.where(
        # np.where computes both arms; the inner one keeps 0/0 from warning.
        pooled > 0,
        difference / np.where(pooled > 0, pooled, 1),
        # Two constant groups: equal, or apart by infinitely many standard deviations.
        np.where(difference > 0, math.inf, 0.0),
    )
    return np.where(np.isfinite(pooled), effect, math.nan)


def effect_shares(effect: np.ndarray) -> np.ndarray:
    """Share ``(4,)`` of pairs with a negligible, small, medium and large effect.

    Nan without pairs.
    """
    first, second = np.triu_indices(len(effect), 1)
    values = effect[first, second]
    values = values[~np.isnan(values)]
    if not len(values):
        return np.full(4, math.nan)
    return np.bincount(np.searchsorted(EFFECTS, values, side="right"), minlength=4) / len(values)
