"""From a suite to its requests: models × datasets × analyses × grids."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Any

from robgui.batch.suite import AnalysisTable, Suite
from robgui.core.errors import DataError, ParamsError, RobguiError
from robgui.core.execution.analysis import Analysis
from robgui.core.execution.budget.cost import estimate
from robgui.core.execution.params import text as params_text
from robgui.core.execution.params.params import Params
from robgui.core.execution.registry import find
from robgui.core.execution.request import Request, build_request
from robgui.core.model.card import card_of

if TYPE_CHECKING:
    from robgui.core.model.classifier import Classifier
from robgui.batch.opened import SuiteData, SuiteModel, open_datasets, open_models

#: Most requests: a slip in a file must not fill the disk.
MOST_REQUESTS = 100_000


@dataclass(frozen=True, slots=True)
class Planned:
    """One request of a suite, with its name and, if asked for, its cost.

    Without parts it runs whole.
    """

    request: Request
    title: str
    parts: tuple[range, ...] = ()
    cost: str = ""


@dataclass(frozen=True, slots=True)
class Plan:
    """The requests of a suite, each once, and a sentence for each combination left out.

    Attributes:
        trusted: Digests of the code that was run to open the models; the same may run again where
            they are used.
    """

    requests: tuple[Planned, ...]
    left_out: tuple[str, ...] = ()
    trusted: frozenset[str] = frozenset()


def expand(
    suite: Suite,
    device: str = "",
    *,
    trust: bool = False,
    keep: Callable[[Classifier], None] = lambda classifier: None,
    costs: bool = False,
) -> Plan:
    """Every request of the suite, for ``device``.

    Opens each model and dataset once, because their content is part of a request.

    Args:
        suite: What to run on what.
        device: Where.
        trust: The user says that its models may execute code; what the suite itself says about that
            does not count.
        keep: Given every model that was opened.
        costs: Whether to time the models here and say what each request will cost.
    """
    expansion = _Expansion(suite, device or suite.device or _default_device(), trust, costs)
    expansion.hand_over(keep)
    found: dict[str, Planned] = {}
    for place, table in enumerate(suite.analyses):
        before = len(found)
        for planned in expansion.requests(table, place):
            # Two tables may ask the same; it is run once.
            found.setdefault(planned.request.fingerprint, planned)
            if len(found) > MOST_REQUESTS:
                raise ParamsError(
                    f"{suite.path}: the suite has more than {MOST_REQUESTS:,} requests; split it"
                    " into several files."
                )
        if len(found) == before and not expansion.made:
            if expansion.left_out:
                why = f": {expansion.left_out[-1]}"
            else:
                why = "; check its models and datasets."
            raise ParamsError(
                f"{suite.path}: {_where(table, place)}: nothing in this suite fits it{why}"
            )
    left_out = tuple(dict.fromkeys([*expansion.unread(), *expansion.left_out]))
    return Plan(tuple(found.values()), left_out, expansion.trusted())


class _Expansion:
    """The opened models and datasets of a suite.

    ``made`` counts the requests of the newest analysis.
    """

    def __init__(self, suite: Suite, device: str, trust: bool, costs: bool = False) -> None:
        self._costs = costs
        self.left_out: list[str] = []
        self.made = 0
        self._suite = suite
        self._device = device
        self._models = list(open_models(suite, trust))
        self._data = list(open_datasets(suite))
        self._fits: dict[tuple[int, int], str] = {}

    def trusted(self) -> frozenset[str]:
        """The code that was run to open the models."""
        return frozenset(model.classifier.ran for model in self._models if model.classifier.ran)

    def hand_over(self, keep: Callable[[Classifier], None]) -> None:
        """Gives every model to ``keep``."""
        for model in self._models:
            keep(model.classifier)

    def unread(self) -> list[str]:
        """What could not be read of the datasets, as far as opening them shows."""
        return [lost for each in self._data if (lost := each.dataset.left_out())]

    def requests(self, table: AnalysisTable, place: int) -> Iterator[Planned]:
        """Every request of one table of analyses."""
        self.made = 0
        where = f"{self._suite.path}: {_where(table, place)}"
        try:
            known = find(table.name)
            models = [
                model for model in self._models if _named(model.classifier.name, table.models)
            ]
            data = [each for each in self._data if _named(each.dataset.name, table.datasets)]
            _check_names([model.classifier.name for model in models], table.models, "models")
            _check_names([each.dataset.name for each in data], table.datasets, "datasets")
            for values, params in _grid(known, table):
                if known.looks_at_data(params):
                    sources: list[SuiteData | None] = list(data)
                else:
                    sources = [None]
                for source in sources:
                    for chosen in self._groups(known, params, models, source):
                        yield from self._over_inputs(known, params, table, chosen, source, values)
        except RobguiError as error:
            raise ParamsError(f"{where}: {error}") from error

    def _groups(
        self, known: Analysis, params: Params, models: list[SuiteModel], source: SuiteData | None
    ) -> Iterator[tuple[SuiteModel, ...]]:
        """Models of each request: one, or all that fit the data if the analysis compares models."""
        meant = [
            model
            for model in models
            if source is None or _named(source.dataset.name, model.datasets)
        ]
        fitting = [model for model in meant if self._usable(known, params, model, source)]
        takes = known.takes(params)
        if not known.several_models:
            yield from ((model,) for model in fitting)
        elif len(fitting) < takes.fewest_models:
            name = source.dataset.name if source else "no data"
            self.left_out.append(
                f"{known.title} needs {takes.fewest_models} models; {len(fitting)}"
                f" {'fits' if len(fitting) == 1 else 'fit'} {name}."
            )
        else:
            yield from itertools.combinations(
                fitting, min(len(fitting), takes.most_models or len(fitting))
            )

    def _usable(
        self, known: Analysis, params: Params, model: SuiteModel, source: SuiteData | None
    ) -> bool:
        most = known.takes(params).fewest_inputs
        several = [model.classifier] * known.takes(params).fewest_models
        why = (
            known.refusal(model.classifier)
            or known.shortage(params, several, most)
            or (self._fit(model, source) if source else "")
        )
        if why:
            self.left_out.append(str(why))
        return not why

    def _fit(self, model: SuiteModel, source: SuiteData) -> str:
        """Why the two do not fit, classes included; empty if they do."""
        from robgui.core.dataset import match
        from robgui.core.dataset.matching import fits

        # Both are held in lists for as long as this, so no id comes twice.
        key = (id(model), id(source))
        if key not in self._fits:
            said: list[str] = []
            try:
                match(model.classifier, source.dataset, said.append)
                foreign = not fits(model.classifier, source.dataset)
                self._fits[key] = said[-1] if foreign and said else ""
            except DataError as error:
                self._fits[key] = str(error)
        return self._fits[key]

    def _over_inputs(
        self,
        known: Analysis,
        params: Params,
        table: AnalysisTable,
        models: tuple[SuiteModel, ...],
        source: SuiteData | None,
        values: dict[str, Any],
    ) -> Iterator[Planned]:
        takes = known.takes(params)
        for indices in (
            [None]
            if source is None
            else _choices(source, table, one=takes.most_inputs == 1, known=known)
        ):
            request = build_request(
                known,
                [model.reference for model in models],
                source.reference if source else None,
                params,
                indices=indices,
                total=None if source is None else len(source.dataset),
                device=self._device,
                autocast=self._suite.autocast,
            )
            count = 0 if source is None else len(source.dataset)
            if source is not None and indices is not None:
                count = len(indices)
            self.made += 1
            parts = _parts(known, params, count, table.shards)
            if self._costs:
                cost = self._cost(known, params, models, count)
            else:
                cost = ""
            yield Planned(request, _title(request, values), parts, cost)

    def _cost(
        self, known: Analysis, params: Params, models: tuple[SuiteModel, ...], inputs: int
    ) -> str:
        found = estimate(known, params, [card_of(each.classifier) for each in models], inputs)
        if found is None:
            return ""
        return found.words


def _default_device() -> str:
    from robgui.core.loading import default_device

    return default_device().type


def _grid(known: Analysis, table: AnalysisTable) -> Iterator[tuple[dict[str, Any], Params]]:
    """Every combination of the grid: its own values, and all settings validated."""
    fixed = {name: _value(known, name, value) for name, value in table.params.items()}
    for combination in itertools.product(*table.grid.values()):
        values = {
            name: _value(known, name, value)
            for name, value in zip(table.grid, combination, strict=True)
        }
        yield values, known.params.parse({**fixed, **values})


def _value(known: Analysis, name: str, value: Any) -> Any:
    """A text like ``0:0.5:11`` is read as on the command line."""
    field = known.params.model_fields.get(name)
    if isinstance(value, str) and field is not None:
        return params_text.parse_value(name, field, value)
    return value


def _choices(
    source: SuiteData, table: AnalysisTable, *, one: bool, known: Analysis
) -> list[tuple[int, ...] | None]:
    """The inputs of each request: all in one, or one each for an analysis of single inputs."""
    choice = table if table.index or table.select else source.table
    chosen: list[int] | None = None
    if choice.index:
        chosen = params_text.indices("index", choice.index)
        source.dataset.subset(chosen)  # Says which of them does not exist.
    if choice.select:
        among = None if chosen is None else set(chosen)
        chosen = [
            index
            for index in source.dataset.select(choice.select)
            if among is None or index in among
        ]
        if not chosen:
            raise DataError(
                f"no input of {source.dataset.name} fits select {choice.select!r}; choose another"
                " selection."
            )
    if not one:
        return [None if chosen is None else tuple(chosen)]
    if chosen is None and len(source.dataset) > 1:
        raise ParamsError(
            f"{known.title} looks at one input at a time; say which of {source.dataset.name} with"
            " index or select."
        )
    return [(index,) for index in (chosen if chosen is not None else range(len(source.dataset)))]


def _parts(known: Analysis, params: Params, inputs: int, most: int) -> tuple[range, ...]:
    if most == 1 or params.max_seconds:  # A time limit is for the whole.
        return ()
    if known.shards is None:
        raise ParamsError(
            f"shards = {most}: {known.title} cannot be split into parts; leave it out."
        )
    parts = known.shards.split(params, inputs, most)
    if len(parts) > 1:
        return tuple(parts)
    return ()


def _title(request: Request, values: dict[str, Any]) -> str:
    words = [request.analysis, *(model.name for model in request.models)]
    if request.dataset is not None:
        words.append(request.dataset.name)
    if request.indices is not None:
        words.append(
            f"input {request.indices[0]}"
            if len(request.indices) == 1
            else f"{len(request.indices):,} inputs"
        )
    return " ".join(
        [*words, *(f"{name}={params_text.format_value(value)}" for name, value in values.items())]
    )


def _named(name: str, patterns: Sequence[str]) -> bool:
    return any(fnmatchcase(name, pattern) for pattern in patterns)


def _check_names(names: Sequence[str], patterns: Sequence[str], field: str) -> None:
    for pattern in patterns:
        if pattern != "*" and not any(fnmatchcase(name, pattern) for name in names):
            raise ParamsError(
                f"{field}: the suite opens nothing called {pattern!r}; correct the name."
            )


def _where(table: AnalysisTable, place: int) -> str:
    return f"[[analyses]] {place + 1} ({table.name})"
