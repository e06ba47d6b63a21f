"""What nobody sees costs nothing while a run goes on, and is right when it comes on show."""

from __future__ import annotations

from PySide6.QtWidgets import QWidget

from robgui.core.execution.request import build_request
from robgui.core.finding import Finding
from robgui.gui.pages.compare import Compare
from robgui.gui.pages.findings import Findings
from robgui.gui.pages.overview import Overview
from robgui.gui.pages.scoreboard import BEFORE, Scoreboard
from robgui.gui.panels.generic import GenericPanel
from robgui.gui.widgets.when_seen import WhenSeen


def counted(kind, work):
    """A widget of this kind that counts how often it works."""

    def count(self, *arguments):
        self.times += 1
        return getattr(kind, work)(self, *arguments)

    count.__name__ = work  # Qt finds a slot by its name
    return type(f"Counted{kind.__name__}", (kind,), {"times": 0, work: count})


def run_twice(qtbot, store, sampled):
    """Two models answer the same question, and each run has found something."""
    for model in store.library.models:
        before = len(store.history.runs)
        request = build_request(sampled, [model], store.library.dataset, {}, indices=(0,))
        store.submit(request)
        qtbot.waitUntil(lambda n=before: sum(run.state.ended for run in store.history.runs) > n)
    qtbot.waitUntil(lambda: not store.runner.busy)
    for run in store.history.runs:
        store.history.add_finding(run.id, Finding("trap", f"of {run.id}", 0.5))
    qtbot.waitUntil(lambda: len(store.history.findings) == 2)


def tells_of_both(page, store) -> bool:
    """Whether a page shows what the two runs have left."""
    if isinstance(page, Overview):
        return "2 findings" in " ".join(one.text() for one in page.hero.next.values())
    if isinstance(page, Scoreboard):
        row = page.model().rowCount() - 1
        return all(
            page.model().index(row, column).data().startswith("✓")
            for column in (BEFORE, BEFORE + 1)
        )
    if isinstance(page, Compare):
        chosen = {page.first.currentData(), page.second.currentData()}
        return chosen == {run.id for run in store.history.runs}
    return page.model.rowCount() == len(store.history.entries()) > 0


def test_a_hidden_page_does_nothing_while_runs_go_on_and_is_right_when_it_is_shown(
    qtbot, store, sampled
):
    works = {Overview: "refresh", Compare: "refresh", Scoreboard: "refresh", Findings: "sync"}
    pages = [counted(kind, work)(store) for kind, work in works.items()]
    for page in pages:
        qtbot.addWidget(page)
    run_twice(qtbot, store, sampled)
    for page in pages:
        assert page.times == 0 and page.behind, type(page)
    for page in pages:
        with qtbot.waitExposed(page):
            page.show()
        assert page.times == 1 and not page.behind, type(page)
        assert tells_of_both(page, store), type(page)
    with qtbot.waitSignal(store.history.findings_changed):
        store.history.refresh()
    for page in pages:
        assert page.times > 1, f"on show {type(page)} follows"


def test_a_hidden_panel_draws_nothing_while_its_run_goes_on_and_its_end_when_it_is_shown(
    qtbot, store, sampled
):
    panel, seen = (counted(GenericPanel, "draw")(store, sampled) for _ in range(2))
    for one in (panel, seen):
        qtbot.addWidget(one)
    with qtbot.waitExposed(seen):
        seen.show()
    run_twice(qtbot, store, sampled)
    qtbot.waitUntil(lambda: panel.run_id is not None and not panel.live)
    assert panel.times == 0 < seen.times
    assert panel.views()[0].title == seen.views()[0].title, "an export has it all the same"
    with qtbot.waitExposed(panel):
        panel.show()
    assert panel.times == 1
    assert panel.verdict.verdict == seen.verdict.verdict is not None
    drawn = [one.board.widgets[0].view.lines[0].y.tolist() for one in (panel, seen)]
    assert drawn[0] == drawn[1]
    assert not panel.found.isHidden(), "what was found meanwhile can be opened"


def test_a_panel_that_is_cleared_before_it_is_shown_stays_empty(qtbot, store, sampled):
    panel = counted(GenericPanel, "draw")(store, sampled)
    qtbot.addWidget(panel)
    run_twice(qtbot, store, sampled)
    panel.clear()
    store.history.runs = []
    with qtbot.waitExposed(panel):
        panel.show()
    assert panel.times == 0 and panel.result is None


def test_the_findings_are_exported_as_they_are_though_their_page_was_never_shown(
    qtbot, store, sampled
):
    page = Findings(store)
    qtbot.addWidget(page)
    run_twice(qtbot, store, sampled)
    assert sorted(page.shown()) == sorted(one.id for one in store.history.findings)


def test_words_that_stay_the_same_are_not_laid_out_again(qtbot, store, sampled, monkeypatch):
    panel = GenericPanel(store, sampled)
    qtbot.addWidget(panel)
    with qtbot.waitExposed(panel):
        panel.show()
    run_twice(qtbot, store, sampled)
    qtbot.waitUntil(lambda: not panel.live and panel.verdict.verdict is not None)
    said = []
    monkeypatch.setattr(panel.verdict, "show_verdict", lambda one, live: said.append(one))
    with qtbot.waitSignal(store.history.findings_changed):
        store.history.refresh()
    assert said == []
    panel.stated = panel.stated.stopped()
    panel.say_again()
    first, second = store.library.models
    whose = f"About {second.name}, not {first.name}: "
    assert [one.sentence for one in said] == [f"{whose}{panel.stated.sentence}"]


class _Seen(WhenSeen, QWidget):
    """Counts."""

    def __init__(self) -> None:
        super().__init__()
        self.done: list[str] = []

    def first(self) -> None:
        self.done.append("first")

    def second(self) -> None:
        self.done.append("second")


def test_what_is_asked_of_a_hidden_widget_is_done_once_in_order_and_of_a_visible_one_at_once(
    qtbot,
):
    widget = _Seen()
    qtbot.addWidget(widget)
    for _ in range(3):
        widget.when_seen(widget.first)
        widget.when_seen(widget.second)
    assert widget.done == [] and widget.behind
    widget.show()
    assert widget.done == ["first", "second"] and not widget.behind
    widget.when_seen(widget.second)
    assert widget.done[2:] == ["second"]
    widget.hide()
    widget.when_seen(widget.first)
    widget.catch_up()
    assert widget.done[3:] == ["first"]
    widget.show()
    assert len(widget.done) == 4
