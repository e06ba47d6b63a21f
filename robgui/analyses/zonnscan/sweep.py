"""zoNNscan radius sweep: how close are other classes to this input, radius by radius?

Jaouen and Le Merrer, "zoNNscan: a boundary-entropy index for zone inspection of neural models". The index of a
zone Z is E[H_C(M(U))] with U uniform on Z (Definition 1), estimated by sampling (Algorithm 1); the sweep over
radii is their Figure 2. Beside the index stand the share of samples that cross into another class and the
entropy of the mean output, because a zone cut by a sharp boundary has an index near 0.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any, Literal

import numpy as np
import torch
from pydantic import Field, field_validator, model_validator
from torch import Tensor

from robgui.analyses.presets import with_preset
from robgui.analyses.zonnscan.clouds import Zone, radius_of, zone_cloud
from robgui.analyses.zonnscan.nearest import Crossing, crossing_samples, nearest_crossing
from robgui.analyses.zonnscan.neighbours import Neighbours
from robgui.analyses.zonnscan.points import FIRST_ROUND, Sampler
from robgui.analyses.zonnscan.scan import Scan
from robgui.analyses.zonnscan.tally import SHOWN, Tally, clopper_pearson, entropy_of, read_scores
from robgui.analyses.zonnscan.words import sweep_findings, sweep_headline, sweep_verdict
from robgui.core.dataset import Dataset, inputs
from robgui.core.errors import DataError
from robgui.core.execution.analysis import Pace, Params, Step, Takes, analysis
from robgui.core.model.classifier import Classifier

#: What the preset ``paper`` sets where the user has set nothing else (Section III: k = 10,000, plain sampling).
PAPER: dict[str, Any] = {"samples": 10_000, "sampler": "plain", "target_half_width": 0.0}


class ZonnscanParams(Params):
    """Settings of a sweep; ``paper`` replaces every setting that is still at its default."""

    preset: Literal["default", "paper"] = Field(
        "default", title="Preset", description="paper: plain sampling, 10,000 samples, no early stop, as published; your own settings win."
    )
    radii: tuple[float, ...] = Field(
        tuple(round(0.05 * i, 2) for i in range(21)),
        title="Radii",
        description="Sizes of the zone around the input, values being from 0 to 1; 0 is the input itself, 1 in linf the whole input space.",
    )
    samples: int = Field(1024, ge=1, le=1_000_000, title="Samples", description="Most samples per radius.")
    sampler: Sampler = Field(
        "sobol",
        title="Sampler",
        description="How samples are spread: sobol is surest for its cost, plain is the paper's, antithetic between them.",
    )
    zone: Zone = Field(
        "linf",
        title="Zone",
        description="linf: every value moves by at most the radius. box: give two inputs, its corners; the radius shrinks it. "
        "l2, l1: balls of these norms within the cube (slower; radii up to the root of the number of values, or that number). "
        "clipped: the whole ball, then cut off at 0 and 1, which piles samples up there.",
    )
    target_half_width: float = Field(
        0.005,
        ge=0,
        le=0.5,
        title="Stop when the band is within ±",
        description="A radius stops when its 95 % interval is this close to the index; 0 never stops early.",
        json_schema_extra={"zero": "never"},
    )

    @model_validator(mode="before")
    @classmethod
    def _as_published(cls, values: Any) -> Any:
        return with_preset(cls, values, {"paper": PAPER})

    @field_validator("radii")
    @classmethod
    def _in_order(cls, radii: tuple[float, ...]) -> tuple[float, ...]:
        if not radii or len(radii) > 1000:
            raise ValueError("give between 1 and 1,000 radii")
        if min(radii) < 0:
            raise ValueError(f"a radius must not be negative, as {min(radii):g} is")
        return tuple(sorted(set(radii)))


@dataclass(frozen=True, slots=True)
class ZonnscanResult:
    """A sweep over R radii for C classes; nan where a radius has no sample yet.

    Attributes:
        radii: ``(R,)`` in rising order.
        index: ``(R,)`` mean entropy of the outputs, in [0, 1].
        ci_low: ``(R,)`` lower end of the index's 95 % interval.
        ci_high: ``(R,)`` upper end.
        mean_confidence: ``(R, C)`` mean output.
        vote_share: ``(R, C)`` share of samples whose class is c.
        crossing: ``(R,)`` share of samples whose class differs from the input's.
        crossing_low: ``(R,)`` lower end of its exact 95 % interval.
        crossing_high: ``(R,)`` upper end.
        entropy_of_mean: ``(R,)`` entropy of the mean output.
        mutual_information: ``(R,)`` entropy of the samples' mean output less their mean entropy: how much they disagree.
        samples: ``(R,)`` samples taken; 1 at radius 0.
        model_calls: Inputs the model has seen.
        crossing_radius: Smallest radius at which a sample crosses, refined by bisection; nan without any.
        witness: ``(1, *shape)`` the sample at that radius, ``(0, *shape)`` without any.
        witness_class: Its class, or -1.
        input: ``(*shape)`` the input, in [0, 1]; the centre of a box.
        input_name: What the dataset calls it.
        predicted: Class of the input.
        labels: Class names.
        shown_class: ``(R, 8)`` classes of the samples that ``zone_samples`` draws again; -1 where there is none.
        kind: image, table or sequence.
        zone: As in the settings.
        sampler: The sampler used, which may stand in for the one asked for.
        seed: As in the settings.
        corners: ``(2, *shape)`` corners of a box, ``(0, *shape)`` otherwise.
    """

    radii: np.ndarray
    index: np.ndarray
    ci_low: np.ndarray
    ci_high: np.ndarray
    mean_confidence: np.ndarray
    vote_share: np.ndarray
    crossing: np.ndarray
    crossing_low: np.ndarray
    crossing_high: np.ndarray
    entropy_of_mean: np.ndarray
    mutual_information: np.ndarray
    samples: np.ndarray
    model_calls: int
    crossing_radius: float
    witness: np.ndarray
    witness_class: int
    input: np.ndarray
    input_name: str
    predicted: int
    labels: tuple[str, ...]
    shown_class: np.ndarray
    kind: str
    zone: Zone
    sampler: Sampler
    seed: int
    corners: np.ndarray


@analysis(
    title="zoNNscan radius sweep",
    question="How close are other classes to this input, radius by radius?",
    verdict=sweep_verdict,
    findings=sweep_findings,
    headline=sweep_headline,
    first_look={"samples": 256},
    takes=lambda params: Takes(fewest_inputs=2, most_inputs=2) if params.zone == "box" else Takes(most_inputs=1),
)
def zonnscan(classifier: Classifier, dataset: Dataset, params: ZonnscanParams) -> Iterator[Step[ZonnscanResult]]:
    """Sweeps one input (or the box between two): every radius first coarsely, then finer until it is sure enough."""
    sweep = _Sweep(classifier, dataset, params)
    pace = Pace()
    for _ in sweep.scan:
        if pace.due():
            yield sweep.step()
    for _ in sweep.refine():
        if pace.due():
            yield sweep.step()
    yield sweep.step()


class _Sweep:
    """Everything a sweep knows while it runs; ``step`` is its picture at any moment."""

    def __init__(self, classifier: Classifier, dataset: Dataset, params: ZonnscanParams) -> None:
        self._classifier = classifier
        self._params = params
        self._corners = corners_of(classifier, dataset, params.zone)
        self._name = " to ".join(dataset.key(i) for i in range(len(dataset)))
        self.centre = self._corners.mean(0, keepdim=True).flatten(1)
        radii = [radius for radius in params.radii if radius > 0]
        self.cloud, self._sampler, self._note = zone_cloud(
            params.zone, self._corners.flatten(1), radii, sampler=params.sampler, samples=params.samples, seed=params.seed
        )
        cap = params.samples // self.cloud.lanes * self.cloud.lanes
        self._multi_label = classifier.settings.multi_label
        self._own = read_scores(classifier.infer(self.centre.reshape(1, *classifier.shape)), self._multi_label)
        self._predicted = int(self._own.top)
        tally = Tally(len(radii), classifier.classes, self.cloud.lanes, cap, self._own.votes, self._multi_label)
        self.scan = Scan(
            classifier,
            self.cloud,
            tally,
            cap=cap,
            target=params.target_half_width,
            batch=params.batch,
            neighbours=Neighbours(len(radii)) if self._sampler == "sobol" else None,
        )
        self.crossing: Crossing | None = None

    def refine(self) -> Iterator[None]:
        """Bisects for the smallest crossing radius; ``crossing`` is the nearest so far after each halving."""
        candidates = crossing_samples(self.scan, self.cloud)
        if candidates is None:
            return
        reach = partial(radius_of, self._params.zone, self._corners.flatten(1))
        for crossing in nearest_crossing(self._classifier, candidates, self.centre, self._own.votes, reach, self._params.batch):
            self.crossing = crossing
            yield

    def step(self) -> Step[ZonnscanResult]:
        """The complete picture now."""
        return Step(done=self.scan.done, total=self.scan.total, result=self._result(), note=self._note)

    def _result(self) -> ZonnscanResult:
        counts = self.scan.tally.counts()
        sampled, half = self.scan.estimates(counts)
        low, high = clopper_pearson(counts.crossed, counts.samples)
        own_confidence, own_index = self._own.confidence.double().cpu().numpy(), self._own.entropy.double().cpu().numpy()
        first = len(self._params.radii) - len(counts.samples)

        def joined(own: np.ndarray | float, rest: np.ndarray) -> np.ndarray:
            """The input's own value where radius 0 was asked for, then the sampled ones."""
            return np.concatenate([np.broadcast_to(own, (first, *rest.shape[1:])), rest])

        radii = np.asarray(self._params.radii)
        index = joined(own_index, sampled)
        mean_confidence = joined(own_confidence, counts.confidence)
        entropy_of_mean = entropy_of(mean_confidence, self._multi_label)
        entropy_of_mean[:first] = own_index
        crossing = joined(0.0, counts.crossing)
        shape = self._classifier.shape
        found = self.crossing if self.crossing and np.isfinite(self.crossing.radius) else None
        coarse = radii[crossing > 0]
        return ZonnscanResult(
            radii=radii,
            index=index,
            ci_low=np.clip(joined(own_index, sampled - half), 0, 1),
            ci_high=np.clip(joined(own_index, sampled + half), 0, 1),
            mean_confidence=mean_confidence,
            vote_share=joined(self._own.votes.double().cpu().numpy(), counts.votes),
            crossing=crossing,
            crossing_low=joined(0.0, low),
            crossing_high=joined(0.0, high),
            entropy_of_mean=entropy_of_mean,
            mutual_information=np.maximum(entropy_of_mean - joined(own_index, counts.index), 0),
            samples=joined(1, counts.samples).astype(np.int64),
            model_calls=1 + int(counts.samples.sum()) + (self.crossing.calls if self.crossing else 0),
            crossing_radius=found.radius if found else float(coarse.min()) if len(coarse) else float("nan"),
            witness=found.witness.reshape(1, *shape) if found else np.zeros((0, *shape), dtype=np.float32),
            witness_class=found.klass if found else -1,
            input=self.centre.reshape(shape).cpu().numpy(),
            input_name=self._name,
            predicted=self._predicted,
            labels=tuple(self._classifier.labels),
            shown_class=self._shown(first),
            kind=self._classifier.kind,
            zone=self._params.zone,
            sampler=self._sampler,
            seed=self._params.seed,
            corners=self._corners.cpu().numpy() if self._params.zone == "box" else np.zeros((0, *shape), dtype=np.float32),
        )

    def _shown(self, first: int) -> np.ndarray:
        shown = self.scan.tally.shown.cpu().numpy()
        padded = np.full((first + len(shown), SHOWN), -1, dtype=np.int64)
        padded[first:, : shown.shape[1]] = shown
        padded[:first] = self._predicted
        return padded


def corners_of(classifier: Classifier, dataset: Dataset, zone: Zone) -> Tensor:
    """The one input of the dataset, or the two corners of a box, as ``(1 or 2, *shape)`` on the device."""
    wanted = 2 if zone == "box" else 1
    if len(dataset) != wanted:
        words = "two inputs, the corners of the box" if zone == "box" else "one input"
        raise DataError(
            f"A zoNNscan sweep of zone {zone} takes exactly {words}, not {len(dataset):,}; choose them in the gallery or with --index."
        )
    x = classifier.tensor(inputs(classifier, dataset))
    return x.clamp(0, 1)


def zone_samples(result: ZonnscanResult, radius: float, count: int = SHOWN) -> np.ndarray:
    """The first samples ``(count, *shape)`` of the zone with this radius, as the run drew them; at most 32.

    At a radius of the sweep their classes are in ``shown_class``.
    """
    shape = result.input.shape
    corners = torch.from_numpy(result.corners if len(result.corners) else result.input[None]).flatten(1)
    if radius <= 0:
        return np.repeat(result.input[None], count, axis=0)
    samples = int(result.samples.max())
    cloud, _, _ = zone_cloud(result.zone, corners, [radius], sampler=result.sampler, samples=samples, seed=result.seed)
    zone = torch.zeros(1, dtype=torch.int64, device=corners.device)
    block = cloud.block(0, min(FIRST_ROUND, samples // cloud.lanes * cloud.lanes), zone)
    for _ in block.prepare():
        continue
    return np.asarray(block.at(zone)[0, :count].reshape(-1, *shape).numpy())
