"""Analysis: an engine with its verdict, views, findings and settings.

An engine is a generator ``(classifier, dataset, params) -> Iterator[Step[Result]]``. Each Step
holds a *complete* result, never a delta, which makes dropping, pausing and stopping always correct.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Literal, TypeVar, get_args, get_type_hints

from robgui.core.errors import DataError, ModelError, ParamsError, Remedy, RobguiError
from robgui.core.execution.budget.cost import Calls, Subject
from robgui.core.execution.deferred import Deferred, deferred
from robgui.core.execution.export import Export
from robgui.core.execution.params.params import Params
from robgui.core.execution.step import Pace, Step
from robgui.core.verdict import Status, Verdict

if TYPE_CHECKING:
    from robgui.core.finding import Finding
    from robgui.core.offer import Offer
    from robgui.core.view import View

#: What the author of a method needs, in one place.
__all__ = [
    "Analysis",
    "Demo",
    "Pace",
    "Params",
    "Requirements",
    "Shards",
    "Step",
    "analysis",
    "deferred",
]

R = TypeVar("R")
Kind = Literal["image", "table", "sequence"]
KINDS: tuple[Kind, ...] = ("image", "table", "sequence")


@dataclass(frozen=True)
class Requirements:
    """What an analysis takes with its current settings; None means any number.

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
    """How a request is computed in parts, perhaps on several machines, and merged exactly.

    The work of a request is a row of units numbered from 0, and a part is a range of them. A unit's
    input and random numbers depend only on the request and the unit's number, never on its part.
    The merged result therefore equals that of the whole, up to rounding in a model that sees other
    batches.

    Attributes:
        units: ``(params, inputs) -> count``: how many units there are, given the number of inputs.
        engine: ``(classifier, dataset, params, part) -> Iterator[Step]``: the engine for the units
            of the range ``part`` only. Its last result may be any dataclass; only ``merge`` sees
            it.
        merge: ``(classifier, dataset, params, results) -> result``: the analysis' own result from
            those of all parts, in order, with the same classifier and dataset as the engine of the
            whole would get.
        going_on: ``(classifier, dataset, params, result) -> Iterator[Step]``: the engine of the
            whole, continuing after the first units, whose result is ``result``. None if it always
            starts over.
        kept: The dataclass of that result; the window must be able to import it without torch.
    """

    units: Callable[[Any, int], int]
    engine: Callable[[Any, Any, Any, range], Iterator[Step[Any]]]
    merge: Callable[[Any, Any, Any, Sequence[Any]], Any]
    going_on: Callable[[Any, Any, Any, Any], Iterator[Step[Any]]] | None = None
    kept: type[Any] | None = None

    def split(self, params: Params, inputs: int, most: int) -> list[range]:
        """At most ``most`` ranges of about equal length that together hold every unit once."""
        units = self.units(params, inputs)
        parts = max(1, min(most, units))
        # In integers: each part begins exactly where the one before it ends.
        return [range(units * i // parts, units * (i + 1) // parts) for i in range(parts)]


@dataclass(frozen=True)
class Demo:
    """What the tour runs an analysis on: demo files, an input and short settings.

    The window's demo begins with the one that ``opens`` it. ``guided`` says whether the
    three-minute guide stops there.
    """

    model: str
    data: str
    index: int | None = None
    params: Mapping[str, Any] = field(default_factory=dict)
    opens: bool = False
    guided: bool = True


def nothing(result: Any, params: Any) -> tuple[()]:
    """For an analysis without findings or offers."""
    return ()


@dataclass(frozen=True)
class Analysis:
    """One question that a method answers, with everything the program needs to know about it.

    Attributes:
        name: As in Python; the command line writes ``-`` for ``_``.
        title: Name shown to people.
        question: The question it answers, one sentence.
        engine: ``(classifier, dataset, params) -> Iterator[Step[Result]]``; see ``deferred``.
        params: Its settings.
        result: The frozen dataclass that its Steps hold.
        verdict: ``(result, params) -> Verdict``: what a result says.
        views: ``(result, params) -> Views``: what it looks like; the first is the picture of the
            analysis.
        findings: ``(result, params)`` -> failures worth showing.
        severity_means: How it rates the severity of a finding, one sentence.
        offers: ``(result, params)`` -> inputs that another analysis may examine.
        tab: Its tab's title among its method's tabs; if empty, ``title``.
        invitation: What the empty panel says: what it does and what to press.
        explanation: "What am I looking at?", for a person who has not read the paper.
        needs: Capabilities the classifier must have.
        kinds: Kinds of input it understands.
        several_models: The engine takes a tuple of classifiers instead of one.
        inputs: Whether it examines the one input the user points at, many, or none.
        takes_with: Params -> how many models and inputs it takes; None takes any number of models,
            and one input or many.
        shards: How a request splits into parts; None if it does not.
        first_look: Settings for a run of about ten seconds, for "inspect everything"; None leaves
            it out.
        made_inputs: Settings for inputs made by another analysis, which the model may already
            misclassify.
        demo: What the tour shows of it; None leaves it out.
        calls: ``(params, subject)`` -> how many inputs its models see, see ``cost``; None if
            unknown.
        export: What a run can export besides pictures and numbers; None for nothing.
        coverage: ``result`` -> how many inputs it looked at and of how many on offer; None if at
            all of them.
    """

    name: str
    title: str
    question: str
    engine: Callable[..., Iterator[Step[Any]]]
    params: type[Params]
    result: type[Any]
    verdict: Callable[[Any, Any], Verdict]
    views: Callable[[Any, Any], Sequence[View]]
    findings: Callable[[Any, Any], Sequence[Finding]] = nothing
    offers: Callable[[Any, Any], Sequence[Offer]] = nothing
    tab: str = ""
    invitation: str = ""
    explanation: str = ""
    needs: frozenset[str] = frozenset()
    kinds: frozenset[str] = frozenset(KINDS)
    several_models: bool = False
    inputs: Literal["one", "many", "none"] = "one"
    takes_with: Callable[[Any], Requirements] | None = None
    shards: Shards | None = None
    first_look: Mapping[str, Any] | None = None
    severity_means: str = ""
    made_inputs: Mapping[str, Any] = field(default_factory=dict)
    demo: Demo | None = None
    calls: Callable[[Any, Subject], Calls] | None = None
    export: Export | None = None
    coverage: Callable[[Any], tuple[int, int]] | None = None

    def takes(self, params: Params) -> Requirements:
        """How many models and inputs it takes with these settings."""
        if self.takes_with is not None:
            return self.takes_with(params)
        return Requirements(most_inputs=1 if self.inputs == "one" else None)

    def import_words(self) -> None:
        """Imports what says and shows its results; the first of them then need not wait for it."""
        for part in (self.calls, self.verdict, self.views, self.findings, self.offers):
            if isinstance(part, Deferred):
                part.load()

    def part(self, units: range) -> Analysis:
        """The same analysis for some of the units.

        Its result means nothing until the parts are merged.
        """
        shards = self._splits()

        def engine(classifier: Any, dataset: Any, params: Any) -> Iterator[Step[Any]]:
            return shards.engine(classifier, dataset, params, units)

        return replace(
            self,
            engine=engine,
            result=_result_of(shards.engine),
            verdict=_of_a_part,
            views=nothing,
            findings=nothing,
            offers=nothing,
            coverage=None,
        )

    def merging(self, steps: Sequence[Step[Any]]) -> Analysis:
        """The same analysis with only the merging of its parts' last Steps left to do."""
        shards = self._splits()

        def engine(classifier: Any, dataset: Any, params: Any) -> Iterator[Step[Any]]:
            result = shards.merge(classifier, dataset, params, [step.result for step in steps])
            yield Step(
                sum(step.done for step in steps),
                sum(step.total or 0 for step in steps) or None,
                result,
                steps[0].note,
                any(step.cut for step in steps),
            )

        return replace(self, engine=engine)

    def going_on(self, kept: Any) -> Analysis:
        """The same analysis, continuing after the units that an interrupted run computed."""
        go_on = self._splits().going_on
        assert go_on is not None

        def engine(classifier: Any, dataset: Any, params: Any) -> Iterator[Step[Any]]:
            return go_on(classifier, dataset, params, kept)

        return replace(self, engine=engine)

    @property
    def kept(self) -> type[Any] | None:
        """The type of what its Steps keep for a restart; None if it always starts over."""
        if self.shards is None:
            return None
        return self.shards.kept

    def _splits(self) -> Shards:
        if self.shards is None:
            raise ParamsError(f"{self.title} cannot be split into parts; run it whole.")
        return self.shards

    def looks_at_data(self, params: Params) -> bool:
        """Whether these settings need a dataset; a rendered scene needs none."""
        return self.inputs != "none" and self.takes(params).most_inputs != 0

    def refusal(self, classifier: Any) -> str:
        """Why this analysis cannot work on ``classifier``; empty when it can."""
        if classifier.kind not in self.kinds:
            return (
                f"{self.title} works on {' and '.join(sorted(self.kinds))} models;"
                f" {classifier.name} is a {classifier.kind} model."
            )
        return self._lack(classifier, self.needs)

    def shortage(
        self, params: Params, classifiers: Sequence[Any], inputs: int
    ) -> RobguiError | None:
        """What is missing or too much for these settings, with a remedy; None if all is well."""
        takes = self.takes(params)
        if len(classifiers) < takes.fewest_models:
            lack = (
                f"{self.title} needs {_count(takes.fewest_models)} models that fit the same data."
            )
            return ModelError(lack, remedy=Remedy.MORE_MODELS)
        if inputs < takes.fewest_inputs:
            lack = f"With these settings {self.title} takes {_count(takes.fewest_inputs)} inputs."
            return DataError(lack, remedy=Remedy.MORE_INPUTS)
        if takes.most_inputs and inputs > takes.most_inputs:
            excess = f"With these settings {self.title} takes {_count(takes.most_inputs)} input."
            return DataError(excess, remedy=Remedy.FEWER_INPUTS)
        if classifiers:
            lack = self._lack(classifiers[0], takes.needs)
        else:
            lack = ""
        if lack:
            return ModelError(lack)
        return None

    def _lack(self, classifier: Any, needs: frozenset[str]) -> str:
        for need in sorted(needs):
            if not getattr(classifier.capabilities, need):
                return (
                    f"{self.title} needs {need}, which {classifier.name} cannot give:"
                    f" {classifier.capabilities.reason.rstrip('.')}."
                )
        return ""


def _of_a_part(result: Any, params: Any) -> Verdict:
    # A part says nothing: only the merged result speaks.
    return Verdict(Status.UNKNOWN, "")


def analysis(
    *,
    title: str,
    question: str,
    verdict: Callable[[Any, Any], Verdict],
    views: Callable[[Any, Any], Sequence[View]],
    **more: Any,
) -> Callable[[Callable[..., Iterator[Step[R]]]], Analysis]:
    """Makes an Analysis from an engine; name, settings and result are read from the function.

    See Analysis for the arguments.
    """

    def make(engine: Callable[..., Iterator[Step[R]]]) -> Analysis:
        # Resolved: annotations of the engine are only texts.
        hints = get_type_hints(engine)
        return Analysis(
            name=engine.__name__,
            title=title,
            question=question,
            engine=engine,
            params=hints["params"],
            result=_result_of(engine),
            verdict=verdict,
            views=views,
            **more,
        )

    return make


def _result_of(engine: Callable[..., Any]) -> Any:
    """The result type of an engine's Steps, from its annotation."""
    if isinstance(engine, Deferred):
        function = engine.function
    else:
        function = engine
    (step,) = get_args(get_type_hints(function)["return"])
    (result,) = get_args(step)
    return result


def _count(number: int) -> str:
    return {1: "one", 2: "two", 3: "three"}.get(number, str(number))
