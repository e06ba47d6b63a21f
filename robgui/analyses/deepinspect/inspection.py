"""DeepInspect: which classes does the network confuse, and where is it biased?

Tian, Zhong, Ordonez, Kaiser and Ray, "Testing DNN Image Classifiers for Confusion & Bias Errors"
(ICSE 2020). One pass over the inputs counts how often each predicted class activates each neuron
(rho, Section 3.1); classes whose columns are near are confused (Section 3.2), and pairs that stand
differently to third classes are biased (3.3). Labels, if there are any, serve to judge the reported
pairs and nothing else (Section 4).
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Generator, Iterator, Sequence

import numpy as np

from robgui.analyses.deepinspect.confirming import confirmation_rounds, refusal
from robgui.analyses.deepinspect.counting.kernels import finish, worst_thirds
from robgui.analyses.deepinspect.counting.neurons import read
from robgui.analyses.deepinspect.counting.parts import InspectionPart
from robgui.analyses.deepinspect.counting.ranking import (
    Baseline,
    Ranking,
    Truth,
    mode_rounds,
    ranking_rounds,
    truth_rounds,
)
from robgui.analyses.deepinspect.counting.remarks import remarks_on
from robgui.analyses.deepinspect.counting.resampling import NO_INTERVALS, interval_rounds
from robgui.analyses.deepinspect.counting.streaming import sharpened
from robgui.analyses.deepinspect.counting.tally import InspectionSums
from robgui.analyses.deepinspect.exhibits import exhibits_of
from robgui.analyses.deepinspect.pairs import report
from robgui.analyses.deepinspect.params import DeepInspectParams
from robgui.analyses.deepinspect.result import Confirmation, DeepInspectResult
from robgui.analyses.deepinspect.wrong_inputs import surest_errors
from robgui.core.dataset import Dataset
from robgui.core.execution.step import Pace, Step
from robgui.core.model.classifier import Classifier

#: rho is in every Step up to the first size, in float32 up to the second, and never kept beyond the
#: third.
#: 4 MB in every Step, 16 MB in float32 and 256 MB in float16 at the end.
RHO_LIVE, RHO_SINGLE, RHO_LARGEST = 1_000_000, 4_000_000, 128_000_000
#: Most bias pairs that get their worst third class.
_TRIPLETS = 1000


def inspect_part(
    classifier: Classifier, dataset: Dataset, params: DeepInspectParams, part: range
) -> Iterator[Step[InspectionPart | None]]:
    """Counts activations over some of the inputs."""
    inputs, pace = dataset.subset(part), Pace()
    tally = InspectionSums(
        classifier, inputs, (params.threshold,), intervals=True, first=part.start
    )
    for reading in read(classifier, inputs, batch=params.batch, last_layer=params.last_layer):
        tally.add(reading)
        if pace.due():
            yield Step(tally.seen, len(inputs), None)
    result = InspectionPart(tally.part(), tuple(dataset.skipped))
    yield Step(len(inputs), len(inputs), result)


def merge_parts(
    classifier: Classifier,
    dataset: Dataset,
    params: DeepInspectParams,
    parts: Sequence[InspectionPart],
) -> DeepInspectResult:
    """The inspection of all inputs; counts are whole numbers, so their sum is exact."""
    inspection = _Inspection(classifier, dataset, params)
    start = 0
    for part in parts:
        inspection.absorb(part, start)
        # Parts cover the inputs in order without a gap.
        start += len(part.tally.predicted)
    finish(inspection.derive())
    # Only now: intervals and games need the counts of all parts.
    finish(inspection.settle())
    return inspection.last_step().result


def deepinspect(
    classifier: Classifier, dataset: Dataset, params: DeepInspectParams
) -> Iterator[Step[DeepInspectResult]]:
    """Counts activations in one pass; the matrices sharpen as batches arrive."""
    yield from _inspected(_Inspection(classifier, dataset, params), classifier, dataset, params)


def go_on(
    classifier: Classifier, dataset: Dataset, params: DeepInspectParams, kept: InspectionPart
) -> Iterator[Step[DeepInspectResult]]:
    """Continues an interrupted run that has counted the first inputs.

    Counts are whole numbers, so their sum is that of an uninterrupted run.
    """
    inspection = _Inspection(classifier, dataset, params)
    # Counts of another network or dataset are not used.
    if inspection.tally.takes(kept.tally):
        inspection.absorb(kept, 0)
        inspection.note = f"An earlier run has counted the first {inspection.tally.upto:,} inputs."
    yield from _inspected(inspection, classifier, dataset, params)


def _inspected(
    inspection: _Inspection, classifier: Classifier, dataset: Dataset, params: DeepInspectParams
) -> Iterator[Step[DeepInspectResult]]:
    yield from sharpened(inspection, classifier, dataset, params, inspection.keep)
    pace = Pace()
    for _ in inspection.settle():
        if pace.due():
            yield inspection.step()
    yield inspection.last_step()


class _Inspection:
    """Everything known during a run; ``step`` shows it at any moment.

    Attributes:
        tally: What has been counted.
        note: What the user should know of how it is carried out.
    """

    def __init__(self, classifier: Classifier, dataset: Dataset, params: DeepInspectParams) -> None:
        self._classifier = classifier
        self._dataset = dataset
        self._params = params
        # At once: it needs the weights alone, no input.
        self._mode: Baseline | None = finish(mode_rounds(classifier, params))
        m = classifier.classes
        unknown = np.full((m, m), math.nan)
        self._ranking = Ranking(unknown, unknown, None, None)
        self._truth = Truth(np.zeros((0, 0)), np.zeros((0, 0)))
        self._newest: DeepInspectResult | None = None
        self._intervals = NO_INTERVALS
        self._confirmations: tuple[Confirmation, ...] = ()
        self.tally = InspectionSums(classifier, dataset, (params.threshold,), intervals=True)
        self.note = ""

    def derive(self) -> Generator[None, None, None]:
        """Computes the matrices from the counts so far, in portions."""
        truth = yield from truth_rounds(self.tally)
        ranking = yield from ranking_rounds(self.tally, truth, self._params, self._mode)
        self._truth, self._ranking = truth, ranking
        # The old matrices stay on show until the new ones are complete.
        yield
        self._newest = self._result(self._live_rho())

    def settle(self) -> Generator[None, None, None]:
        """After all inputs are counted: how sure the distances are, and games for some pairs."""
        if self.tally.grouped is not None:
            self._intervals = yield from interval_rounds(
                self.tally.grouped, self._ranking.napvd, self._params.norm
            )
        if self._params.confirm and not refusal(self._classifier):
            # Pairs are chosen from the final ranking, without the large rho.
            result = self._result(self._no_rho())
            self._confirmations = yield from confirmation_rounds(
                self._classifier, self._dataset, result, self._params.confirm, self._params.seed
            )

    def absorb(self, part: InspectionPart, start: int) -> None:
        """Takes counts over the inputs from place ``start`` on."""
        self.tally.absorb(part.tally, start)
        # Each worker met its own unreadable files; the remarks count those of all.
        for skipped in part.skipped:
            self._dataset.skip(skipped.path, skipped.reason)

    def step(self) -> Step[DeepInspectResult]:
        """The picture now: the newest matrices with the counts they were made from.

        Before the first, all unknown.
        """
        if self._newest is None:
            self._newest = self._result(self._live_rho())
        return Step(self.tally.seen, len(self._dataset), self._newest, self.note)

    def keep(self) -> Step[DeepInspectResult]:
        """The picture now, with what the next run needs to continue from here."""
        kept = InspectionPart(self.tally.kept(), tuple(self._dataset.skipped))
        return dataclasses.replace(self.step(), kept=kept)

    def last_step(self) -> Step[DeepInspectResult]:
        """The picture at the end, with rho and pictures."""
        size = self.tally.neurons * self._classifier.classes
        # float16 keeps three digits of a share, which is what is shown.
        small = np.float32 if size <= RHO_SINGLE else np.float16
        result = self._result(self.tally.rho(small) if size <= RHO_LARGEST else self._no_rho())
        remarks = [*result.remarks]
        if size > RHO_LARGEST:
            remarks.append("Too many neurons and classes to keep what each neuron does.")
        if self.tally.grouped is None:
            remarks.append("Too many neurons and classes to say how sure the distances are.")
        if self._params.confirm and (reason := refusal(self._classifier)):
            remarks.append(reason)
        pictures = exhibits_of(self._classifier, self._dataset, result, self._params.most_wrong)
        wrong, calls = surest_errors(self._classifier, self._dataset, result, self._params.batch)
        return Step(
            len(self._dataset),
            len(self._dataset),
            dataclasses.replace(
                result,
                complete=True,
                exhibits=(*pictures, *wrong),
                remarks=tuple(remarks),
                model_calls=result.model_calls + calls,
            ),
            self.note,
        )

    def _live_rho(self) -> np.ndarray:
        size = self.tally.neurons * self._classifier.classes
        if size <= RHO_LIVE:
            return self.tally.rho(np.float32)
        return self._no_rho()

    def _no_rho(self) -> np.ndarray:
        return np.zeros((0, self._classifier.classes), dtype=np.float32)

    def _result(self, rho: np.ndarray) -> DeepInspectResult:
        params, tally, ranking, truth = self._params, self.tally, self._ranking, self._truth
        confused = report(-ranking.napvd, params.cutoff, params.top_percent)
        biased = report(ranking.avg_bias, params.cutoff, params.top_percent)
        triplets, triplet_bias = worst_thirds(
            ranking.napvd, biased.pairs[:_TRIPLETS], params.bias_filter
        )
        counts, multi_label = tally.members(), self._classifier.settings.multi_label
        confusion, bias = ranking.confusion, ranking.bias
        nothing = np.zeros((0, 0))
        return DeepInspectResult(
            classes=tuple(self._classifier.labels),
            counts=counts,
            empty=np.flatnonzero(counts == 0),
            layers=tally.layers,
            layer_sizes=tally.layer_sizes,
            rho=rho,
            napvd=ranking.napvd,
            avg_bias=ranking.avg_bias,
            mode=nothing if self._mode is None else self._mode.distance,
            confusion_limit=-confused.limit,
            confusion_pairs=confused.pairs,
            confusion_top=confused.top,
            bias_limit=biased.limit,
            bias_pairs=biased.pairs,
            bias_top=biased.top,
            triplets=triplets,
            triplet_bias=triplet_bias,
            predicted=tally.predicted().copy(),  # The tally keeps counting; a Step must not change.
            true=np.zeros(0, dtype=np.int32) if tally.true is None else tally.true,
            predicted_bits=tally.bits(),
            true_bits=tally.true_bits(),
            multi_label=multi_label,
            type1conf=nothing if multi_label else truth.conf,
            type2conf=truth.conf if multi_label else nothing,
            avg_cd=truth.avg_cd,
            confusion=confusion,
            bias=bias,
            spearman_confusion=-confusion.spearman if confusion else math.nan,
            spearman_bias=bias.spearman if bias else math.nan,
            precision=confusion.precision if confusion else math.nan,
            recall=confusion.recall if confusion else math.nan,
            aucec=confusion.aucec if confusion else math.nan,
            aucec_mode=confusion.aucec_mode if confusion else math.nan,
            accuracy=tally.accuracy(),
            done=tally.seen,
            without=tally.without(),
            model_calls=tally.seen + sum(one.calls for one in self._confirmations),
            complete=False,
            exhibits=(),
            remarks=remarks_on(
                tally, self._dataset, self._classifier.labels, self._mode is not None
            ),
            model=self._classifier.name,
            dataset=self._dataset.name,
            kind=self._classifier.kind,
            napvd_low=self._intervals.low,
            napvd_high=self._intervals.high,
            confirmations=self._confirmations,
        )
