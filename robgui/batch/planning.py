"""Plans a suite in a worker: its models and data are opened where they are called, never here.

A worker that imports this module can be asked to plan a suite. Its answer is checked like
everything from a worker: it is JSON, and only requests in it are trusted.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from robgui.batch.places import local_workers
from robgui.batch.plan import MOST_REQUESTS, Plan, Planned, expand
from robgui.batch.suite import Suite, read_suite
from robgui.core.errors import RobguiError
from robgui.core.execution.asking.question import Question
from robgui.core.execution.asking.questions import register_question
from robgui.core.execution.executor import Executor
from robgui.core.execution.request import Request
from robgui.core.execution.worker.process import Place
from robgui.core.execution.worker.workers import Workers

if TYPE_CHECKING:
    from robgui.core.execution.loaded_cache import LoadedCache


@dataclass(frozen=True, slots=True)
class Planning:
    """A plan on the wire: the bytes of a JSON document, because it may be long."""

    document: np.ndarray


def plan_with(
    executor: Executor,
    suite: Suite,
    device: str,
    *,
    trust: bool = False,
    imports: tuple[str, ...] = (),
    costs: bool = False,
) -> Plan:
    """Every request of the suite; its models and data are opened in a worker.

    Args:
        executor: What will carry the plan out. Local workers plan themselves; for another one a
            worker is started that only plans.
        suite: What to run on what.
        device: Where.
        trust: As in ``expand``.
        imports: Modules that register analyses of the suite.
        costs: As in ``expand``.
    """
    with _planner(executor, imports) as planner:
        values = {"suite": str(suite.path), "device": device, "trust": trust, "costs": costs}
        answer: Planning = planner.ask("plan", **values)
    return read_plan(answer, trust)


def _plan(
    shelf: LoadedCache, suite: str, device: str, trust: bool, costs: bool = False
) -> Planning:
    """Plans a suite here; its models stay loaded for the requests that follow."""
    read = read_suite(Path(suite))
    plan = expand(read, device, trust=trust, keep=shelf.add_model, costs=costs)
    requests = [
        {
            "request": planned.request.model_dump(mode="json"),
            "title": planned.title,
            "parts": [[part.start, part.stop] for part in planned.parts],
            "cost": planned.cost,
        }
        for planned in plan.requests
    ]
    document = {
        "requests": requests,
        "left_out": plan.left_out,
        "trusted": sorted(plan.trusted),
    }
    return Planning(np.frombuffer(json.dumps(document).encode(), np.uint8))


def read_plan(answer: Planning, trust: bool) -> Plan:
    """The plan in an answer; raises if it is malformed.

    Code that was run is accepted only if the user has allowed code to run.
    """
    try:
        document = json.loads(answer.document.tobytes())
        # Checked again here: the process that answers has run foreign code.
        if len(document["requests"]) > MOST_REQUESTS:
            raise ValueError("too many requests")
        return Plan(
            tuple(_planned(each) for each in document["requests"]),
            tuple(_text(why) for why in document["left_out"]),
            frozenset(_text(digest) for digest in document["trusted"] if trust),
        )
    except (ValueError, TypeError, KeyError, RecursionError, AttributeError) as error:
        raise RobguiError(
            "The worker process that planned the suite answered something that is no plan"
            f" ({type(error).__name__}); run it again, and if that does not help, without the"
            " models that you do not know."
        ) from error


def _planned(each: dict[str, Any]) -> Planned:
    parts = tuple(range(int(start), int(stop)) for start, stop in each["parts"])
    request = Request.model_validate(each["request"])
    return Planned(request, _text(each["title"]), parts, _text(each["cost"]))


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise TypeError("a text was expected")
    return value


@contextmanager
def _planner(executor: Executor, imports: tuple[str, ...]) -> Iterator[Any]:
    # Workers can be asked; a cluster only computes.
    if hasattr(executor, "ask"):
        yield executor
        return
    made: Workers = local_workers([Place("cpu")], imports)
    try:
        yield made
    finally:
        made.close()


register_question(Question("plan", _plan, Planning))
