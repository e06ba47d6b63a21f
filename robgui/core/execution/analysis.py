"""An analysis is a generator of complete results, with what a result says and what it looks like.

An engine is a function ``(classifier, dataset, params) -> Iterator[Step[Result]]``. Each Step holds
a *complete* result, never a delta, so that dropping, pausing and stopping are always right.
"""

from __future__ import annotations

import importlib
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, ClassVar, Generic, Literal, TypeVar, get_args, get_type_hints

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from robgui.core.errors import DataError, ModelError, ParamsError, Remedy, RobguiError
from robgui.core.execution.budget.cost import Calls, Subject
from robgui.core.execution.export import Export
from robgui.core.execution.params.problems import sentence
from robgui.core.verdict import Status, Verdict

if TYPE_CHECKING:
    from robgui.core.finding import Finding
    from robgui.core.offer import Offer
    from robgui.core.view import View

R = TypeVar("R")
Kind = Literal["image", "table", "sequence"]
KINDS: tuple[Kind, ...] = ("image", "table", "sequence")


@dataclass(frozen=True, slots=True)
class Step(Generic[R]):
    """A complete picture on the way: ``done`` of ``total`` units of work and the result so far.

    ``cut`` marks the last one of a run that ended because its time was over. ``kept`` comes now and
    then with an analysis that can go on after a stop: the result of its first units, see Shards.
    """

    done: int
    total: int | None
    result: R
    note: str = ""
    cut: bool = False
    kept: Any = None

    def after(self, earlier: Step[R] | None) -> Step[R]:
        """This Step in place of an earlier one that nobody has seen: what that has kept stays."""
        if earlier is None or earlier.kept is None or self.kept is not None:
            return self
        return replace(self, kept=earlier.kept)


class Params(BaseModel):
    """Settings of an analysis: the only source of form, command-line option, validation and record.

    A field may tell its form more with ``json_schema_extra``: ``rare`` (True: it stands behind
    "More"), ``empty`` (what an empty text means, such as "all"), ``zero`` (what 0 means, such as
    "no limit"), ``means`` (what a word of the papers means, by the word) and ``judges`` (its unit:
    it decides a status, and Preferences show it).

    Attributes:
        presets: Value of the field ``preset`` -> settings it stands for. A preset fills in what was
            not given, and the form shows what it has filled in: what the user gives wins, and what
            will run is what is shown.
        formerly: Name that a setting once had -> its name now, for files that users already have.
    """

    presets: ClassVar[Mapping[str, Mapping[str, Any]]] = {}
    formerly: ClassVar[Mapping[str, str]] = {}

    # the validator is built when the first settings are made: the window lists many analyses
    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False, defer_build=True)

    seed: int = Field(
        0,
        ge=0,
        le=2**63 - 1,
        title="Seed",
        description="Start of the random numbers; same seed, same result.",
    )
    batch: int = Field(
        0,
        ge=0,
        le=1_000_000,
        title="Batch",
        description="Inputs per model call; 0 lets the program choose. Only rounding changes.",
        json_schema_extra={"zero": "automatic"},
    )
    max_seconds: float = Field(
        0.0,
        ge=0,
        le=1e7,
        title="Time limit in seconds",
        description=(
            "Seconds after which computing ends with what is known by then, and says so; 0: no"
            " limit. Results then depend on the machine."
        ),
        json_schema_extra={"zero": "no limit"},
    )

    @model_validator(mode="before")
    @classmethod
    def _fill_in(cls, values: Any) -> Any:
        """Adds what the preset says of settings that were not given."""
        if not isinstance(values, dict):
            return values
        given = cls.renamed(values)
        return {**cls.presets.get(str(given.get("preset")), {}), **given}

    @classmethod
    def renamed(cls, values: Mapping[str, Any]) -> dict[str, Any]:
        """The values under the names that their settings have now."""
        return {cls.formerly.get(name, name): value for name, value in values.items()}

    @classmethod
    def preset_values(cls, name: str) -> dict[str, Any]:
        """Every setting that any preset touches, as the preset ``name`` has it: for a form that
        switches between them.
        """
        touched = dict.fromkeys(key for settings in cls.presets.values() for key in settings)
        usual = {
            key: cls.model_fields[key].get_default(call_default_factory=True) for key in touched
        }
        return {**usual, **cls.presets.get(name, {})}

    @classmethod
    def parse(cls, values: dict[str, Any]) -> Params:
        """Validates ``values``; the error is one sentence that names the field and its bounds."""
        try:
            return cls.model_validate(values)
        except ValidationError as error:
            raise ParamsError(sentence(cls.model_fields, error)) from error


@dataclass(frozen=True)
class Requirements:
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
    """How one request is computed in parts, perhaps on several machines, and put together again,
    exactly.

    The work of a request is a row of units numbered from 0, and a part is a range of them. What a
    unit is (its input, its random numbers) depends on the request and on the unit's number alone,
    never on the part it is in: then the merged result is that of the whole, up to the rounding of a
    model that sees other batches.

    Attributes:
        units: ``(params, inputs) -> count``: how many units there are, given the number of inputs.
        engine: ``(classifier, dataset, params, part) -> Iterator[Step]``: the engine for the units
            of the range ``part`` only. Its last result may be of any dataclass; nobody but
            ``merge`` sees it.
        merge: ``(classifier, dataset, params, results) -> result``: the analysis' own result from
            those of all parts, in their order, with the same classifier and dataset as the engine
            of the whole would get.
        going_on: ``(classifier, dataset, params, result) -> Iterator[Step]``: the engine of the
            whole, which need not compute the first units again, as ``result`` is theirs. None where
            it always begins anew.
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
        return [range(units * i // parts, units * (i + 1) // parts) for i in range(parts)]


@dataclass(frozen=True)
class Demo:
    """On what the tour runs an analysis: files of the demo, an input and short settings.

    The demo of the window begins with the one that ``opens`` it. ``guided`` says whether the guide
    of the window, which is to last three minutes, stops there.
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
    """One question that a method answers, with everything the window, the command line and the
    report need of it.

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
        severity_means: How it comes to the severity of a finding, one sentence.
        offers: ``(result, params)`` -> inputs that another analysis may look at.
        tab: Its title among the tabs of its method; empty takes ``title``.
        invitation: What the empty panel says: what it does and what to press.
        explanation: "What am I looking at?", for a person who has not read the paper.
        needs: Capabilities the classifier must have.
        kinds: Kinds of input it understands.
        several_models: The engine takes a tuple of classifiers instead of one.
        inputs: Whether it looks at the one input the user points at, at many, or at none.
        takes: Params -> how many models and inputs it takes; None takes any number of models, and
            one input or many.
        shards: How a request splits into parts; None where it does not.
        first_look: Settings for about ten seconds, when everything is inspected at once; None
            leaves it out.
        made_inputs: Settings for inputs that another analysis has made, whose label the model may
            no longer give.
        demo: What the tour shows of it; None leaves it out.
        calls: ``(params, subject)`` -> how many inputs its models see, see ``cost``; None where
            nobody knows.
        export: What can be written of a run besides its pictures and numbers; None for nothing.
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

    def takes(self, params: Params) -> Requirements:
        """How many models and inputs it takes with these settings."""
        if self.takes_with is not None:
            return self.takes_with(params)
        return Requirements(most_inputs=1 if self.inputs == "one" else None)

    def part(self, units: range) -> Analysis:
        """The same analysis for some of the units only.

        What it finds says nothing until the parts are merged.
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
        )

    def merging(self, steps: Sequence[Step[Any]]) -> Analysis:
        """The same analysis with nothing left to do but to merge the last Steps of its parts."""
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
        """The same analysis, whose first units an interrupted run has computed."""
        go_on = self._splits().going_on
        assert go_on is not None

        def engine(classifier: Any, dataset: Any, params: Any) -> Iterator[Step[Any]]:
            return go_on(classifier, dataset, params, kept)

        return replace(self, engine=engine)

    @property
    def kept(self) -> type[Any] | None:
        """The type of what its Steps keep for going on; None where it always begins anew."""
        if self.shards is None:
            return None
        return self.shards.kept

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
            return (
                f"{self.title} works on {' and '.join(sorted(self.kinds))} models;"
                f" {classifier.name} is a {classifier.kind} model."
            )
        return self._lack(classifier, self.needs)

    def shortage(
        self, params: Params, classifiers: Sequence[Any], inputs: int
    ) -> RobguiError | None:
        """What is missing or too much for these settings, with what would help.

        None when all is there.
        """
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
    return Verdict(Status.UNKNOWN, "")


class Deferred:
    """A function that is imported when it is first called; see ``deferred``."""

    def __init__(self, module: str, name: str) -> None:
        self._module = module
        self.__name__ = name

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self.function(*args, **kwargs)

    @property
    def function(self) -> Callable[..., Any]:
        """The function itself, imported now."""
        found: Callable[..., Any] = getattr(importlib.import_module(self._module), self.__name__)
        return found


def deferred(place: str) -> Deferred:
    """A function by ``module:name`` that is imported when it is first called.

    The record of a method names its engines so: the window reads the record without importing
        torch.
    """
    module, _, name = place.partition(":")
    return Deferred(module, name)


def analysis(
    *,
    title: str,
    question: str,
    verdict: Callable[[Any, Any], Verdict],
    views: Callable[[Any, Any], Sequence[View]],
    **more: Any,
) -> Callable[[Callable[..., Iterator[Step[R]]]], Analysis]:
    """Makes an Analysis of an engine: name, settings and result are read from the function.

    See Analysis for the rest.
    """

    def make(engine: Callable[..., Iterator[Step[R]]]) -> Analysis:
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


class Pace:
    """Says when the next Step is due, so that an engine neither floods nor starves its listener.

    Ask it after each batch: the first answer is yes, so that the first picture comes at once.

    Attributes:
        awaited: Somebody waits for what runs in this process to end, which it does at its next
            Step: that is due after the present batch.
    """

    awaited: ClassVar[bool] = False

    def __init__(self, seconds: float = 0.05) -> None:
        self._seconds = seconds
        self._next = 0.0

    def due(self) -> bool:
        """True at most once every ``seconds``, and while somebody waits for the end."""
        now = time.monotonic()
        if now < self._next and not Pace.awaited:
            return False
        self._next = now + self._seconds
        return True


def _result_of(engine: Callable[..., Any]) -> Any:
    """What the Steps of an engine hold, as it is annotated."""
    if isinstance(engine, Deferred):
        function = engine.function
    else:
        function = engine
    (step,) = get_args(get_type_hints(function)["return"])
    (result,) = get_args(step)
    return result


def _count(number: int) -> str:
    return {1: "one", 2: "two", 3: "three"}.get(number, str(number))
