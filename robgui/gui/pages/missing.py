"""What the scoreboard has not been told yet: the question of each row for each model."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from robgui.core.errors import RobguiError
from robgui.core.execution.request import build_request
from robgui.gui.state.library.opening import match
from robgui.gui.state.remedies import error_with_remedy

if TYPE_CHECKING:
    from robgui.core.execution.request import Request
    from robgui.core.model.card import ModelCard
    from robgui.gui.state.store import Store

Answered = Callable[[str, "ModelCard", "Request"], bool]


@dataclass(frozen=True)
class Missing:
    """Runs that would fill the scoreboard.

    Attributes:
        requests: To be run.
        skipped: Why a model cannot be asked, by its name.
    """

    requests: list[Request] = field(default_factory=list)
    skipped: dict[str, str] = field(default_factory=dict)

    @property
    def words(self) -> str:
        """What was skipped and why; empty if nothing was."""
        reasons = "; ".join(f"{name} ({why.rstrip('.')})" for name, why in self.skipped.items())
        if reasons:
            return f"Skipped: {reasons}."
        return ""


def missing(store: Store, questions: Mapping[str, Request], answered: Answered) -> Missing:
    """The question of each row for the models that are open and have not answered it.

    Args:
        store: Models, data and what is being run.
        questions: What each column asks, by analysis.
        answered: Whether a run tells what a model says to a question.
    """
    found = Missing()
    for analysis, question in questions.items():
        for model in store.library.models:
            if answered(analysis, model, question):
                continue
            try:
                found.requests.append(_request(store, question, model))
            except RobguiError as error:
                # One reason per model: that of the first row says enough.
                found.skipped.setdefault(model.name, str(error))
    # Pressed twice, the button must not queue the same run twice.
    waiting = {job.request.fingerprint for job in store.runner.executions if not job.state.ended}
    # In place: Missing is frozen.
    found.requests[:] = [each for each in found.requests if each.fingerprint not in waiting]
    return found


def _request(store: Store, question: Request, model: ModelCard) -> Request:
    """The same question for another model; RobguiError says why it cannot be asked."""
    known = store.analyses[question.analysis]
    params = known.params.parse(dict(question.params))
    dataset = store.subjects.dataset_of(question)
    if question.dataset is not None and dataset is None:
        raise RobguiError(f"{question.dataset.name} is not open")
    if dataset is not None:
        model, _ = match(model, dataset)
    if dataset is not None:
        whole = len(dataset)
    else:
        whole = 0
    if question.indices is None:
        count = whole
    else:
        count = len(question.indices)
    if refusal := known.refusal(model) or error_with_remedy(known.shortage(params, [model], count)):
        raise RobguiError(refusal)
    request = build_request(
        known,
        [model],
        question.dataset,
        params,
        indices=question.indices,
        autocast=store.library.autocast,
    )
    # How the inputs were chosen is said in the headline, and belongs to the question.
    return request.model_copy(
        update={"chosen": question.chosen, "spread_over": question.spread_over}
    )
