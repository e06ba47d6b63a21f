"""zoNNscan corner cases: on which inputs do the models disagree, and does the index see them?

Section III-C of the paper (Figure 4, lower half of Table I): a corner case is an input to which two
or more models give different classes. The index around corner cases is compared with that around as
many inputs on which all agree.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from robgui.analyses.choosing import chosen_places
from robgui.analyses.zonnscan.params import CornerCasesParams
from robgui.analyses.zonnscan.populations import PopulationScan, read_sets
from robgui.analyses.zonnscan.result import CornerCasesResult
from robgui.analyses.zonnscan.thumbnails import thumbnails
from robgui.core.dataset import Dataset, align, batches, inputs
from robgui.core.devices import to_host
from robgui.core.errors import DataError, ModelError
from robgui.core.execution.step import Pace, Step
from robgui.core.model.classifier import Classifier

#: Most corner cases that become findings, with their inputs.
MOST_FINDINGS = 20
#: Inputs per look; few, so the first corner cases appear soon.
_LOOK = 256


def zonnscan_corner_cases(
    classifiers: tuple[Classifier, ...], dataset: Dataset, params: CornerCasesParams
) -> Iterator[Step[CornerCasesResult]]:
    """Asks every model about every input; then scans disputed and as many undisputed inputs.

    The scan uses the first model.
    """
    look = _Look(classifiers, dataset, params)
    pace = Pace()
    for _ in look:
        if pace.due():
            yield look.step()
    look.read_pictures()
    scan = look.scan(params)
    for _ in scan or ():
        if scan is not None and scan.ready and pace.due():
            yield look.step(scan)
    yield look.step(scan)


class _Look:
    """The models' answers so far; iterating asks all of them about the next inputs."""

    def __init__(
        self, classifiers: Sequence[Classifier], dataset: Dataset, params: CornerCasesParams
    ) -> None:
        self._classifiers = classifiers
        self._orders = class_orders(classifiers)
        self._places = chosen_places(len(dataset), params.look_at, params.seed)
        self._dataset = dataset
        self._labels = align(classifiers[0], dataset).labels
        self._batch = params.batch
        count = len(self._places)
        # -1: not asked yet, or unreadable.
        self._classes = np.full((len(classifiers), count), -1, dtype=np.int64)
        self._confidence = np.zeros((len(classifiers), count))
        self._seen = 0
        self._thumbnails = thumbnails(
            np.zeros((0, *classifiers[0].shape), np.float32), classifiers[0].kind
        )
        self._notable_inputs = np.zeros((0, *classifiers[0].shape), dtype=np.float32)
        if not count:
            raise DataError(
                "Corner cases are looked for among inputs; choose some in the gallery or with"
                " --select."
            )

    def __iter__(self) -> Iterator[None]:
        for start in range(0, len(self._places), _LOOK):
            part = np.arange(start, min(start + _LOOK, len(self._places)))
            for m, (classifier, order) in enumerate(
                zip(self._classifiers, self._orders, strict=True)
            ):
                for rows, x in batches(
                    classifier, self._dataset.subset(self._places[part]), self._batch
                ):
                    top = classifier.probs(x, self._batch).max(1)
                    classes, self._confidence[m, part[rows]] = to_host(top.indices, top.values)
                    # Numbered as in the first model, so equal numbers mean equal names.
                    self._classes[m, part[rows]] = order[classes]
                    self._seen += len(rows)
                    yield

    def corners(self) -> np.ndarray:
        """Columns with a corner case; first those on which even the least sure model is sure."""
        # Only inputs that every model has answered.
        known = (self._classes >= 0).all(0)
        found = np.flatnonzero(known & (self._classes != self._classes[:1]).any(0))
        # Where all models are sure and still disagree, at least one is badly wrong.
        return found[np.argsort(-self._confidence[:, found].min(0), kind="stable")]

    def read_pictures(self) -> None:
        """Keeps small pictures of all corner cases, and the worst of them whole."""
        first, places = self._classifiers[0], self._places[self.corners()]
        if len(places):
            parts = [
                thumbnails(
                    inputs(first, self._dataset, places[i : i + _LOOK]), first.kind, len(places)
                )
                for i in range(0, len(places), _LOOK)
            ]
            self._thumbnails = np.concatenate(parts)
            self._notable_inputs = inputs(first, self._dataset, places[:MOST_FINDINGS])

    def scan(self, params: CornerCasesParams) -> PopulationScan | None:
        """The comparison of corner cases with as many agreeing inputs, not yet run.

        None without two sets.
        """
        corners = np.sort(self.corners())
        agreeing = np.flatnonzero(
            (self._classes >= 0).all(0) & (self._classes == self._classes[:1]).all(0)
        )
        corners = corners[chosen_places(len(corners), params.most, params.seed)]
        if len(corners):
            # Sets of equal size, as in Section III-C, so that neither histogram dominates.
            agreeing = agreeing[chosen_places(len(agreeing), len(corners), params.seed)]
        if not len(corners) or not len(agreeing):
            return None
        sets = read_sets(
            self._classifiers[0], self._dataset, self._places[agreeing], self._places[corners]
        )
        return PopulationScan(self._classifiers[0], sets, ("agreeing", "corner-case"), params)

    def step(self, scan: PopulationScan | None = None) -> Step[CornerCasesResult]:
        """The complete picture now."""
        looks = len(self._classifiers) * len(self._places)
        done = (looks if scan else self._seen) + (scan.scan.done if scan else 0)
        return Step(
            done=done, total=looks + (scan.scan.total if scan else 0), result=self._result(scan)
        )

    def _result(self, scan: PopulationScan | None) -> CornerCasesResult:
        corners, known = self.corners(), (self._classes >= 0).all(0)
        places = self._places[corners]
        classes = self._classes[:, known]
        populations = (scan.result(),) if scan is not None and scan.ready else ()
        return CornerCasesResult(
            models=tuple(classifier.name for classifier in self._classifiers),
            looked=int(known.sum()),
            numbers=places,
            keys=tuple(self._dataset.key(int(i)) for i in places),
            classes=self._classes[:, corners],
            confidence=self._confidence[:, corners],
            truth=(
                np.full(len(places), -1, dtype=np.int64)
                if self._labels is None
                else self._labels[places]
            ),
            # (M, 1, n) against (1, M, n).
            pairs=(classes[:, None] != classes[None]).sum(2),
            thumbnails=self._thumbnails,
            notable_inputs=self._notable_inputs,
            populations=populations,
            model_calls=self._seen + sum(known.model_calls for known in populations),
            labels=tuple(self._classifiers[0].labels),
            kind=self._classifiers[0].kind,
            chosen=len(self._places),
        )


def class_orders(classifiers: Sequence[Classifier]) -> list[np.ndarray]:
    """For each model, its classes' numbers in the first model, by name where the names agree."""
    if len(classifiers) < 2:
        raise ModelError(
            "Corner cases are inputs on which models disagree; load at least two models."
        )
    first = [label.casefold() for label in classifiers[0].labels]
    orders = []
    for classifier in classifiers:
        if classifier.classes != len(first):
            raise ModelError(
                f"{classifier.name} has {classifier.classes} classes and {classifiers[0].name} has"
                f" {len(first)}; compare models that know the same classes."
            )
        own = [label.casefold() for label in classifier.labels]
        # Names decide only if they are the same set without repeats;
        # else class 3 of one is class 3 of the other.
        same = sorted(own) == sorted(first) and len(set(own)) == len(own)
        orders.append(
            np.array(
                [first.index(label) for label in own] if same else range(len(own)), dtype=np.int64
            )
        )
    return orders


def corner_cases(
    classifiers: Sequence[Classifier], x: np.ndarray, batch: int = 0
) -> tuple[np.ndarray, np.ndarray]:
    """Numbers of the inputs on which the models disagree, and all classes ``(models, n)``."""
    orders = class_orders(classifiers)
    answers = [classifier.infer(x, batch).argmax(1).cpu().numpy() for classifier in classifiers]
    classes = np.stack([order[answer] for order, answer in zip(orders, answers, strict=True)])
    return np.flatnonzero((classes != classes[:1]).any(0)), classes
