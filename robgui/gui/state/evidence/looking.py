"""Looking: what a model looks at in a finding, before and after, asked away from the GUI thread."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from robgui.core.errors import DataError
from robgui.core.execution.registry import find

if TYPE_CHECKING:
    from robgui.core.execution.asking.witness import Ask
    from robgui.core.verdict import Verdict
    from robgui.core.view import View
    from robgui.core.workspace import Workspace
    from robgui.gui.state.store import Store

ANALYSIS = "attribution"


@dataclass(frozen=True)
class Looked:
    """What the model looks at in a finding.

    Attributes:
        title: Of the finding.
        verdict: What is said of it.
        views: What it looks like, the pictures first.
    """

    title: str
    verdict: Verdict
    views: tuple[View, ...]


def ask_what_counts(store: Store, finding: int, done: Callable[[Looked], None]) -> None:
    """Asks the model of a finding about its input before and after, then hands over the answer."""
    workspace = store.history.workspace
    if workspace is None:
        return
    # Only code that opening a model has run already in this session may run again for a look.
    trusted = sorted({model.ran for model in store.library.models if model.ran})
    store.history.working.emit("Asking what the model looks at …")

    def looked(answer: Looked) -> None:
        store.history.working.emit("")
        done(answer)

    def failed(sentence: str, details: str) -> None:
        store.history.working.emit("")
        store.say("error", sentence, details)

    # Not in the background queue: a slow model would hold up what is opened meanwhile.
    store.writing.run(
        lambda: look_at(workspace, finding, store.answers.ask, trusted), looked, failed=failed
    )


def look_at(workspace: Workspace, finding: int, ask: Ask, trusted: list[str]) -> Looked:
    """The same where no one waits."""
    from robgui.core.execution.asking.witness import witnesses

    whole = workspace.finding(finding)
    (witness,) = witnesses(workspace, [whole], ask, trusted)
    seen = next(iter(witness.findings()), None)
    if seen is None:
        raise DataError(f"What the model looks at cannot be told: {witness.left_out[0]}")
    if witness.card.kind != "image":
        raise DataError(f"{whole.title}: only pictures have parts to look at; choose another one.")
    before = witness.original(seen)
    if before is None:
        pictures = [seen.x]
    else:
        pictures = [before.x, seen.x]
    known = find(ANALYSIS)
    result = ask(
        ANALYSIS,
        model=witness.card,
        topic="looking",
        x=np.stack(pictures),
        names=["the picture"] if before is None else ["the picture before", "the picture after"],
        target=seen.expected,
    )
    params = known.params()
    return Looked(whole.title, known.verdict(result, params), tuple(known.views(result, params)))
