"""Threshold sensitivity: do the reported pairs depend on when a neuron counts as active?

Section 7 and Tables 5 to 8 of the paper. All thresholds are counted in one pass over the inputs.
"""

from __future__ import annotations

import math
from collections.abc import Generator, Iterator, Sequence
from dataclasses import fields

import numpy as np

from robgui.analyses.deepinspect.counting.kernels import finish
from robgui.analyses.deepinspect.counting.ranking import (
    Ranking,
    mode_rounds,
    ranking_rounds,
    truth_rounds,
)
from robgui.analyses.deepinspect.counting.remarks import remarks_on
from robgui.analyses.deepinspect.counting.streaming import sharpened
from robgui.analyses.deepinspect.counting.tally import InspectionSums
from robgui.analyses.deepinspect.pairs import Reported, report
from robgui.analyses.deepinspect.params import ThresholdsParams
from robgui.analyses.deepinspect.result import Quality
from robgui.analyses.deepinspect.studies.result import Sensitivity, ThresholdsResult
from robgui.core.dataset import Dataset
from robgui.core.execution.step import Step
from robgui.core.model.classifier import Classifier

_FIGURES = ("precision", "recall", "top_precision", "top_recall", "aucec", "spearman")


def deepinspect_thresholds(
    classifier: Classifier, dataset: Dataset, params: ThresholdsParams
) -> Iterator[Step[ThresholdsResult]]:
    """Counts activations for every threshold in one pass."""
    sweep = _Sweep(classifier, dataset, params)
    yield from sharpened(sweep, classifier, dataset, params)
    yield sweep.step(complete=True)


class _Sweep:
    """Everything known while it runs."""

    def __init__(self, classifier: Classifier, dataset: Dataset, params: ThresholdsParams) -> None:
        self._classifier = classifier
        self._dataset = dataset
        self._params = params
        self._mode = finish(mode_rounds(classifier, params))
        unknown = np.full((classifier.classes, classifier.classes), math.nan)
        self._rankings = [Ranking(unknown, unknown, None, None)] * len(params.thresholds)
        self._newest: ThresholdsResult | None = None
        self.tally = InspectionSums(classifier, dataset, params.thresholds)

    def derive(self) -> Generator[None, None, None]:
        """Ranks the pairs by every threshold, in portions."""
        truth = yield from truth_rounds(self.tally)
        # Swapped in when all thresholds are ranked: half old and half new would not compare.
        rankings = []
        for place in range(len(self._params.thresholds)):
            rankings.append(
                (yield from ranking_rounds(self.tally, truth, self._params, self._mode, place))
            )
            yield
        self._rankings = rankings
        self._newest = self._result(complete=False)

    def step(self, *, complete: bool = False) -> Step[ThresholdsResult]:
        """The picture now: what the newest rankings say."""
        total = len(self._dataset)
        if complete or self._newest is None:
            self._newest = self._result(complete=complete)
        return Step(total if complete else self.tally.seen, total, self._newest)

    def _result(self, *, complete: bool) -> ThresholdsResult:
        params, tally = self._params, self.tally
        thresholds = np.array(params.thresholds)
        # The paper's threshold, or the one tried that is nearest to it.
        reference = int(np.abs(thresholds - 0.5).argmin())
        cuts = (params.cutoff, params.top_percent)
        confused = [report(-ranking.napvd, *cuts) for ranking in self._rankings]
        biased = [report(ranking.avg_bias, *cuts) for ranking in self._rankings]
        return ThresholdsResult(
            thresholds=thresholds,
            reference=reference,
            active=tally.activity() / max(1, tally.seen * tally.neurons),
            confusion=sensitivity(
                confused, [ranking.confusion for ranking in self._rankings], reference
            ),
            bias=sensitivity(biased, [ranking.bias for ranking in self._rankings], reference),
            classes=tuple(self._classifier.labels),
            counts=tally.members(),
            neurons=tally.neurons,
            labelled=tally.labelled,
            done=tally.seen,
            model_calls=tally.seen,
            complete=complete,
            remarks=remarks_on(
                tally, self._dataset, self._classifier.labels, self._mode is not None
            ),
            model=self._classifier.name,
            dataset=self._dataset.name,
        )


def sensitivity(
    reported: Sequence[Reported], qualities: Sequence[Quality | None], reference: int
) -> Sensitivity:
    """One column per threshold."""
    sets = [{(int(a), int(b)) for a, b in each.pairs} for each in reported]
    figures = {
        name: np.array(
            [math.nan if quality is None else getattr(quality, name) for quality in qualities],
            dtype=np.float64,
        )
        for name in _FIGURES
    }
    counts = {
        "reported": [len(each) for each in sets],
        "hits": [0 if quality is None else quality.hits for quality in qualities],
        "top_reported": [len(each.top) for each in reported],
        "top_hits": [0 if quality is None else quality.top_hits for quality in qualities],
    }
    whole = {name: np.array(values, dtype=np.int64) for name, values in counts.items()}
    values = {
        **figures,
        **whole,
        "agreement": np.array([_agreement(each, sets[reference]) for each in sets]),
    }
    return Sensitivity(**{field.name: values[field.name] for field in fields(Sensitivity)})


def _agreement(first: set[tuple[int, int]], second: set[tuple[int, int]]) -> float:
    if first | second:
        # Jaccard's index: also punishes a threshold that reports many more pairs.
        return len(first & second) / len(first | second)
    return math.nan
