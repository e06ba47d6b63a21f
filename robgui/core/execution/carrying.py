"""carry_out: computes one task in this process and reports every Step."""

from __future__ import annotations

import platform
import traceback
from collections.abc import Generator, Iterator
from contextlib import ExitStack
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from robgui.core.errors import DataError, ModelError, ParamsError, Remedy, RobguiError, sentence
from robgui.core.execution.analysis import Analysis
from robgui.core.execution.budget.time_limit import within
from robgui.core.execution.params.params import Params
from robgui.core.execution.run import RunState
from robgui.core.execution.step import Pace, Step
from robgui.core.execution.task import Report, Task

if TYPE_CHECKING:
    from robgui.core.dataset import Dataset
    from robgui.core.execution.loaded_cache import LoadedCache
    from robgui.core.execution.request import Request
    from robgui.core.model.classifier import Classifier

#: Reports without a result come this many times as often as those with one.
_REPORTS_PER_RESULT = 10


def carry_out(task: Task, shelf: LoadedCache) -> Generator[Report, None, None]:
    """Reports RUNNING at once and with every Step, then how it ended.

    Closing the iterator closes the engine.

    Args:
        task: What to compute.
        shelf: Where models and data come from.
    """
    # Before anything is loaded: a listener learns that the run has begun, however slow its model
    # is.
    yield Report(RunState.RUNNING, versions=versions())
    try:
        analysis = task.analysis()
        params = analysis.params.parse(dict(task.request.params))
        classifiers, dataset = _prepare(task, analysis, params, shelf)
        yield Report(RunState.RUNNING, device=str(classifiers[0].device))
        engine = analysis.engine(
            classifiers if analysis.several_models else classifiers[0], dataset, params
        )
        if task.part is None and not task.merge:  # Parts are merged only if all of them are whole.
            engine = within(engine, params.max_seconds)
        yield from _steps(engine, classifiers)
    # SystemExit too: the code of a model may call sys.exit.
    except (Exception, SystemExit) as error:
        # It could not clean up, and there is no caller to tell.
        if isinstance(error.__context__, GeneratorExit):
            raise
        # Our own errors say what to do; a traceback would only
        # frighten. Any other is a bug, and the log needs it.
        problem = _foreseen(error, task.request.device)
        if isinstance(problem, RobguiError):
            details = ""
        else:
            details = traceback.format_exc()
        yield Report(RunState.FAILED, error=sentence(problem), details=details, problem=problem)
    else:
        yield Report(RunState.DONE)


def _foreseen(error: BaseException, device: str) -> BaseException:
    """Running out of memory outside a model call is no bug either; other errors pass unchanged."""
    from robgui.core.model.foreign import out_of_memory

    if isinstance(error, RobguiError) or not out_of_memory(error):
        return error
    return ModelError(
        f"There is not enough memory on {device or 'this device'} for this run; make its batch"
        " smaller, close what else uses the memory, or choose another device."
    )


def thinned(reports: Iterator[Report], seconds: float) -> Iterator[Report]:
    """The same reports, with a result only every ``seconds`` and at the end.

    Results can be large.
    """
    # The first yes of ``large`` is used up below: the first result comes after ``seconds``.
    large, small = Pace(seconds), Pace(seconds / _REPORTS_PER_RESULT)
    large.due()
    newest: Step[Any] | None = None
    for report in reports:
        if report.step is not None:
            newest = report.step.after(newest)
        if report.state.ended:
            yield replace(report, step=newest)
        elif report.step is None:
            yield report
        elif large.due():
            yield replace(report, step=newest)
            # What was kept for a restart is sent once;
            # a Step that waits must not carry it again.
            if report.step.kept is None:
                newest = report.step
            else:
                newest = replace(report.step, kept=None)
        elif small.due():
            yield replace(report, step=None, done=report.step.done, total=report.step.total)


def versions() -> dict[str, str]:
    """The versions a result depends on."""
    import numpy as np
    import torch

    from robgui.version import __version__

    return {
        "robgui": __version__,
        "torch": torch.__version__,
        "numpy": np.__version__,
        "python": platform.python_version(),
    }


def _steps(engine: Iterator[Step[Any]], classifiers: tuple[Classifier, ...]) -> Iterator[Report]:
    before = sum(classifier.calls for classifier in classifiers)
    with ExitStack() as stack:
        for classifier in classifiers:
            # Scores are checked for NaN once per Step instead of after every call, which would make
            # the host wait for the device each time.
            stack.enter_context(classifier.checked_later())
        try:
            for step in engine:
                # Before the Step is shown: a picture made from NaN must never appear.
                for classifier in classifiers:
                    classifier.check()
                calls = sum(classifier.calls for classifier in classifiers) - before
                yield Report(RunState.RUNNING, step, step.done, step.total, calls)
        # Closed here, while the models are still set up, and not whenever Python collects the
        # generator.
        except GeneratorExit:
            close = getattr(engine, "close", None)
            if close is not None:
                close()
            raise


def _prepare(
    task: Task, analysis: Analysis, params: Params, shelf: LoadedCache
) -> tuple[tuple[Classifier, ...], Dataset | None]:
    """The models and data of a request, loaded, checked and matched to each other."""
    from robgui.core.dataset import align, match

    request = task.request
    looks = analysis.looks_at_data(params)
    if looks:
        dataset = shelf.dataset(request)
    else:
        dataset = None
    classifiers = shelf.models(request, task.trusted)
    _check_models(analysis, classifiers)
    for classifier in classifiers:
        _place(classifier, request)
        if refusal := analysis.refusal(classifier):
            raise ModelError(refusal)
    if dataset is None and looks:
        raise DataError(
            f"{analysis.title} needs inputs, and none were given.", remedy=Remedy.OPEN_INPUTS
        )
    if dataset is None:
        return classifiers, None
    # Matching may give the model the data's names; aligning then orders the data's classes like the
    # model's.
    matched = tuple(match(classifier, dataset) for classifier in classifiers)
    dataset = align(matched[0], dataset)
    return matched, dataset if request.indices is None else dataset.subset(request.indices)


def _check_models(analysis: Analysis, classifiers: tuple[Classifier, ...]) -> None:
    if not classifiers or (len(classifiers) > 1 and not analysis.several_models):
        if analysis.several_models:
            wanted = "at least one model"
        else:
            wanted = "one model"
        raise ParamsError(f"{analysis.title} takes {wanted}; {len(classifiers)} were given.")


def _place(classifier: Classifier, request: Request) -> None:
    import torch

    wanted, autocast = torch.device(request.device or classifier.device), request.autocast
    # ``cuda`` and ``cuda:0`` are the same card, but not equal to torch: by ``!=`` the model
    # would be moved for nothing.
    same = wanted.type == classifier.device.type and wanted.index in (None, classifier.device.index)
    if not same or autocast not in (None, classifier.precision[0]):
        classifier.to(classifier.device if same else wanted, autocast=autocast)
