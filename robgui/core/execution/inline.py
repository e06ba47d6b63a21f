"""Computing in this thread: the iterator Steps, and the executor Inline."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any

from robgui.core.errors import sentence
from robgui.core.execution.carrying import carry_out
from robgui.core.execution.execution import Execution
from robgui.core.execution.loaded_cache import LoadedCache
from robgui.core.execution.run import RunState
from robgui.core.execution.step import Step


class Steps(Iterator[Step[Any]]):
    """An Execution as an iterator: ``next`` computes a Step, ``close`` stops, waiting pauses.

    Models and data are loaded by the first ``next``: creating it is free. Errors are recorded in
    the run and raised once.

    Attributes:
        execution: State, clock, verdict and findings.
    """

    def __init__(self, execution: Execution, shelf: LoadedCache) -> None:
        self.execution = execution
        execution.claim()
        self._reports = carry_out(execution.task, shelf)
        self._raised = False

    def __next__(self) -> Step[Any]:
        execution = self.execution
        while not execution.state.ended:
            before = execution.newest
            self.advance()
            if execution.newest is not None and execution.newest is not before:
                return execution.newest
        self._raise_problem()
        raise StopIteration

    def __enter__(self) -> Steps:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def advance(self) -> None:
        """Computes up to the next report; errors are recorded, not raised."""
        clock = self.execution.clock
        clock.start()
        try:
            self.execution.take(next(self._reports))
        except (KeyboardInterrupt, GeneratorExit):
            self._reports.close()
            self.execution.end(RunState.CANCELLED, "interrupted by the user")
            raise
        finally:
            # Between two calls it is the caller who takes the time.
            clock.stop()

    def stop(self) -> None:
        """Ends the run as CANCELLED with its newest Step; errors are recorded, not raised."""
        try:
            self._reports.close()
        except Exception as error:  # noqa: BLE001 - an engine that cannot clean up fails its run
            self.execution.end(RunState.FAILED, sentence(error), problem=error)
        self.execution.end(RunState.CANCELLED)

    def close(self) -> None:
        """Stops it unless it has ended."""
        self.stop()
        self._raise_problem()

    def _raise_problem(self) -> None:
        # Raised once: a second ``next`` or ``close`` after a failure
        # ends quietly, like any iterator.
        if self._raised:
            problem = None
        else:
            problem = self.execution.problem
        self._raised = True
        if problem is not None:
            raise problem


class Inline:
    """One Execution at a time, computed in this thread while ``work`` is called.

    Args:
        shelf: Where models and data come from.
    """

    attempts = 1

    def __init__(self, shelf: LoadedCache | None = None) -> None:
        self._shelf = shelf or LoadedCache()
        self._steps: Steps | None = None

    @property
    def room(self) -> int:
        """One while nothing is being computed."""
        return int(self._steps is None)

    def submit(self, execution: Execution) -> None:
        steps = Steps(execution, self._shelf)
        if execution.state.ended:
            self._steps = None
        else:
            self._steps = steps

    def work(self, seconds: float) -> None:
        until = time.monotonic() + seconds
        while self._steps is not None:
            execution = self._steps.execution
            before = execution.newest
            self._go_on(self._steps, until)
            # One Step at most per call: the caller shows it before more is computed.
            if execution.newest is not before or time.monotonic() >= until:
                return

    def ask(self, what: str, **values: Any) -> Any:
        """Answers a question as a worker would, see ``asking.questions``."""
        from robgui.core.execution.asking.questions import answer

        return answer(self._shelf, what, values)

    def close(self) -> None:
        self._steps = None

    def _go_on(self, steps: Steps, until: float) -> None:
        execution = steps.execution
        if execution.stop_asked:
            steps.stop()
        elif execution.state is RunState.PAUSED:
            execution.hold(max(0.0, until - time.monotonic()))
        else:
            steps.advance()
        if execution.state.ended:
            self._steps = None
