"""zoNNscan watermark: does the index tell a model from its watermarked copy?

Section III-D of the paper: the index around the inputs of a watermark key in repeated runs, under
the model and under a copy that carries the watermark. The copy is made here, or two models that are
loaded already are compared.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from robgui.analyses.choosing import chosen_places
from robgui.analyses.zonnscan.disagreement import class_orders
from robgui.analyses.zonnscan.params import WatermarkParams
from robgui.analyses.zonnscan.populations import compare, true_classes
from robgui.analyses.zonnscan.result import WatermarkResult, moves
from robgui.analyses.zonnscan.thumbnails import thumbnails
from robgui.analyses.zonnscan.watermark import KEPT, Key, Repeated, Stitching, make_key
from robgui.core.dataset import Dataset, align, inputs
from robgui.core.devices import to_host
from robgui.core.errors import DataError, ModelError
from robgui.core.execution.step import Pace, Step
from robgui.core.model.classifier import Classifier


def zonnscan_watermark(
    classifiers: tuple[Classifier, ...], dataset: Dataset, params: WatermarkParams
) -> Iterator[Step[WatermarkResult]]:
    """Marks a copy of the model, or takes the second one, and measures both around the keys."""
    check = _Check(classifiers, dataset, params)
    pace = Pace()
    for _ in check:
        if pace.due():
            yield check.step()
    yield check.step()


class _Check:
    """Everything a running check knows; ``step`` shows it at any moment."""

    def __init__(
        self, classifiers: tuple[Classifier, ...], dataset: Dataset, params: WatermarkParams
    ) -> None:
        self._first, self._params = classifiers[0], params
        make = params.mode == "make"
        if not make and len(classifiers) < 2:
            raise ModelError(
                "A comparison needs two models; load another one, or let the program make a"
                " watermarked copy."
            )
        if not len(dataset):
            raise DataError(
                "A watermark check needs inputs; choose some in the gallery or with --select."
            )
        self._places = chosen_places(
            len(dataset), params.most if make else params.size, params.seed
        )
        self._part = align(self._first, dataset.subset(self._places))
        self._x = np.clip(inputs(self._first, self._part), 0, 1)
        self._stitching: Stitching | None = None
        if make:
            self._second = None
        else:
            self._second = classifiers[1]
        self._names = (
            self._first.name,
            f"{self._first.name}, watermarked" if make else classifiers[1].name,
        )
        if make:
            self._key = self._make_key()
        else:
            self._key = self._plain_key()
        self._thumbnails = thumbnails(self._key.inputs, self._first.kind)
        self._answers, self._confidence = (
            np.full((2, len(self._key.inputs)), -1),
            np.zeros((2, len(self._key.inputs))),
        )
        self._whole = np.full((2, len(self._x)), -1)
        # Two files of one task may list the classes in another order; answers are compared by name.
        self._orders = class_orders([self._first, self._second or self._first])
        # Classes, attack and what should be kept.
        self._rounds, self._calls = (0, 5 * len(self._x) if make else len(self._x))
        self._look(0, self._first)
        self._repeated: Repeated | None = None

    def _make_key(self) -> Key:
        classes = true_classes(self._first, self._part, self._first.tensor(self._x)).cpu().numpy()
        p = self._params
        nothing = Key(
            self._x[:0], classes[:0], np.zeros(0, dtype=bool), np.zeros(0, dtype=np.int64)
        )
        Stitching(self._first, nothing)  # Refuses what cannot be marked before any time is spent.
        key = make_key(self._first, self._x, classes, p.size, p.eps, p.batch)
        self._stitching = Stitching(
            self._first, key, rounds=p.rounds, rate=p.rate, kept=self._x, seed=p.seed
        )
        return key

    def _plain_key(self) -> Key:
        classes = true_classes(self._first, self._part, self._first.tensor(self._x)).cpu().numpy()
        return Key(self._x, classes, np.zeros(len(self._x), dtype=bool), np.arange(len(self._x)))

    def __iter__(self) -> Iterator[None]:
        if self._stitching is not None:
            for _ in self._stitching:
                self._rounds += 1
                yield
            self._second = self._stitching.marked()
        assert self._second is not None
        with self._second.checked_later():
            yield from self._measure(self._second)

    def _measure(self, second: Classifier) -> Iterator[None]:
        """Measures both models around the key from here on.

        The copy is not among the models that a run checks.
        """
        self._look(1, second)
        p = self._params
        self._repeated = Repeated(
            (self._first, second),
            self._key.inputs,
            runs=p.runs,
            samples=p.samples,
            radius=p.radius,
            seed=p.seed,
            batch=p.batch,
        )
        yield from self._repeated
        second.check()

    def _look(self, which: int, classifier: Classifier) -> None:
        """What a model says about the key and about all examined inputs."""
        top = classifier.probs(self._key.inputs, self._params.batch).max(1)
        every = classifier.infer(self._x, self._params.batch).argmax(1)
        answers, self._confidence[which], whole = to_host(top.indices, top.values, every)
        order = self._orders[which]
        self._answers[which], self._whole[which] = order[answers], order[whole]
        self._calls += len(self._x) + len(self._key.inputs)

    def step(self) -> Step[WatermarkResult]:
        """The complete picture now; the first tenth of the progress is fine-tuning."""
        if self._second is not None:
            self._second.check()
        rounds, total = self._params.rounds, 10 * self._params.rounds
        if self._repeated is None:
            return Step(done=self._rounds, total=total, result=self._result())
        return Step(
            done=rounds + round((total - rounds) * self._repeated.calls / self._repeated.total),
            total=total,
            result=self._result(),
        )

    def _result(self) -> WatermarkResult:
        key, p = self._key, self._params
        if self._repeated is None:
            index = np.full((2, p.runs, len(key.inputs)), np.nan)
        else:
            index = self._repeated.index.copy()
        runs = np.isfinite(index).all((0, 2))
        if runs.any():
            known = compare(index[0, runs].ravel(), index[1, runs].ravel())
        else:
            known = None
        return WatermarkResult(
            models=self._names,
            numbers=self._places[key.numbers],
            keys=tuple(self._part.key(int(i)) for i in key.numbers),
            classes=key.classes,
            adversarial=key.adversarial,
            answers=self._answers.copy(),
            confidence=self._confidence.copy(),
            index=index,
            means=np.full(2, np.nan) if known is None else known.means,
            ks_statistic=float("nan") if known is None else known.ks_statistic,
            ks_p=float("nan") if known is None else known.ks_p,
            accuracy=self._accuracy(),
            kept=(
                float((self._whole[0] == self._whole[1]).mean())
                if known is not None
                else float("nan")
            ),
            rounds=self._rounds,
            notable_inputs=(
                key.inputs[:0] if known is None else key.inputs[[int(moves(index).argmax())]]
            ),
            thumbnails=self._thumbnails,
            model_calls=self._calls
            + self._rounds * (len(key.inputs) + KEPT)
            + (self._repeated.calls if self._repeated else 0),
            labels=tuple(self._first.labels),
            kind=self._first.kind,
        )

    def _accuracy(self) -> np.ndarray:
        labels = self._part.labels
        if labels is None or not (labels >= 0).any():
            return np.full(2, np.nan)
        # (2, n).
        right = (self._whole == labels) & (labels >= 0)
        return np.where((self._whole >= 0).all(1), right.sum(1) / (labels >= 0).sum(), np.nan)
