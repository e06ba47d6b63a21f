"""Witness: the model behind some findings, asked again about them and their originals."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from robgui.core.dataset.classes import comparable_name
from robgui.core.dataset.matching import align, inputs, match
from robgui.core.errors import DataError, ModelError, RobguiError
from robgui.core.execution.asking.held import open_held
from robgui.core.execution.loaded_cache import find_file

if TYPE_CHECKING:
    from robgui.core.dataset import Dataset
    from robgui.core.execution.request import Reference, Request
    from robgui.core.finding import StoredFinding
    from robgui.core.model.card import ModelCard
    from robgui.core.workspace import Workspace

Ask = Callable[..., Any]


@dataclass(frozen=True)
class WitnessedInput:
    """An input with its right class and the model's answer; classes by number.

    Attributes:
        x: float32 in [0, 1].
        by: Who says what the right class is.
        source: The input's name.
        finding: The finding, if it is one.
        data: The data of its original.
        place: The number of its original in the data.
    """

    x: np.ndarray
    expected: int
    given: int
    by: Literal["label", "model"]
    source: str
    finding: Any = None
    data: WitnessData | None = None
    place: int | None = None


@dataclass(frozen=True)
class WitnessData:
    """Data as the model takes them."""

    dataset: Dataset
    name: str


@dataclass
class Witness:
    """One model with its findings, and the data they come from.

    Attributes:
        card: The model, with its data's class names and ranges if it has none.
        ask: Asks the process that holds it.
        reference: The model as its runs name it.
        found: Its findings with their runs' requests.
        data: The data, by fingerprint.
        left_out: Why a finding cannot be asked about, a sentence each.
    """

    card: ModelCard
    ask: Ask
    reference: Reference
    found: list[tuple[StoredFinding, Request]] = field(default_factory=list)
    data: dict[str, WitnessData] = field(default_factory=dict)
    left_out: list[str] = field(default_factory=list)

    def analysis(self, finding: StoredFinding) -> str:
        """What found it."""
        return next(request.analysis for one, request in self.found if one.id == finding.id)

    def sources(self) -> list[WitnessData]:
        """The data that the findings come from."""
        return list(self.data.values())

    def findings(self) -> Iterator[WitnessedInput]:
        """The findings that can be asked about, with the model's answer."""
        ready = [seen for one, request in self.found if (seen := self._ready(one, request))]
        # One question for all of them: each is a message to another process.
        given = self._answers([seen.x for seen in ready])
        for seen, answer in zip(ready, given, strict=True):
            yield replace(seen, given=answer)

    def original(self, seen: WitnessedInput) -> WitnessedInput | None:
        """The unchanged input behind a finding; None if there is none or it is the same."""
        if seen.data is None or seen.place is None:
            return None
        found = next(iter(self.asked(seen.data, [seen.place])), None)
        if found is None or np.array_equal(found.x, seen.x):
            return None
        return found

    def asked(self, source: WitnessData, places: Iterable[int]) -> list[WitnessedInput]:
        """Inputs of the data with their right class; unreadable ones are left out."""
        kept, taken = self._readable(source, [int(place) for place in places])
        answers = self._answers(taken)
        return [
            self._seen(source, place, x, given)
            for place, x, given in zip(kept, taken, answers, strict=True)
        ]

    def margins(self, source: WitnessData, places: Iterable[int]) -> np.ndarray:
        """For readable inputs, the probability of the right class minus that of the best other."""
        seen = self.asked(source, places)
        if not seen:
            return np.zeros(0)
        rows = self._probabilities([one.x for one in seen]).astype(np.float64)
        at = np.arange(len(seen)), np.array([one.expected for one in seen])
        right = rows[at]
        # Out of the running, so the maximum is that of the others.
        rows[at] = -np.inf
        return np.asarray(right - rows.max(1))

    def sureness(self, x: np.ndarray) -> float:
        """The probability of the class that the model gives to an input."""
        return float(self._probabilities([x]).max())

    def _readable(
        self, source: WitnessData, places: list[int]
    ) -> tuple[list[int], Sequence[np.ndarray]]:
        """The readable inputs; read one by one only if one of them fails."""
        try:
            return places, list(inputs(self.card, source.dataset, places))
        except DataError:
            if len(places) == 1:
                return [], []
        parts = [self._readable(source, [place]) for place in places]
        return [one for part in parts for one in part[0]], [x for part in parts for x in part[1]]

    def _seen(self, source: WitnessData, place: int, x: np.ndarray, given: int) -> WitnessedInput:
        label = _label(source.dataset, place)
        known = 0 <= label < self.card.classes
        return WitnessedInput(
            x,
            label if known else given,
            given,
            "label" if known else "model",
            f"{source.dataset.key(place)} of {source.name}",
        )

    def _ready(self, finding: StoredFinding, request: Request) -> WitnessedInput | None:
        """A finding with the right class: its label, or else its class before the change."""
        confused = finding.confusion
        if finding.input is None or confused is None:
            self._leave(finding, "it is about no single input that gets a wrong class")
            return None
        x = np.asarray(finding.input, dtype=np.float32)
        if x.shape != tuple(self.card.shape):
            self._leave(finding, "its input is not as the model takes it")
            return None
        names = [comparable_name(label) for label in self.card.labels]
        if comparable_name(confused[0]) not in names:
            self._leave(finding, f"the model has no class “{confused[0]}”")
            return None
        if request.dataset is None:
            source = None
        else:
            source = self.data.get(request.dataset.fingerprint)
        if source is not None:
            place = _place(finding, request)
        else:
            place = None
        expected, by, called = names.index(comparable_name(confused[0])), "model", finding.title
        if source is not None and place is not None and place < len(source.dataset):
            called = f"{source.dataset.key(place)} of {source.name}"
            label = _label(source.dataset, place)
            if 0 <= label < self.card.classes:
                expected, by = label, "label"
        return WitnessedInput(x, expected, -1, by, called, finding, source, place)  # type: ignore[arg-type]

    def _leave(self, finding: StoredFinding, why: str) -> None:
        self.left_out.append(f"{finding.title}: {why}.")

    def _answers(self, xs: Sequence[np.ndarray]) -> list[int]:
        if not xs:
            return []
        return [int(best) for best in self._probabilities(xs).argmax(1)]

    def _probabilities(self, xs: Sequence[np.ndarray]) -> np.ndarray:
        scores = self.ask("scores", model=self.card, topic="guards", x=np.stack(xs))
        return np.asarray(scores.probabilities)


def witnesses(
    workspace: Workspace,
    findings: Sequence[StoredFinding],
    ask: Ask,
    trust: bool | Sequence[str],
) -> list[Witness]:
    """The models of these findings, opened again with their data.

    Raises:
        RobguiError: A model or data are gone, have changed, or are not trusted.
    """
    made: dict[str, Witness] = {}
    for finding in findings:
        request = workspace.run(finding.run_id).request
        wanted = _model(finding, request)
        if wanted.fingerprint not in made:
            card = _open_model(wanted, workspace, ask, trust)
            made[wanted.fingerprint] = Witness(card, ask, wanted)
        witness = made[wanted.fingerprint]
        if witness.card.settings.multi_label:
            witness.left_out.append(f"{finding.title}: a model of several labels has no one class.")
            continue
        witness.found.append((finding, request))
        data = request.dataset
        if data is not None and data.fingerprint not in witness.data:
            dataset = _open_data(data, workspace, ask)
            # Before aligning: the data may bring the class names and ranges that the model lacks.
            witness.card = match(witness.card, dataset, lambda words: None)
            witness.data[data.fingerprint] = WitnessData(align(witness.card, dataset), data.name)
    return list(made.values())


def _model(finding: StoredFinding, request: Request) -> Reference:
    """The model that a finding is about."""
    if not request.models:
        raise ModelError(f"{finding.title}: its run names no model; star another finding.")
    # A run may compare several models; the finding says which of them it is about.
    named = [model for model in request.models if model.name == finding.network]
    return (named or list(request.models))[0]


def _open_model(
    wanted: Reference, workspace: Workspace, ask: Ask, trust: bool | Sequence[str]
) -> ModelCard:
    path = find_file(wanted, workspace)
    card: ModelCard = ask(
        "model",
        path=str(path),
        trust=trust if isinstance(trust, bool) else list(trust),
        device="",
        autocast=False,
        settings=dict(wanted.options),
    )
    if card.fingerprint != wanted.fingerprint:
        raise ModelError(
            f"{path} is no longer the model that the findings are about; put that one back, or"
            " find them again."
        )
    return card


def _open_data(wanted: Reference, workspace: Workspace, ask: Ask) -> Dataset:
    if isinstance(ids := wanted.options.get("derived"), list):
        from robgui.core.dataset.derived import DerivedDataset

        return DerivedDataset(workspace.derived([int(str(one)) for one in ids]))
    dataset = open_held(find_file(wanted, workspace), dict(wanted.options), ask)
    if dataset.fingerprint != wanted.fingerprint:
        raise RobguiError(
            f"{dataset.name} have changed since the findings were made; put them back as they"
            " were, or find them again."
        )
    return dataset


def _place(finding: StoredFinding, request: Request) -> int | None:
    """The input behind a finding, by its number in the data."""
    known = request.indices
    if known is not None and len(known) == 1:
        return known[0]
    if not finding.places:
        return None
    # Places count within the inputs that the run was given, not in the data.
    first = finding.places[0]
    if known is None:
        return first
    if first < len(known):
        return known[first]
    return None


def _label(dataset: Dataset, place: int) -> int:
    """The true class of an input; -1 if unknown."""
    if dataset.labels is None:
        return -1
    return int(dataset.labels[place])
