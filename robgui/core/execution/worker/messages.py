"""What travels between this program and its workers, as frames."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from robgui.core import errors
from robgui.core.codec import put_together, take_apart
from robgui.core.errors import Remedy, RobguiError
from robgui.core.execution.analysis import Analysis
from robgui.core.execution.loaded_cache import find_file
from robgui.core.execution.registry import find
from robgui.core.execution.request import Request
from robgui.core.execution.run import RunState
from robgui.core.execution.step import Step
from robgui.core.execution.task import Report, Task
from robgui.core.execution.worker.confinement.hint import confinement_hint
from robgui.core.execution.worker.frames import Frame, FrameError
from robgui.core.npz import Arrays

if TYPE_CHECKING:
    from robgui.core.dataset import Dataset
    from robgui.core.dataset.derived import Derived
    from robgui.core.workspace import Workspace

#: Longest text kept from a worker, in characters.
_MOST_TEXT = 20_000
#: Each of our error classes by name.
_ERRORS = {
    name: kind
    for name, kind in vars(errors).items()
    if isinstance(kind, type) and issubclass(kind, RobguiError)
}


def task_frame(task: Task, workspace: Workspace | None, pace: float) -> Frame:
    """A task for a worker, with the current paths of its files and derived inputs by value.

    Args:
        task: What to compute.
        workspace: Knows where moved files are, and holds derived inputs.
        pace: Seconds between two results on the way.
    """
    request = _located(task.request, workspace)
    merged = [(step.done, step.total, step.note, step.result) for step in task.merge]
    more = {
        "merge": merged,
        "derived": _derived(task, workspace),
        "data": _data(task),
        "kept": task.kept,
    }
    document, arrays = take_apart(more)
    if task.part is None:
        part = None
    else:
        part = [task.part.start, task.part.stop]
    header = {
        "do": "run",
        "request": request.model_dump(mode="json"),
        "part": part,
        "pace": pace,
        "more": document,
    }
    return Frame({**header, "trusted": sorted(task.trusted)}, arrays)


def read_task(frame: Frame) -> Task:
    """The task in a frame, with the data it brings along."""
    from robgui.core.dataset.derived import Derived, DerivedDataset
    from robgui.core.execution.asking.by_value import from_value

    header = frame.header
    request = Request.model_validate(header["request"])
    known = find(request.analysis)
    if known.shards is not None:
        hint = known.part(range(0)).result
    else:
        hint = known.result
    merged = put_together(_list_of(_step_of(hint)), header["more"]["merge"], frame.arrays)
    derived = put_together(_list_of(Derived), header["more"]["derived"], frame.arrays)
    value = put_together(dict, header["more"]["data"], frame.arrays)
    if derived:
        data: Dataset | None = DerivedDataset(derived)
    else:
        data = None
    data = from_value(value) if value else data
    steps = tuple(Step(done, total, result, note) for done, total, note, result in merged)
    if header["part"] is None:
        part = None
    else:
        part = range(*header["part"])
    kept = _kept(known, header["more"]["kept"], frame.arrays)
    return Task(request, part, steps, frozenset(header["trusted"]), data, kept)


def report_frame(report: Report) -> Frame:
    """A worker's report; an error of ours travels with its details."""
    arrays: Arrays = {}
    step = None
    if report.step is not None:
        (document, kept), arrays = take_apart([report.step.result, report.step.kept])
        step = {
            "done": report.step.done,
            "total": report.step.total,
            "note": report.step.note,
            "cut": report.step.cut,
            "result": document,
            "kept": kept,
        }
    header = {
        "report": report.state.value,
        "done": report.done,
        "total": report.total,
        "calls": report.calls,
        "device": report.device,
        "versions": dict(report.versions),
        "step": step,
        **error_words(report.problem, report.error, report.details),
    }
    return Frame(header, arrays)


def read_report(frame: Frame, hint: Any, kept: Any = None) -> Report:
    """The report in a frame; FrameError if any of it is malformed.

    Args:
        frame: What a worker has sent.
        hint: The type of the result.
        kept: The type of what a Step keeps for a restart; None if it keeps nothing.
    """
    header = frame.header
    try:
        state = RunState(header["report"])
        step = header["step"]
        error, details, problem = read_error(header)
        return Report(
            state=state,
            step=None if step is None else _step(step, hint, kept, frame.arrays),
            done=_whole(header["done"]),
            total=None if header["total"] is None else _whole(header["total"]),
            calls=_whole(header["calls"]),
            device=text(header["device"]),
            versions={text(name): text(value) for name, value in header["versions"].items()},
            error=error,
            details=details,
            problem=problem,
        )
    except (KeyError, ValueError, TypeError, AttributeError, RecursionError, RobguiError) as error:
        raise FrameError(
            f"a report is malformed ({type(error).__name__}: {str(error)[:200]})"
        ) from error


def error_words(problem: BaseException | None, sentence: str, details: str = "") -> dict[str, Any]:
    """An error as JSON values."""
    if isinstance(problem, RobguiError):
        ours = problem
    else:
        ours = None
    return {
        "error": (sentence + confinement_hint(problem))[:_MOST_TEXT],
        # The end of a traceback says what happened; its beginning only where.
        "details": details[-_MOST_TEXT:],
        "kind": "" if ours is None else type(ours).__name__,
        "remedy": ours.remedy.name if ours is not None and ours.remedy is not None else "",
        "option": getattr(ours, "option", ""),
    }


def read_error(header: Mapping[str, Any]) -> tuple[str, str, BaseException | None]:
    """Sentence, details and, if there is one, the rebuilt error itself."""
    sentence, details = text(header["error"]), text(header["details"])
    if not sentence:
        return "", details, None
    kind = _ERRORS.get(text(header["kind"]), RobguiError)
    # Without its own __init__, whose arguments did not travel; only the class and the words did.
    problem = kind.__new__(kind)
    RobguiError.__init__(
        problem, sentence, remedy=Remedy[header["remedy"]] if header["remedy"] else None
    )
    if isinstance(problem, errors.TrustError):
        problem.code = None
    if isinstance(problem, errors.DataError):
        problem.option = text(header["option"])
    return sentence, details, problem


def read_answer(frame: Frame, hint: Any) -> Any:
    """The answer in a frame, or the error; FrameError if it is malformed.

    Args:
        frame: What a worker has sent.
        hint: The type of the answer.
    """
    try:
        if "answer" in frame.header:
            return put_together(hint, frame.header["value"], frame.arrays)
        sentence, _, problem = read_error(frame.header)
        return problem or errors.ModelError(sentence)
    except (KeyError, ValueError, TypeError, RecursionError, RobguiError) as error:
        raise FrameError(f"an answer is malformed ({type(error).__name__})") from error


def read_text(value: Any) -> str:
    """A text from a worker; FrameError if it is not one."""
    try:
        return text(value)
    except TypeError as error:
        raise FrameError(str(error)) from error


def text(value: Any) -> str:
    """A text from a worker, cut to a bearable length."""
    if not isinstance(value, str):
        raise TypeError("a text was expected")
    return value[:_MOST_TEXT]


def _step(step: Any, hint: Any, kept_hint: Any, arrays: Arrays) -> Step[Any]:
    if step["total"] is None:
        total = None
    else:
        total = _whole(step["total"])
    result = put_together(hint, step["result"], arrays)
    kept = None
    if kept_hint is not None and step["kept"] is not None:
        kept = put_together(kept_hint, step["kept"], arrays)
    return Step(_whole(step["done"]), total, result, text(step["note"]), step["cut"] is True, kept)


def _kept(known: Analysis, document: Any, arrays: Arrays) -> Any:
    """What a task brings along from an interrupted run."""
    if known.kept is None or document is None:
        return None
    return put_together(known.kept, document, arrays)


def _whole(value: Any) -> int:
    # Not ``isinstance``: True would pass for 1.
    if type(value) is not int:
        raise TypeError("a whole number was expected")
    return value


def _located(request: Request, workspace: Workspace | None) -> Request:
    """The request with the current paths of its files."""
    models = tuple(
        model.model_copy(update={"path": str(find_file(model, workspace))})
        for model in request.models
    )
    dataset = request.dataset
    if dataset is not None and dataset.path:
        dataset = dataset.model_copy(update={"path": str(find_file(dataset, workspace))})
    return request.model_copy(update={"models": models, "dataset": dataset})


def _derived(task: Task, workspace: Workspace | None) -> list[Derived]:
    """The derived inputs that a task examines."""
    request = task.request
    if task.data is not None:
        return list(getattr(task.data, "items", ()))
    if request.dataset is not None:
        ids = request.dataset.options.get("derived")
    else:
        ids = None
    if not isinstance(ids, list) or workspace is None:
        return []
    return workspace.derived([int(id_) for id_ in ids if isinstance(id_, int)])


def _data(task: Task) -> dict[str, Any]:
    """Data that exist only in memory, by value."""
    from robgui.core.execution.asking.by_value import by_value

    data = task.data
    # Derived inputs travel by themselves, see ``_derived``.
    if data is None or hasattr(data, "items"):
        return {}
    assert data.shape is not None
    return by_value(data, range(len(data)), data.shape)


def _step_of(kind: Any) -> Any:
    """Done, total, note and result."""
    return tuple[int, int | None, str, kind]


def _list_of(kind: Any) -> Any:
    return list[kind]
