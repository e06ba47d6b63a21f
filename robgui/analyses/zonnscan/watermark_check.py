"""zoNNscan watermark: does the index tell a model from its watermarked copy?

Section III-D of the paper: the index around the inputs of a watermark key in repeated runs, under the model and under
a copy that carries the watermark. The copy is made here, or two models that are loaded already are compared.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from pydantic import Field, model_validator

from robgui.analyses.choosing import chosen_places
from robgui.analyses.presets import with_preset
from robgui.analyses.zonnscan.disagreement import class_orders
from robgui.analyses.zonnscan.exhibits import thumbnails
from robgui.analyses.zonnscan.population_words import SURE
from robgui.analyses.zonnscan.populations import compare, true_classes
from robgui.analyses.zonnscan.watermark import KEPT, Key, Repeated, Stitching, make_key
from robgui.analyses.zonnscan.words import enlarged
from robgui.core.dataset import Dataset, align, inputs
from robgui.core.dataset.picture import picture_of
from robgui.core.errors import DataError, ModelError
from robgui.core.execution.analysis import Pace, Params, Step, Takes, analysis
from robgui.core.finding import Finding
from robgui.core.model.classifier import Classifier
from robgui.core.text.words import count, number, percent

#: Keys of 100 inputs, 100 runs of 1,000 samples.
_PAPER: dict[str, Any] = {"size": 100, "runs": 100, "samples": 1000}


class WatermarkParams(Params):
    """Settings of a watermark check; ``paper`` replaces every setting that is still at its default."""

    preset: Literal["default", "paper"] = Field(
        "default", title="Preset", description="paper: 100 key inputs, 100 runs, 1,000 samples, as published; your own settings win."
    )
    mode: Literal["make", "compare"] = Field(
        "make",
        title="Mode",
        description="make: mark a copy of the model and compare the two. compare: compare the first two models, making nothing.",
    )
    size: int = Field(40, ge=2, le=10_000, title="Key inputs", description="Size of the key; with compare, how many inputs are compared.")
    inputs: int = Field(
        500,
        ge=0,
        le=1_000_000,
        title="Inputs",
        description="The key is made from at most so many inputs, chosen at random; 0 takes all.",
        json_schema_extra={"zero": "all"},
    )
    eps: float = Field(0.1, ge=0, le=1, title="Attack size", description="How far the key inputs are moved towards the boundary, 0 to 1.")
    rounds: int = Field(200, ge=1, le=100_000, title="Rounds", description="Most steps of fine-tuning.")
    rate: float = Field(0.001, gt=0, le=1, title="Learning rate", description="Size of these steps.")
    runs: int = Field(5, ge=1, le=10_000, title="Runs", description="How often the index around each key input is measured.")
    samples: int = Field(64, ge=2, le=1_000_000, title="Samples", description="Samples per run and input.")
    radius: float = Field(0.025, gt=0, title="Radius", description="Size of the zone around every key input.")

    @model_validator(mode="before")
    @classmethod
    def _as_published(cls, values: Any) -> Any:
        return with_preset(cls, values, {"paper": _PAPER})


@dataclass(frozen=True, slots=True)
class WatermarkResult:
    """Two models on n key inputs.

    Attributes:
        mode: As in the settings.
        models: Names of the model and of its copy, or of the two models.
        numbers: ``(n,)`` place of each key input's original among the inputs given.
        keys: ``(n,)`` what the dataset calls it.
        classes: ``(n,)`` true classes.
        adversarial: ``(n,)`` bool: fools the first model by design.
        answers: ``(2, n)`` class each model gives; -1 for a copy that is not made yet.
        confidence: ``(2, n)`` and how sure it is.
        index: ``(2, runs, n)`` of every run; nan where there is none yet.
        means: ``(2,)`` mean index of each model.
        ks_statistic: Largest distance of the two distribution functions over all values.
        ks_p: Two-sample Kolmogorov-Smirnov p value.
        accuracy: ``(2,)`` share of the inputs looked at that each model gets right; nan without labels.
        kept: Share of them that have the same answer from both.
        rounds: Steps of fine-tuning done.
        radius: As in the settings.
        notable_inputs: ``(W, *shape)`` the key input whose index has moved most, in [0, 1].
        thumbnails: ``(n, h, w, 3)`` uint8, small pictures of the key inputs.
        model_calls: Inputs the models have seen.
        labels: Class names.
        kind: image, table or sequence.
    """

    mode: Literal["make", "compare"]
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
    radius: float
    notable_inputs: np.ndarray
    thumbnails: np.ndarray
    model_calls: int
    labels: tuple[str, ...]
    kind: str

    @property
    def back(self) -> int:
        """How many of the adversarial key inputs the second model puts into their class."""
        return int((self.adversarial & (self.answers[1] == self.classes)).sum())


def watermark_verdict(result: WatermarkResult) -> str:
    """Whether the index tells the two models apart, what the watermark cost in accuracy, and the model calls."""
    if np.isnan(result.means).any():
        return f"Fine-tuning a copy of {result.models[0]} on {count(len(result.keys), 'key input')}: {count(result.rounds, 'step')} so far."
    means = f"mean {number(float(result.means[1]))} against {number(float(result.means[0]))}"
    verb = "tells" if result.ks_p < SURE else "does not tell"
    second = "the watermarked copy" if result.mode == "make" else result.models[1]
    found = (
        f"The index {verb} {second} from {result.models[0]} on {count(len(result.keys), 'input')}: {means}, KS p = {number(result.ks_p)}."
    )
    return f"{found}{_cost(result)} {result.model_calls:,} model calls."


def _cost(result: WatermarkResult) -> str:
    made = ""
    if result.mode == "make":
        adversarial = int(result.adversarial.sum())
        made = (
            f" {result.back} of {count(adversarial, 'adversarial key input')} are back in their class after {count(result.rounds, 'step')}."
        )
    if np.isnan(result.accuracy).any():
        return f"{made} {percent(result.kept)} of the inputs keep their answer."
    return f"{made} Accuracy {percent(float(result.accuracy[0]))} and {percent(float(result.accuracy[1]))}."


def watermark_findings(result: WatermarkResult) -> list[Finding]:
    """One finding when the index tells the two models apart: their boundaries differ."""
    if not result.ks_p < SURE or not len(result.notable_inputs):
        return []
    (x,), moved = result.notable_inputs, moves(result.index)
    place = int(moved.argmax())
    before, after = (result.labels[c] for c in result.answers[:, place])
    what = "the boundary has moved" if result.mode == "make" else f"the boundary is not that of {result.models[0]}"
    title = f"{result.models[1]}: {what}, most around {result.keys[place]} (index {number(float(moved[place]))} apart)"
    detail = {
        "models": list(result.models),
        "ks_p": result.ks_p,
        "means": result.means.tolist(),
        "answers": [before, after],
        "place": int(result.numbers[place]),
        "back": result.back,
    }
    return [Finding("changed boundary", title, float(result.ks_statistic), detail, enlarged(picture_of(x, result.kind)), x)]


def moves(index: np.ndarray) -> np.ndarray:
    """How far the mean index of each key input ``(n,)`` differs between the models; 0 where it is not known yet."""
    runs = np.isfinite(index).all((0, 2))
    if not runs.any():
        return np.zeros(index.shape[2])
    return np.asarray(np.abs(index[1, runs].mean(0) - index[0, runs].mean(0)))


def _takes(params: WatermarkParams) -> Takes:
    if params.mode == "compare":
        return Takes(fewest_models=2, most_models=2)
    return Takes(most_models=1, needs=frozenset({"gradients"}))


@analysis(
    title="zoNNscan watermark",
    question="Does the index tell a model from its watermarked copy, or two models from each other?",
    verdict=watermark_verdict,
    findings=watermark_findings,
    several_models=True,
    inputs="many",
    takes=_takes,
)
def zonnscan_watermark(classifiers: tuple[Classifier, ...], dataset: Dataset, params: WatermarkParams) -> Iterator[Step[WatermarkResult]]:
    """Marks a copy of the model (or takes the second model) and measures the index of both around the key inputs."""
    check = _Check(classifiers, dataset, params)
    pace = Pace()
    for _ in check:
        if pace.due():
            yield check.step()
    yield check.step()


class _Check:
    """Everything a check knows while it runs; ``step`` is its picture at any moment."""

    def __init__(self, classifiers: tuple[Classifier, ...], dataset: Dataset, params: WatermarkParams) -> None:
        self._first, self._params = classifiers[0], params
        make = params.mode == "make"
        if not make and len(classifiers) < 2:
            raise ModelError("A comparison needs two models; load another one, or let the program make a watermarked copy.")
        if not len(dataset):
            raise DataError("A watermark check needs inputs; choose some in the gallery or with --select.")
        self._places = chosen_places(len(dataset), params.inputs if make else params.size, params.seed)
        self._part = align(self._first, dataset.subset(self._places))
        self._x = np.clip(inputs(self._first, self._part), 0, 1)
        self._stitching: Stitching | None = None
        self._second = None if make else classifiers[1]
        self._names = (self._first.name, f"{self._first.name}, watermarked" if make else classifiers[1].name)
        self._key = self._make_key() if make else self._plain_key()
        self._thumbnails = thumbnails(self._key.inputs, self._first.kind)
        self._answers, self._confidence = np.full((2, len(self._key.inputs)), -1), np.zeros((2, len(self._key.inputs)))
        self._whole = np.full((2, len(self._x)), -1)
        self._orders = class_orders([self._first, self._second or self._first])
        self._rounds, self._calls = 0, 5 * len(self._x) if make else len(self._x)  # classes, attack and what shall be kept
        self._look(0, self._first)
        self._repeated: Repeated | None = None

    def _make_key(self) -> Key:
        classes = true_classes(self._first, self._part, self._first.tensor(self._x)).cpu().numpy()
        p = self._params
        nothing = Key(self._x[:0], classes[:0], np.zeros(0, dtype=bool), np.zeros(0, dtype=np.int64))
        Stitching(self._first, nothing)  # refuses what cannot be marked before any time is spent
        key = make_key(self._first, self._x, classes, p.size, p.eps, p.batch)
        self._stitching = Stitching(self._first, key, rounds=p.rounds, rate=p.rate, kept=self._x, seed=p.seed)
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
        self._look(1, self._second)
        p = self._params
        self._repeated = Repeated(
            (self._first, self._second), self._key.inputs, runs=p.runs, samples=p.samples, radius=p.radius, seed=p.seed, batch=p.batch
        )
        yield from self._repeated

    def _look(self, which: int, classifier: Classifier) -> None:
        """What a model says about the key and about all inputs looked at."""
        top = classifier.probs(self._key.inputs, self._params.batch).max(1)
        self._answers[which], self._confidence[which] = self._orders[which][top.indices.cpu().numpy()], top.values.cpu().numpy()
        self._whole[which] = self._orders[which][classifier.infer(self._x, self._params.batch).argmax(1).cpu().numpy()]
        self._calls += len(self._x) + len(self._key.inputs)

    def step(self) -> Step[WatermarkResult]:
        """The complete picture now; the first tenth of the way is fine-tuning."""
        rounds, total = self._params.rounds, 10 * self._params.rounds
        if self._repeated is None:
            return Step(done=self._rounds, total=total, result=self._result())
        return Step(done=rounds + round((total - rounds) * self._repeated.calls / self._repeated.total), total=total, result=self._result())

    def _result(self) -> WatermarkResult:
        key, p = self._key, self._params
        index = np.full((2, p.runs, len(key.inputs)), np.nan) if self._repeated is None else self._repeated.index.copy()
        runs = np.isfinite(index).all((0, 2))
        known = compare(index[0, runs].ravel(), index[1, runs].ravel()) if runs.any() else None
        return WatermarkResult(
            mode=p.mode,
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
            kept=float((self._whole[0] == self._whole[1]).mean()) if known is not None else float("nan"),
            rounds=self._rounds,
            radius=p.radius,
            notable_inputs=key.inputs[:0] if known is None else key.inputs[[int(moves(index).argmax())]],
            thumbnails=self._thumbnails,
            model_calls=self._calls + self._rounds * (len(key.inputs) + KEPT) + (self._repeated.calls if self._repeated else 0),
            labels=tuple(self._first.labels),
            kind=self._first.kind,
        )

    def _accuracy(self) -> np.ndarray:
        labels = self._part.labels
        if labels is None or not (labels >= 0).any():
            return np.full(2, np.nan)
        right = (self._whole == labels) & (labels >= 0)
        return np.where((self._whole >= 0).all(1), right.sum(1) / (labels >= 0).sum(), np.nan)
