"""NextRun: what pressing Run would ask for now, its cost, and why it cannot be pressed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from robgui.core.errors import RobguiError
from robgui.core.execution.params.thresholds import usual
from robgui.core.text.words import count
from robgui.gui.state.library.alike import looks_alike
from robgui.gui.state.remedies import error_with_remedy

if TYPE_CHECKING:
    from robgui.core.execution.analysis import Analysis
    from robgui.core.execution.budget.cost import Estimate
    from robgui.core.execution.params.params import Params
    from robgui.core.execution.request import Request, SpreadOver
    from robgui.core.model.card import ModelCard
    from robgui.gui.state.store import Store


class NextRun:
    """The settings in the forms, and the Request that they make with the models and inputs in use.

    Attributes:
        params: What each form shows, by analysis; None while it is not valid.
        thresholds: The user's own thresholds, by ``analysis.field``.
        unticked: Contents of the models that comparisons leave out.
    """

    def __init__(self, store: Store) -> None:
        self._store = store
        self.params: dict[str, Params | None] = {}
        self.thresholds: dict[str, float] = {}
        self.unticked: set[str] = set()

    def set_params(self, analysis: str, params: Params | None) -> None:
        """What the form of ``analysis`` shows now; None while it is not valid."""
        if self.params.get(analysis) != params:
            self.params[analysis] = params
            self._store.params_changed.emit(analysis)

    def set_thresholds(self, chosen: dict[str, float]) -> None:
        """The user's thresholds by ``analysis.field``: where forms and inspections begin."""
        if chosen != self.thresholds:
            self.thresholds = dict(chosen)
            self._store.thresholds_changed.emit()

    def usual(self, analysis: str) -> dict[str, float]:
        """The thresholds that the user has chosen for an analysis, by field."""
        return usual(self._store.analyses[analysis], self.thresholds)

    def request(self, analysis: str) -> Request | None:
        """What pressing Run would ask for now; None while something is missing."""
        library, known, params = (
            self._store.library,
            self._store.analyses.get(analysis),
            self.params.get(analysis),
        )
        if known is None or params is None or library.model is None:
            return None
        # An analysis of one input takes the chosen one, of many what passes the gallery's filter.
        one = known.inputs == "one"
        if known.looks_at_data(params) and (
            library.dataset is None or (one and self._store.selection.input is None)
        ):
            return None
        indices = self._store.selection.inputs if one else self._store.scope
        return self.build(known, params, indices, "" if one else self._store.filter.words)

    def build(
        self,
        known: Analysis,
        params: Params,
        indices: Sequence[int] | None,
        how: str = "",
        spread_over: SpreadOver = "",
    ) -> Request:
        """The Request for the models and data in use now.

        ``how`` says in words how inputs were chosen; see ``build_request`` for the rest.
        """
        from robgui.core.execution.request import build_request

        library = self._store.library
        models = self.models_for(known, params)
        return build_request(
            known,
            models,
            library.dataset,
            params,
            indices=indices,
            how=how,
            spread_over=spread_over,
            autocast=library.autocast,
        )

    def obstacle(self, analysis: str) -> str:
        """Why ``analysis`` cannot run now, in words; empty when it can."""
        if analysis not in self._store.analyses:
            return "Still loading; a moment."
        if self._store.library.model is None:
            return self._store.library.pending.loading or "Open a model first."
        known, params = self._store.analyses[analysis], self.params.get(analysis)
        if refusal := known.refusal(self._store.library.model):
            return refusal  # No other input would help.
        looks = params is None or known.looks_at_data(params)
        if looks and (lack := self._lack_of_inputs(known)):
            return lack
        if params is None:
            return "Correct the settings first."
        models = self.models_for(known, params)
        return error_with_remedy(known.shortage(params, models, self._count(known) if looks else 0))

    def estimate(self, analysis: str) -> Estimate | None:
        """What pressing Run would cost now; None if unknown."""
        from robgui.core.execution.budget.cost import estimate

        known, params = self._store.analyses.get(analysis), self.params.get(analysis)
        if known is None or params is None or self.obstacle(analysis):
            return None
        if known.looks_at_data(params):
            inputs = self._count(known)
        else:
            inputs = 0
        try:
            return estimate(known, params, self.models_for(known, params), inputs)
        except RobguiError:  # Settings that a run refuses, with a sentence, when it starts.
            return None

    def compared(self, analysis: str) -> list[ModelCard]:
        """The models that a run of ``analysis`` would look at together.

        None for an analysis of one model.
        """
        known, params = self._store.analyses.get(analysis), self.params.get(analysis)
        if known is None or params is None or not known.several_models:
            return []
        return self.models_for(known, params)

    def models_for(self, known: Analysis, params: Params) -> list[ModelCard]:
        """Models that a run would look at now: the one in use, or all that fit, it first."""
        if known.several_models:
            ticked = [
                model
                for model in self.fitting_models()
                # By content: a model with other settings is still the one that was unticked.
                if model is self._store.library.model or model.content not in self.unticked
            ]
            # The one in use comes first and is never cut off.
            return ticked[: known.takes(params).most_models]
        if self._store.library.model is not None:
            return [self._store.library.model]
        return []

    def fitting_models(self) -> list[ModelCard]:
        """Models that fit the data in use, the one in use first; without data only that one."""
        library = self._store.library
        dataset, model = library.dataset, library.model
        if dataset is None:
            fitting = [
                m
                for m in library.models
                if model is not None and (m.shape, m.labels) == (model.shape, model.labels)
            ]
        else:
            if model is None:
                classes = None
            else:
                classes = model.classes
            fitting = [
                m
                for m in library.models
                if looks_alike(m, dataset) and classes in (None, m.classes)
            ]
        others = [m for m in fitting if m is not model]
        if model is not None:
            return [model, *others]
        return others

    def tick(self, model: ModelCard, on: bool) -> None:
        """Whether an analysis of several models looks at this one too."""
        mark = {model.content}
        if on:
            self.unticked = self.unticked - mark
        else:
            self.unticked = self.unticked | mark
        self._store.scope_changed.emit()

    def left_out(self) -> dict[str, str]:
        """The models that a comparison leaves out because they do not fit, by name, and why."""
        fitting, own = self.fitting_models(), self._store.library.model
        return {
            model.name: _misfit(model, own)
            for model in self._store.library.models
            if model not in fitting
        }

    def _lack_of_inputs(self, known: Analysis) -> str:
        if self._store.library.dataset is None:
            return self._store.library.pending.loading or "Open some inputs first."
        if self._store.library.mismatch:
            return self._store.library.mismatch
        if known.inputs == "one" and self._store.selection.input is None:
            return "Choose an input in the gallery."
        if known.inputs == "many" and (waits := self._store.filter.obstacle()):
            return waits
        if known.inputs == "many" and self._store.scope == ():
            return "No input passes the filter of the gallery; widen it."
        return ""

    def _count(self, known: Analysis) -> int:
        """How many inputs a run would look at now."""
        dataset = self._store.library.dataset
        if known.inputs == "one":
            return len(self._store.selection.inputs)
        if self._store.scope is None:
            return len(dataset or ())
        return len(self._store.scope)


def _misfit(model: ModelCard, own: ModelCard | None) -> str:
    """Why a model cannot run together with the one in use on its data."""
    if own is not None and model.classes != own.classes:
        return f"{count(model.classes, 'class')} instead of {own.classes:,}"
    if own is not None and model.shape != own.shape:
        return "takes inputs of another size"
    return "does not fit these inputs"
