"""An analysis is a generator of complete results; this module is the contract and the registry.

An engine is a function ``(classifier, dataset, params) -> Iterator[Step[Result]]``. Each Step holds a
*complete* result, never a delta, so that dropping, pausing and stopping are always right.
"""

from __future__ import annotations

import importlib
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Generic, Literal, TypeVar, get_args, get_type_hints

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from robgui.core.errors import DataError, ModelError, ParamsError, Remedy, RobguiError
from robgui.core.execution.params_problems import hint, sentence

if TYPE_CHECKING:
    from robgui.core.finding import Finding
    from robgui.core.headline import Headline

R = TypeVar("R")

#: Packages that register analyses, in the order of the rail.
PACKAGES = ("zonnscan", "semantic", "feature_game", "deepinspect", "last_particle")


@dataclass(frozen=True, slots=True)
class Step(Generic[R]):
    """A complete picture on the way: ``done`` of ``total`` units of work and the result so far."""

    done: int
    total: int | None
    result: R
    note: str = ""


class Params(BaseModel):
    """Settings of an analysis: the only source of form, command-line option, validation and record.

    A field may tell its form more with ``json_schema_extra``: ``rare`` (True: it stands behind "More"), ``empty`` (what
    an empty text means, such as "all") and ``zero`` (what 0 means, such as "no limit").
    """

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)

    seed: int = Field(0, ge=0, le=2**63 - 1, title="Seed", description="Start of the random numbers; same seed, same result.")
    batch: int = Field(
        0,
        ge=0,
        le=1_000_000,
        title="Batch",
        description="Inputs per model call; 0 lets the program choose. Never changes the result.",
        json_schema_extra={"zero": "automatic"},
    )

    @classmethod
    def parse(cls, values: dict[str, Any]) -> Params:
        """Validates ``values``; the error is one sentence that names the field and its bounds."""
        try:
            return cls.model_validate(values)
        except ValidationError as error:
            raise ParamsError(sentence(cls.model_fields, error)) from error


@dataclass(frozen=True)
class Takes:
    """What an analysis takes with its present settings; None means any number.

    Attributes:
        needs: Capabilities the model in use must have, beyond those the analysis always needs.
    """

    fewest_models: int = 1
    most_models: int | None = None
    fewest_inputs: int = 1
    most_inputs: int | None = None
    needs: frozenset[str] = frozenset()


@dataclass(frozen=True)
class Shards:
    """How one request is computed in parts, perhaps on several machines, and put together again, exactly.

    The work of a request is a row of units numbered from 0, and a part is a range of them. What a unit is (its
    input, its random numbers) depends on the request and on the unit's number alone, never on the part it is in:
    then the merged result is that of the whole, up to the rounding of a model that sees other batches.

    Attributes:
        units: ``(params, inputs) -> count``: how many units there are, given the number of inputs.
        engine: ``(classifier, dataset, params, part) -> Iterator[Step]``: the engine for the units of the range
            ``part`` only. Its last result may be of any dataclass; nobody but ``merge`` sees it.
        merge: ``(classifier, dataset, params, results) -> result``: the analysis' own result from those of all parts,
            in their order, with the same classifier and dataset as the engine of the whole would get.
    """

    units: Callable[[Any, int], int]
    engine: Callable[[Any, Any, Any, range], Iterator[Step[Any]]]
    merge: Callable[[Any, Any, Any, Sequence[Any]], Any]

    def split(self, params: Params, inputs: int, most: int) -> list[range]:
        """At most ``most`` ranges of about equal length that together hold every unit once."""
        units = self.units(params, inputs)
        parts = max(1, min(most, units))
        return [range(units * i // parts, units * (i + 1) // parts) for i in range(parts)]


@dataclass(frozen=True)
class Analysis:
    """One way of probing: the engine with everything the window and the command line need to know of it."""

    name: str
    title: str
    question: str
    engine: Callable[..., Iterator[Step[Any]]]
    params: type[Params]
    result: type[Any]
    verdict: Callable[[Any], str]
    findings: Callable[[Any], Sequence[Finding]]
    needs: frozenset[str]
    kinds: frozenset[str]
    several_models: bool
    inputs: Literal["one", "many", "none"]
    takes: Callable[[Any], Takes]
    shards: Shards | None = None
    headline: Callable[[Any], Headline] | None = None
    first_look: Mapping[str, Any] | None = None

    def part(self, units: range) -> Analysis:
        """The same analysis for some of the units only; what it finds says nothing until the parts are merged."""
        shards = self._splits()

        def engine(classifier: Any, dataset: Any, params: Any) -> Iterator[Step[Any]]:
            return shards.engine(classifier, dataset, params, units)

        result = _result_of(shards.engine)
        return replace(self, engine=engine, result=result, verdict=lambda result: "", findings=lambda result: ())

    def merging(self, steps: Sequence[Step[Any]]) -> Analysis:
        """The same analysis with nothing left to do but to merge the last Steps of its parts."""
        shards = self._splits()

        def engine(classifier: Any, dataset: Any, params: Any) -> Iterator[Step[Any]]:
            result = shards.merge(classifier, dataset, params, [step.result for step in steps])
            yield Step(sum(step.done for step in steps), sum(step.total or 0 for step in steps) or None, result, steps[0].note)

        return replace(self, engine=engine)

    def _splits(self) -> Shards:
        if self.shards is None:
            raise ParamsError(f"{self.title} cannot be split into parts; run it whole.")
        return self.shards

    def looks_at_data(self, params: Params) -> bool:
        """Whether these settings need a dataset at all; a rendered scene needs none."""
        return self.inputs != "none" and self.takes(params).most_inputs != 0

    def refusal(self, classifier: Any) -> str:
        """Why this analysis cannot work on ``classifier``; empty when it can."""
        if classifier.kind not in self.kinds:
            return f"{self.title} works on {' and '.join(sorted(self.kinds))} models; {classifier.name} is a {classifier.kind} model."
        return self._lack(classifier, self.needs)

    def shortage(self, params: Params, classifiers: Sequence[Any], inputs: int) -> RobguiError | None:
        """What is missing or too much for these settings, with what would help; None when all is there."""
        takes = self.takes(params)
        if len(classifiers) < takes.fewest_models:
            lack = f"{self.title} needs {_count(takes.fewest_models)} models that fit the same data."
            return ModelError(lack, remedy=Remedy.MORE_MODELS)
        if inputs < takes.fewest_inputs:
            lack = f"With these settings {self.title} takes {_count(takes.fewest_inputs)} inputs."
            return DataError(lack, remedy=Remedy.MORE_INPUTS)
        if takes.most_inputs and inputs > takes.most_inputs:
            excess = f"With these settings {self.title} takes {_count(takes.most_inputs)} input."
            return DataError(excess, remedy=Remedy.FEWER_INPUTS)
        lack = self._lack(classifiers[0], takes.needs) if classifiers else ""
        return ModelError(lack) if lack else None

    def _lack(self, classifier: Any, needs: frozenset[str]) -> str:
        for need in sorted(needs):
            if not getattr(classifier.capabilities, need):
                return f"{self.title} needs {need}, which {classifier.name} cannot give: {classifier.capabilities.reason.rstrip('.')}."
        return ""


_REGISTRY: dict[str, Analysis] = {}


def analysis(
    *,
    title: str,
    question: str,
    verdict: Callable[[Any], str],
    findings: Callable[[Any], Sequence[Finding]] = lambda result: (),
    needs: Sequence[Literal["gradients", "activations"]] = (),
    kinds: Sequence[Literal["image", "table", "sequence"]] = ("image", "table", "sequence"),
    several_models: bool = False,
    inputs: Literal["one", "many", "none"] = "one",
    takes: Callable[[Any], Takes] | None = None,
    shards: Shards | None = None,
    headline: Callable[[Any], Headline] | None = None,
    first_look: Mapping[str, Any] | None = None,
) -> Callable[[Callable[..., Iterator[Step[R]]]], Callable[..., Iterator[Step[R]]]]:
    """Registers an engine under its function name.

    Args:
        title: Name shown to people.
        question: The question it answers, one sentence.
        verdict: Result -> one sentence in words: what was found, how sure, what it cost.
        findings: Result -> failures worth showing.
        needs: Capabilities the classifier must have.
        kinds: Kinds of input it understands.
        several_models: The engine takes a tuple of classifiers instead of one.
        inputs: Whether it looks at the one input the user points at, at many, or at none.
        takes: Params -> how many models and inputs it takes; by default any number of models, and one input or many.
        shards: How a request splits into parts; by default it does not.
        headline: Result -> the one number it comes down to; by default there is none.
        first_look: Settings for a look of about ten seconds, when everything is inspected at once; None leaves the analysis out.
    """

    def register(engine: Callable[..., Iterator[Step[R]]]) -> Callable[..., Iterator[Step[R]]]:
        hints = get_type_hints(engine)
        name = engine.__name__
        _REGISTRY[name] = Analysis(
            name=name,
            title=title,
            question=question,
            engine=engine,
            params=hints["params"],
            result=_result_of(engine),
            verdict=verdict,
            findings=findings,
            needs=frozenset(needs),
            kinds=frozenset(kinds),
            several_models=several_models,
            inputs=inputs,
            takes=takes or (lambda params: Takes(most_inputs=1 if inputs == "one" else None)),
            shards=shards,
            headline=headline,
            first_look=first_look,
        )
        return engine

    return register


def analyses() -> dict[str, Analysis]:
    """Every registered analysis by name, in the order of the rail."""
    for package in PACKAGES:
        importlib.import_module(f"robgui.analyses.{package}")
    return dict(_REGISTRY)


def find(name: str) -> Analysis:
    """The analysis called ``name`` (``-`` and ``_`` are the same)."""
    known = analyses()
    try:
        return known[name.replace("-", "_")]
    except KeyError:
        advice = hint(name.replace("-", "_"), known, f"choose one of: {', '.join(known)}.")
        raise ParamsError(f"There is no analysis {name!r}; {advice}") from None


class Pace:
    """Says when the next Step is due, so that an engine neither floods nor starves its listener.

    Ask it after each batch: the first answer is yes, so that the first picture comes at once.
    """

    def __init__(self, seconds: float = 0.05) -> None:
        self._seconds = seconds
        self._next = 0.0

    def due(self) -> bool:
        """True at most once every ``seconds``."""
        now = time.monotonic()
        if now < self._next:
            return False
        self._next = now + self._seconds
        return True


def _result_of(engine: Callable[..., Any]) -> Any:
    """What the Steps of an engine hold, as it is annotated."""
    (step,) = get_args(get_type_hints(engine)["return"])
    (result,) = get_args(step)
    return result


def _count(number: int) -> str:
    return {1: "one", 2: "two", 3: "three"}.get(number, str(number))
