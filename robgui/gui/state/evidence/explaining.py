"""Explaining: the post-mortem of a finding, computed away from the GUI thread."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from robgui.gui.state.store import Store
    from robgui.report.postmortem.facts import Facts

#: Seconds that one click may take for runs that are missing.
BUDGET = 60.0


def explain(
    store: Store, finding: int, done: Callable[[Facts], None], seconds: float = BUDGET
) -> None:
    """Runs what is missing in a process of its own, then hands over what is known."""
    # The missing runs are written into it.
    workspace = store.history.writable
    if workspace is None:
        store.say("error", "This workspace cannot be written; save it under another name first.")
        return
    trusted = sorted({model.ran for model in store.library.models if model.ran})
    store.history.working.emit("Post-mortem: running what is missing …")

    def work() -> Facts:
        from robgui.core.execution.choice import one_executor
        from robgui.core.execution.worker.terms import Terms
        from robgui.report.postmortem.making import post_mortem

        # Of its own: the runs of the window may fill their queue for hours.
        executor = one_executor(Terms(memory=store.processes.memory, polite=True))
        try:
            return post_mortem(
                workspace, finding, store.answers.ask, executor, seconds=seconds, trust=trusted
            )
        finally:
            executor.close()

    def explained(facts: Facts) -> None:
        store.history.working.emit("")
        # The runs that were missing are in the workspace now.
        store.history.refresh()
        done(facts)

    def failed(sentence: str, details: str) -> None:
        store.history.working.emit("")
        store.say("error", sentence, details)

    store.writing.run(work, explained, failed=failed)
