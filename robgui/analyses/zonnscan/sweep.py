"""zoNNscan radius sweep: how close are other classes to this input, radius by radius?

Jaouen and Le Merrer, "zoNNscan: a boundary-entropy index for zone inspection of neural models". The
index of a zone Z is E[H_C(M(U))] with U uniform on Z (Definition 1), estimated by sampling
(Algorithm 1); the sweep over radii is their Figure 2. Beside the index stand the share of samples
that cross into another class and the entropy of the mean output, because a zone cut by a sharp
boundary has an index near 0.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any

import numpy as np
from torch import Tensor

from robgui.analyses.zonnscan.crossing.gradient_search import GradientSearch
from robgui.analyses.zonnscan.crossing.nearest import Crossing, crossing_samples, nearest_crossing
from robgui.analyses.zonnscan.params import ZonnscanParams
from robgui.analyses.zonnscan.radii import Radii
from robgui.analyses.zonnscan.result import ATTACK_TO_COME, ZonnscanResult
from robgui.analyses.zonnscan.sampling.bends import curves_of
from robgui.analyses.zonnscan.sampling.clouds import radius_of, zone_cloud
from robgui.analyses.zonnscan.sampling.intervals import intervals, shares
from robgui.analyses.zonnscan.sampling.scan import Scan
from robgui.analyses.zonnscan.sampling.tally import SHOWN, Counts, Tally, entropy_of, read_scores
from robgui.analyses.zonnscan.zone import Zone, largest_radius
from robgui.core.dataset import Dataset, align, inputs
from robgui.core.devices import to_host
from robgui.core.errors import DataError, ModelError
from robgui.core.execution.budget.time_limit import Deadline
from robgui.core.execution.step import Pace, Step
from robgui.core.model.backend import first_line
from robgui.core.model.classifier import Classifier

#: Shares of a time limit at which the first curve ends, the nearest sample is found and the attack
#: ends.
_FIRST_SHARE, _NEAREST_SHARE, _ATTACK_SHARE = 0.4, 0.5, 0.8
#: Nearest samples pulled towards the input if there is a time limit.
_FEW = 8
_FOLLOWING = "Following gradients to a nearer change of class."
_AT_WORK = "it is still at work"


def zonnscan(
    classifier: Classifier, dataset: Dataset, params: ZonnscanParams
) -> Iterator[Step[ZonnscanResult]]:
    """Sweeps one input (or the box between two).

    Every radius coarsely first, then until it is sure.
    """
    deadline = Deadline(params.max_seconds)
    sweep = Sweep(classifier, dataset, params, deadline)
    yield from deadline.counted(_swept(sweep))


def _swept(sweep: Sweep) -> Iterator[Step[ZonnscanResult]]:
    pace = Pace()
    for doing in sweep.work():
        if pace.due():
            yield sweep.step(doing)
    yield sweep.step(cut=sweep.late)


class Sweep:
    """Everything a running sweep knows; ``step`` shows it at any moment."""

    def __init__(
        self,
        classifier: Classifier,
        dataset: Dataset,
        params: ZonnscanParams,
        deadline: Deadline | None = None,
    ) -> None:
        self._deadline = deadline or Deadline()
        self.late = False
        self._classifier = classifier
        self._params = params
        self._corners = corners_of(classifier, dataset, params.zone)
        self._name = " to ".join(dataset.key(i) for i in range(len(dataset)))
        self.centre = self._corners.mean(0, keepdim=True).flatten(1)
        self.radii = Radii(params, self.centre.numel(), classifier.kind, self.centre.device)
        self.cloud, self._sampler, self._note = zone_cloud(
            params.zone,
            self._corners.flatten(1),
            self.radii.sizes,
            sampler=params.sampler,
            samples=params.samples,
            seed=params.seed,
        )
        # Whole rows only: a row is a pair, or one point in each of 32 replicates.
        cap = params.samples // self.cloud.lanes * self.cloud.lanes
        self._multi_label = classifier.settings.multi_label
        # Radius 0 is the output itself, without sampling (Section III-A).
        centre = self.centre.reshape(1, *classifier.shape)
        self._own = read_scores(classifier.infer(centre), self._multi_label)
        own = self._own.confidence.double(), self._own.entropy.double(), self._own.votes.double()
        *self._own_numbers, self._input, top = to_host(
            *own, self.centre.reshape(classifier.shape), self._own.top
        )
        self._predicted = int(top[0, 0])
        tally = Tally(
            len(self.radii.sizes),
            classifier.classes,
            self.cloud.lanes,
            cap,
            self._own.votes,
            self._multi_label,
        )
        self.scan = Scan(
            classifier,
            self.cloud,
            tally,
            cap=cap,
            target=params.target_half_width,
            target_share=params.target_share,
            batch=params.batch,
            first=self.radii.used,
            hurried=self._deadline.limited,
        )
        self.scan.more = self._add_radius
        self.crossing: Crossing | None = None
        self._truth = truth_of(classifier, dataset)
        self._search: GradientSearch | None = None
        self._no_attack = ATTACK_TO_COME
        if not classifier.capabilities.gradients:
            self._no_attack = f"the model gives no gradients: {classifier.capabilities.reason}"

    def work(self) -> Iterator[str]:
        """Scan, nearest sample, attack; yields what it does after each batch.

        A time limit is divided: the curve gets the first part, then the nearest change is searched
        for, and the rest sharpens the curve.
        """
        scan = iter(self.scan)
        yield from self._until(_FIRST_SHARE, scan, "")
        yield from self._until(_NEAREST_SHARE, self.refine(), "")
        yield from self._until(_ATTACK_SHARE, self.attack(), _FOLLOWING)
        if self._no_attack == _AT_WORK:
            self._no_attack = "its time was over before it had looked at every radius"
        yield from self._until(1.0, scan, "")
        self.late = self._deadline.over or (self._deadline.limited and bool(self.scan.active))

    def _until(self, share: float, stage: Iterator[None], doing: str) -> Iterator[str]:
        """Runs a stage until ``share`` of the time is used; to its end without a limit."""
        # A curve with an empty radius would be no curve: the first round is finished even if late.
        while not self._deadline.beyond(share) or self._unseen():
            try:
                next(stage)
            except StopIteration:
                return
            yield doing

    def _unseen(self) -> bool:
        """Whether there is time for the first curve, and a radius without samples."""
        waiting = self.scan.tally.samples[: self.radii.first] == 0
        return not self._deadline.over and bool(waiting.any())

    def _add_radius(self, counts: Counts) -> int:
        """Adds a radius where the curves bend; 1 if there was one to add."""
        order = self.radii.order
        # A radius without samples has no point on the curve, so where it bends is unknown.
        if not self.radii.room or not counts.samples[order].all():
            return 0
        confidence, entropy, _ = self._own_numbers
        own = np.array([entropy[0], 0.0, confidence[0, self._predicted]])
        curves = curves_of(counts.of(order), own, self._predicted)
        return int(self.radii.add(curves))

    def refine(self) -> Iterator[None]:
        """Bisects for the smallest crossing radius.

        ``crossing`` is the nearest so far after each halving.
        """
        candidates = crossing_samples(self.scan, self.cloud, self.radii.order)
        if candidates is None:
            return
        if self._deadline.limited:
            candidates = candidates[:_FEW]
        reach = partial(radius_of, self._params.zone, self._corners.flatten(1))
        for crossing in nearest_crossing(
            self._classifier, candidates, self.centre, self._own.votes, reach, self._params.batch
        ):
            self.crossing = crossing
            yield

    def attack(self) -> Iterator[None]:
        """Searches for a nearer change along the gradients, if the model gives them.

        It comes last and has its own random numbers, so nothing else depends on it.
        """
        params = self._params
        # Beyond the largest radius the zone is the whole cube and grows no more.
        largest = min(self.radii.largest, largest_radius(params.zone, self.centre.numel()))
        if not self._classifier.capabilities.gradients or largest == 0:
            return
        self._no_attack = _AT_WORK
        self._search = GradientSearch(
            self._classifier,
            self._corners.flatten(1),
            self._own.votes,
            params.zone,
            largest=largest,
            seed=params.seed,
            batch=params.batch,
        )
        try:
            yield from self._search
        except (ModelError, RuntimeError) as error:  # A layer without a derivative shows only now.
            self._no_attack = f"its gradients cannot be computed: {first_line(error)}"
        else:
            if self._search.blind:
                self._no_attack = "its gradients are 0 around this input"
            else:
                self._no_attack = ""

    def step(self, doing: str = "", *, cut: bool = False) -> Step[ZonnscanResult]:
        """The complete picture now; ``cut`` if its time is up."""
        note = " ".join(part for part in (self._note, doing) if part)
        return Step(self.scan.done, self.scan.total, self._result(), note, cut)

    def _result(self) -> ZonnscanResult:
        counts = self.scan.tally.counts()
        order = self.radii.shown(counts.samples)
        counts = counts.of(order)
        index_low, index_high = intervals(counts)
        low, high = shares(counts, self.scan.cap, stops=self._params.target_half_width > 0)
        own_confidence, own_index, own_votes = self._own_numbers
        first = int(self.radii.zero)

        def joined(own: np.ndarray | float, rest: np.ndarray) -> np.ndarray:
            """The input's own value if radius 0 was asked for, then the sampled ones."""
            return np.concatenate([np.broadcast_to(own, (first, *rest.shape[1:])), rest])

        radii = self.radii.of(order)
        index = joined(own_index, counts.index)
        mean_confidence = joined(own_confidence, counts.confidence)
        entropy_of_mean = entropy_of(mean_confidence, self._multi_label)
        # At radius 0 both entropies are one number; computed twice they would differ by rounding.
        entropy_of_mean[:first] = own_index
        crossing = joined(0.0, counts.crossing)
        shape = self._classifier.shape
        nothing = np.zeros((0, *shape), dtype=np.float32)
        # inf: no candidate has crossed a second time.
        found = self.crossing if self.crossing and np.isfinite(self.crossing.radius) else None
        # Before the bisection has begun, the smallest radius with a crossing is what is known.
        coarse = radii[crossing > 0]
        return ZonnscanResult(
            radii=radii,
            index=index,
            ci_low=joined(own_index, index_low),
            ci_high=joined(own_index, index_high),
            mean_confidence=mean_confidence,
            vote_share=joined(own_votes, counts.votes),
            crossing=crossing,
            crossing_low=joined(0.0, low),
            crossing_high=joined(0.0, high),
            entropy_of_mean=entropy_of_mean,
            mutual_information=np.maximum(entropy_of_mean - index, 0),  # Jensen: < 0 is rounding
            samples=joined(1, counts.samples).astype(np.int64),
            model_calls=1
            + int(counts.samples.sum())
            + (self.crossing.calls if self.crossing else 0),
            crossing_radius=found.radius if found else float(min(coarse, default=np.nan)),
            witness=found.witness.reshape(1, *shape) if found else nothing,
            witness_class=found.klass if found else -1,
            input=self._input,
            input_name=self._name,
            predicted=self._predicted,
            labels=tuple(self._classifier.labels),
            shown_class=self._shown(first, counts.shown),
            kind=self._classifier.kind,
            sampler=self._sampler,
            corners=self._corners.cpu().numpy() if self._params.zone == "box" else nothing,
            truth=self._truth,
            **self._attacked(),
        )

    def _attacked(self) -> dict[str, Any]:
        """The fields of the attack so far."""
        search, shape = self._search, self._classifier.shape
        found = search.crossing if search else None
        return {
            "attack_radius": found.radius if found else float("nan"),
            "attack": (
                found.witness.reshape(1, *shape)
                if found
                else np.zeros((0, *shape), dtype=np.float32)
            ),
            "attack_class": found.klass if found else -1,
            "attack_calls": search.calls if search else 0,
            "attack_note": self._no_attack,
        }

    def _shown(self, first: int, shown: np.ndarray) -> np.ndarray:
        padded = np.full((first + len(shown), SHOWN), -1, dtype=np.int64)
        padded[first:, : shown.shape[1]] = shown
        # At radius 0 every sample is the input itself.
        padded[:first] = self._predicted
        return padded


def corners_of(classifier: Classifier, dataset: Dataset, zone: Zone) -> Tensor:
    """The dataset's one input, or a box's two corners: ``(1 or 2, *shape)`` on the device."""
    wanted = 2 if zone == "box" else 1
    if len(dataset) != wanted:
        if zone == "box":
            words = "two inputs, the corners of the box"
        else:
            words = "one input"
        raise DataError(
            f"A zoNNscan sweep of zone {zone} takes exactly {words}, not {len(dataset):,}; choose"
            " them in the gallery or with --index."
        )
    x = classifier.tensor(inputs(classifier, dataset))
    # Rounding in the dataset may leave [0, 1] by a digit.
    return x.clamp(0, 1)


def truth_of(classifier: Classifier, dataset: Dataset) -> int:
    """The class of the input by its label; -1 if it has none, and for a box."""
    if len(dataset) == 1:
        labels = align(classifier, dataset).labels
    else:
        labels = None
    if labels is None:
        truth = -1
    else:
        truth = int(labels[0])
    if truth < classifier.classes:
        return truth
    return -1
