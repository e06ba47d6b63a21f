"""A number is whole or it is not shown: every table of the window at its smallest size."""

from __future__ import annotations

import re
import time
from dataclasses import replace

from PySide6.QtWidgets import QTableView

from robgui.core.execution.request import Reference, Request
from robgui.core.execution.run import Run, RunState
from robgui.core.finding import Finding
from robgui.core.verdict import Quantity, Status, Verdict
from robgui.gui.app.rail import rail_entries

#: A sign, a number, its unit: what reads as another number when its end is cut.
NUMBER = re.compile(r"^([✓✗!?] )+[\d-]|^[-+]?\d[\d.,·⁻⁰¹²³⁴⁵⁶⁷⁸⁹]*( ?[%a-zµ]{1,6}){0,4}$")
MODEL = Reference(kind="model", name="a_rather_long_name_of_a_model.pt2", fingerprint="a" * 16)
DATA = Reference(kind="dataset", name="gtsrb", fingerprint="d" * 16)
NUMBERS = (1234567.0, 3.1e-12, 0.0704, 12.3456)


def runs():
    for place, value in enumerate(NUMBERS):
        number = Quantity("Probability", value, better="low", low=value / 2, high=value * 2)
        name = ("last_particle", "zonnscan", "feature_game", "srvr")[place]
        request = Request(analysis=name, models=(MODEL,), dataset=DATA, indices=(12345,))
        said = Verdict(Status.AT_RISK, "Noise changes it.", number)
        yield Run(
            f"r{place}",
            request,
            RunState.DONE,
            time.time() - 90_000 * place,
            seconds=(0.532, 9.72, 3661.0, 200.0)[place],
            verdict=said,
            has_result=True,
        )


def test_no_cell_of_any_table_of_the_window_cuts_a_number(qtbot, window):
    history = window.store.history
    history.runs = list(runs())
    findings = [Finding("trap", f"finding {i}", i / 3) for i in range(4)]
    kept = history.workspace.add_run(Request(analysis="zonnscan"))
    history.workspace.add_findings(kept.id, findings)
    history.findings = [replace(one, run_id="r0") for one in history.workspace.findings()]
    history.runs_changed.emit()
    history.findings_changed.emit()
    window.go_to(len(rail_entries()) - 1)  # the page with the scoreboard, which is filled when seen
    window.compare.switch.setCurrentIndex(1)
    for size in ((1100, 700), (1366, 768)):
        window.resize(*size)
        qtbot.wait(100)
        seen = 0
        for table in window.findChildren(QTableView):
            for row in range(table.model().rowCount()):
                for column in range(table.model().columnCount()):
                    seen += whole(table, row, column)
        assert seen >= 6, size


def whole(table: QTableView, row: int, column: int) -> bool:
    """Whether a cell holds a number, which then must fit."""
    words = str(table.model().index(row, column).data() or "")
    if not NUMBER.match(words):
        return False
    needed = table.fontMetrics().horizontalAdvance(words)
    assert table.columnWidth(column) >= needed + 6, (table.accessibleName(), words)
    return True
