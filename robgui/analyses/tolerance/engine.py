"""The engine: each input is attacked from outside and proven from inside."""

from __future__ import annotations

from collections.abc import Generator, Iterator, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
import torch
from torch import Tensor

from robgui.analyses.tolerance.noise import noise_tolerance
from robgui.analyses.tolerance.params import ToleranceParams
from robgui.analyses.tolerance.restarts import RestartedSearch
from robgui.analyses.tolerance.result import Broken, NoiseTolerance, ToleranceResult
from robgui.analyses.zonnscan.crossing.nearest import Crossing
from robgui.analyses.zonnscan.sampling.tally import read_scores
from robgui.bounds import certifying
from robgui.core.dataset import Dataset, align, inputs, match
from robgui.core.dataset.picture import picture_of
from robgui.core.devices import to_host
from robgui.core.errors import DataError, ModelError, ParamsError
from robgui.core.execution.budget.time_limit import Deadline
from robgui.core.execution.step import Pace, Step
from robgui.core.model.backend import first_line
from robgui.core.model.classifier import Classifier

#: Rows of a table processed together. An image comes alone: its proof takes long by itself, and
#: several at once would only keep the first answer back.
_TOGETHER = 5
#: Examples kept.
_EXAMPLES = 8
#: Ratio between successive sizes of a proof.
_SMALLER = 2 / 3


@dataclass
class _Side:
    """What is known about one model."""

    classifier: Classifier
    data: Dataset
    proven: list[np.ndarray] = field(default_factory=lambda: [np.zeros(0)])
    broken: list[np.ndarray] = field(default_factory=lambda: [np.zeros(0)])
    wrong: list[np.ndarray] = field(default_factory=lambda: [np.zeros(0, dtype=bool)])
    no_proof: str = ""
    no_attack: str = ""


def tolerance(
    classifiers: Sequence[Classifier], dataset: Dataset, params: ToleranceParams
) -> Iterator[Step[ToleranceResult]]:
    """Brackets the tolerance of input after input, in random order."""
    deadline = Deadline(params.max_seconds)
    trial = _Trial([match(one, dataset) for one in classifiers], dataset, params, deadline)
    yield from deadline.counted(_worked(trial, dataset, deadline))


def _worked(trial: _Trial, dataset: Dataset, deadline: Deadline) -> Iterator[Step[ToleranceResult]]:
    pace = Pace()
    together = _TOGETHER
    if deadline.limited or dataset.kind == "image":
        # A time limit ends the run between two portions, so they are kept small.
        together = 1
    for wanted in _portions(trial.total, together):
        for _ in trial.take(wanted):
            if pace.due():  # Also before the first answer: a stop is heard only at a Step.
                yield trial.step(trial.doing)
        if deadline.over:
            break
    if not trial.done and deadline.over:
        raise ParamsError("One input of this model takes longer than the time limit; raise it.")
    if not trial.done:
        raise DataError(f"No input of {dataset.name} can be read; choose other data.")
    if trial.done < trial.total and deadline.over:
        yield replace(trial.step(), cut=True)
        return
    # Unreadable inputs do not count.
    trial.total = trial.done
    for _ in trial.try_noise():
        if pace.due():
            yield trial.step("Trying random noise.", left=1)
    yield trial.step()


def _portions(total: int, together: int) -> Iterator[range]:
    """Ranges of inputs to process together; the first has one, whose answer comes soon."""
    start = 0
    while start < total:
        stop = min(total, start + (together if start else 1))
        yield range(start, stop)
        start = stop


class _Trial:
    """The brackets so far.

    Attributes:
        doing: The current activity, as a sentence.
    """

    def __init__(
        self,
        classifiers: list[Classifier],
        dataset: Dataset,
        params: ToleranceParams,
        deadline: Deadline,
    ) -> None:
        self._deadline = deadline
        for one in classifiers:
            if one.settings.multi_label:
                raise ModelError(
                    f"{one.name} gives several classes at once, and tolerance follows one; look at"
                    " an input of it with zoNNscan."
                )
        self._sides = [_Side(one, align(one, dataset)) for one in classifiers]
        # A random sample, also when it is cut short: the margin of the curve assumes one.
        order = np.random.default_rng(params.seed).permutation(len(dataset))
        if params.most:
            self._places = order[: params.most]
        else:
            self._places = order
        self.total, self._available = len(self._places), len(dataset)
        self._params, self._dataset = params, dataset
        self._taken: list[int] = []
        self._examples: list[Broken] = []
        self._noise: list[NoiseTolerance] = []
        self.doing = ""
        self._before = sum(one.calls for one in classifiers)
        for side in self._sides:
            if not side.classifier.capabilities.gradients:
                reason = side.classifier.capabilities.reason.rstrip(".")
                side.no_attack = f"{side.classifier.name} gives no gradients: {reason}"
        if not params.prove:
            for side in self._sides:
                side.no_proof = "proofs are switched off"

    @property
    def done(self) -> int:
        """How many inputs were looked at with every model."""
        return len(self._taken)

    def take(self, wanted: range) -> Iterator[None]:
        """Attacks and proves these inputs for every model.

        They are left out if time runs out before the attack has an answer for one of them.
        """
        places = [int(place) for place in self._places[wanted.start : wanted.stop]]
        first = self._sides[0]
        places, _ = first.data.readable(places, first.classifier.shape)
        if not places:
            return
        found = []
        for number, side in enumerate(self._sides):
            given = inputs(side.classifier, side.data, places)
            x = side.classifier.tensor(given)
            scores = side.classifier.infer(x, self._params.batch)
            classes = scores.argmax(1)
            (seen,) = to_host(classes)
            wrong = self._wrong(side, places, seen)
            # inf: no change is known, which is not "none exists".
            broken = np.full(len(places), np.inf)
            for row in range(len(places)):
                if not wrong[row] and not side.no_attack:
                    self.doing = f"Attacking input {self.done + row + 1:,} of {self.total:,}."
                    # One by one: each search ends at its own radius,
                    # and the first answer comes soon.
                    crossing = yield from self._attack(
                        side, x[row : row + 1], scores[row : row + 1]
                    )
                    # Not tried to the end, so "none found" would claim too much.
                    if crossing is None and self._deadline.over:
                        return
                    if crossing is not None:
                        broken[row] = crossing.radius
                        before = np.asarray(given[row], dtype=np.float32)
                        self._keep(number, places, row, before, int(seen[row]), crossing)
            self.doing = f"Proving {self._inputs(len(places))} of {self.total:,}."
            proven = yield from self._prove(side, x, classes, broken)
            # Wrong as it is: no change at all is needed, so both ends are 0.
            found.append((np.where(wrong, 0, proven), np.where(wrong, 0, broken), wrong))
        # Only when every model has an answer: rows of all models belong to the same inputs.
        for side, (proven, broken, wrong) in zip(self._sides, found, strict=True):
            side.proven.append(proven)
            side.broken.append(broken)
            side.wrong.append(wrong)
        self._taken += places

    def _inputs(self, many: int) -> str:
        """The numbers of those that come next: ``inputs 2 to 6``."""
        first = self.done + 1
        if many == 1:
            return f"input {first:,}"
        return f"inputs {first:,} to {self.done + many:,}"

    def try_noise(self) -> Iterator[None]:
        """Tries random noise if there is one input, which every model gets right."""
        if self.done != 1:
            return
        wrong = any(side.wrong[-1][0] for side in self._sides)
        if wrong or not self._params.samples:
            return
        for side in self._sides:
            one = side.data.subset(self._taken)
            x = side.classifier.tensor(inputs(side.classifier, one, [0]))
            (seen,) = to_host(side.classifier.infer(x, self._params.batch).argmax(1))
            self._noise.append(
                (yield from noise_tolerance(side.classifier, one, x, int(seen[0]), self._params))
            )

    def _wrong(self, side: _Side, places: list[int], classes: np.ndarray) -> np.ndarray:
        """Which answers are already wrong; without a label the answer counts as right."""
        labels = side.data.labels
        if labels is None:
            return np.zeros(len(places), dtype=bool)
        truth = labels[places]
        return np.asarray((truth >= 0) & (truth != classes))

    def _attack(
        self, side: _Side, x: Tensor, scores: Tensor
    ) -> Generator[None, None, Crossing | None]:
        """The smallest change that the gradients find; None without any."""
        search = RestartedSearch(
            side.classifier,
            x.flatten(1),
            read_scores(scores, False).votes,
            "linf",
            largest=self._params.largest,
            seed=self._params.seed,
            batch=self._params.batch,
        )
        try:
            yield from self._deadline.until(1.0, iter(search))
        except (ModelError, RuntimeError) as error:  # A layer without a derivative shows only now.
            side.no_attack = f"its gradients cannot be computed: {first_line(error)}"
        return search.crossing

    def _prove(
        self, side: _Side, x: Tensor, classes: Tensor, broken: np.ndarray
    ) -> Generator[None, None, np.ndarray]:
        """The largest size at which the class is proven to stay, from the smallest upwards.

        Bounds of a larger ball are never tighter, so an input that fails is not tried again.
        """
        proven = np.zeros(len(x))
        steps = self._params.largest * _SMALLER ** np.arange(self._params.sizes)
        # The size that decides the status is among them.
        sizes = np.unique(np.append(steps, self._params.hold))
        going = np.arange(len(x))
        for size in sizes.tolist():
            # A change of this size turns the class, so no sound bound can prove that it stays.
            going = going[broken[going] > size]
            if side.no_proof or not len(going) or self._deadline.over:
                break
            rows = torch.from_numpy(going).to(x.device)
            certificate = yield from certifying(side.classifier, x[rows], classes[rows], size)
            if certificate.reason:
                side.no_proof = certificate.reason
                break
            going = going[certificate.certified]
            proven[going] = size
        return proven

    def _keep(
        self,
        number: int,
        places: list[int],
        row: int,
        before: np.ndarray,
        klass: int,
        crossing: Crossing,
    ) -> None:
        """Keeps the inputs turned by the smallest changes."""
        if len(self._examples) == _EXAMPLES and crossing.radius >= self._examples[-1].size:
            return
        kind = self._sides[number].classifier.kind
        after = crossing.witness.reshape(before.shape).astype(np.float32)
        example = Broken(
            number,
            self.done + row,
            self._dataset.key(places[row]),
            klass,
            crossing.klass,
            crossing.radius,
            picture_of(before, kind),
            picture_of(after, kind),
            after,
        )
        ranked = sorted([*self._examples, example], key=lambda one: one.size)
        self._examples = ranked[:_EXAMPLES]

    def step(self, note: str = "", left: int = 0) -> Step[ToleranceResult]:
        """Everything so far, with what is done now and how much is left after the inputs."""
        # Examples of inputs still under way have no row yet.
        known = [one for one in self._examples if one.row < self.done]
        result = ToleranceResult(
            networks=tuple(side.classifier.name for side in self._sides),
            places=np.asarray(self._taken, dtype=np.int64),
            names=tuple(self._dataset.key(place) for place in self._taken),
            proven=np.stack([np.concatenate(side.proven) for side in self._sides]),
            broken=np.stack([np.concatenate(side.broken) for side in self._sides]),
            wrong=np.stack([np.concatenate(side.wrong) for side in self._sides]),
            no_proof=tuple(side.no_proof for side in self._sides),
            no_attack=tuple(side.no_attack for side in self._sides),
            labels=tuple(tuple(side.classifier.labels) for side in self._sides),
            dataset=self._dataset.name,
            total=self.total,
            available=self._available,
            examples=tuple(known),
            model_calls=sum(side.classifier.calls for side in self._sides) - self._before,
            # All models or none: half a comparison would read like a difference.
            noise=tuple(self._noise) if len(self._noise) == len(self._sides) else (),
        )
        return Step(self.done, self.total + left, result, note)
