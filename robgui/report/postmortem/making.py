"""post_mortem: asks the model again, runs what is missing within a time, and gathers the facts."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from robgui.core.errors import ParamsError, RobguiError
from robgui.core.execution.asking.witness import Witness, WitnessedInput, witnesses
from robgui.core.execution.execution import Execution
from robgui.core.execution.registry import analyses
from robgui.core.execution.request import build_request
from robgui.core.workspace.speaking import speakers
from robgui.report.postmortem.facts import Facts, Rank, ToldRun

if TYPE_CHECKING:
    from collections.abc import Sequence

    from robgui.core.execution.analysis import Analysis
    from robgui.core.execution.executor import Executor
    from robgui.core.execution.request import Request
    from robgui.core.finding import StoredFinding
    from robgui.core.workspace import Workspace

#: Inputs that the unchanged one is ranked among.
SAMPLE = 200
#: Less time than this is not worth a run.
_LEAST_SECONDS = 1.0
_LOOK_SECONDS = 0.1


def post_mortem(
    workspace: Workspace,
    number: int,
    ask: Callable[..., Any],
    executor: Executor,
    *,
    seconds: float = 60.0,
    seed: int = 0,
    trust: bool | Sequence[str] = False,
    say: Callable[[str], None] = lambda words: None,
) -> Facts:
    """What is known of a finding within a time limit; runs are kept in the workspace.

    Args:
        workspace: Where the finding is.
        number: Which finding.
        ask: Asks whoever holds the models, as ``Models.ask``.
        executor: Runs what is missing.
        seconds: For all runs together; 0 runs nothing.
        seed: Which inputs the unchanged one is ranked among.
        trust: As for ``witnesses``.
        say: Told what is being done.
    """
    finding = workspace.finding(number)
    (witness,) = witnesses(workspace, [finding], ask, trust)
    seen = next(iter(witness.findings()), None)
    if seen is None:
        raise ParamsError(f"There is no post-mortem: {witness.left_out[0]}")
    facts = _asked(finding, witness, seen, seed)
    end = time.monotonic() + seconds  # Opening the files does not count.
    trusted = frozenset([witness.card.ran] if witness.card.ran else [])
    left_open = []
    for known, request in _missing(workspace, finding, witness, seen):
        why = known.refusal(witness.card)
        if not why and end - time.monotonic() < _LEAST_SECONDS:
            why = f"{known.title}: not run, because the time was over."
        if not why:
            say(f"{known.title} …")
            why = _run(Execution(request, workspace, trusted=trusted), executor, end)
        left_open += [why] if why else []
    return replace(
        facts,
        runs=tuple(_told(workspace, finding, seen)),
        alike=tuple(_alike(workspace, finding)),
        open=tuple(left_open),
    )


def _asked(finding: StoredFinding, witness: Witness, seen: WitnessedInput, seed: int) -> Facts:
    """What the model says of the finding, of its unchanged input and of others."""
    card = witness.card
    labels = card.labels
    facts = Facts(finding, card.name, labels[seen.expected], labels[seen.given], seen.by)
    if seen.data is None or seen.place is None:
        return facts
    generator = np.random.default_rng(seed)
    others = [
        place for place in generator.permutation(len(seen.data.dataset)) if place != seen.place
    ]
    margins = witness.margins(seen.data, others[:SAMPLE])
    own = witness.margins(seen.data, [seen.place])
    if not len(own):
        return facts
    (original,) = witness.asked(seen.data, [seen.place])
    return replace(
        facts,
        before=labels[original.given],
        sure=witness.sureness(original.x),
        change=float(np.abs(seen.x.astype(np.float64) - original.x).max()),
        rank=Rank(float(own[0]), margins, seen.data.name),
    )


def _missing(
    workspace: Workspace, finding: StoredFinding, witness: Witness, seen: WitnessedInput
) -> Iterator[tuple[Analysis, Request]]:
    """A first look with every analysis of one input that has no result on this one."""
    run = workspace.run(finding.run_id).request
    if run.dataset is None or seen.place is None:
        return
    model = next(one for one in run.models if one.fingerprint == witness.reference.fingerprint)
    done = {one.run.request.analysis for one in _told(workspace, finding, seen)}
    for name, known in analyses().items():
        if known.inputs != "one" or known.first_look is None or known.several_models:
            continue
        if name not in done and name != run.analysis:
            params = known.params.parse(dict(known.first_look))
            if known.looks_at_data(params):
                yield (
                    known,
                    build_request(
                        known,
                        [model],
                        run.dataset,
                        params,
                        indices=[seen.place],
                        device=witness.card.device,
                    ),
                )


def _run(execution: Execution, executor: Executor, end: float) -> str:
    """Runs until the end, or until the time is over; why there is no result, or nothing."""
    try:
        executor.submit(execution)
        while not execution.state.ended:
            executor.work(_LOOK_SECONDS)
            if time.monotonic() > end:
                # It ends with what is known by then.
                execution.stop()
    except RobguiError as error:
        return f"{execution.analysis.title}: {error}"
    if execution.newest is None:
        why = execution.error or "no result in the time there was."
        return f"{execution.analysis.title}: {why}"
    return ""


def _told(workspace: Workspace, finding: StoredFinding, seen: WitnessedInput) -> Iterator[ToldRun]:
    """What other runs say of the same model and input, for each analysis the run that speaks."""
    own = workspace.run(finding.run_id).request
    told = set()
    for run in speakers(workspace.runs()):
        request, said = run.request, run.verdict
        if said is None or run.id == finding.run_id or request.analysis in told:
            continue
        if request.indices == (seen.place,) and _same_subject(request, own):
            told.add(request.analysis)
            known = analyses().get(request.analysis)
            if known is None:
                title = request.analysis
            else:
                title = known.title
            yield ToldRun(run, title, said)


def _same_subject(request: Request, own: Request) -> bool:
    """Whether two requests are about the same data and a model that both name."""
    models = {one.fingerprint for one in own.models}
    data = [None if one.dataset is None else one.dataset.fingerprint for one in (request, own)]
    return (
        data[0] is not None
        and data[0] == data[1]
        and any(one.fingerprint in models for one in request.models)
    )


def _alike(workspace: Workspace, finding: StoredFinding) -> Iterator[StoredFinding]:
    """Other findings of the same model that name the same confusion."""
    models = {one.fingerprint for one in workspace.run(finding.run_id).request.models}
    requests = {run.id: run.request for run in workspace.runs()}
    for other in workspace.findings():
        request = requests.get(other.run_id)
        if (
            other.id != finding.id
            and other.confusion is not None
            and other.confusion == finding.confusion
            and request is not None
            and models & {one.fingerprint for one in request.models}
        ):
            yield other
