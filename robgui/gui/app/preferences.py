"""Preferences: thresholds that judge results, how runs are computed, and trusted files.

Each threshold has its unit, its default and the analyses that use it.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from pydantic import ValidationError
from PySide6.QtCore import Qt
from PySide6.QtWidgets import (
    QComboBox,
    QDialog,
    QDialogButtonBox,
    QGridLayout,
    QScrollArea,
    QVBoxLayout,
    QWidget,
)

from robgui.core.errors import ParamsError
from robgui.core.execution.params.problems import titled
from robgui.core.execution.params.thresholds import Threshold, thresholds
from robgui.core.execution.registry import method_of
from robgui.core.text.words import number
from robgui.gui.app.process_preferences import ProcessPreferences
from robgui.gui.app.settings import Settings, save_settings
from robgui.gui.app.theme import set_heading
from robgui.gui.forms.form_editors import Editor, editor_for
from robgui.gui.model.trusted_files import TrustedFiles
from robgui.gui.widgets.form_scroll import FormScroll
from robgui.gui.widgets.plain import Label, set_tip
from robgui.gui.widgets.sized import resize_within
from robgui.gui.widgets.tabbed import Tabbed

if TYPE_CHECKING:
    from robgui.core.execution.analysis import Analysis
    from robgui.gui.app.main_window import MainWindow
    from robgui.gui.state.store import Store

INTRODUCTION = (
    "These thresholds decide between Holds, At risk and Failure found. Every form starts with them,"
    " and every verdict names the one it rests on. Results you already have keep the thresholds"
    " they were judged by."
)

_TOP = Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignTop
#: Offered beside the size in use; Ctrl++ and Ctrl+- reach others.
TEXT_SIZES = (100, 125, 150, 200)
LOOKS = {"system": "Follow the system", "light": "Light", "dark": "Dark"}


class Preferences(QDialog):
    """One row per threshold, method by method.

    Attributes:
        editors: The editor of each threshold, by its key.
        look: Light, dark, or as the system has it.
        text_size: In per cent.
        problem: What is wrong with the input; empty if nothing is.
        processes: How many runs compute at once, and how much memory each may take.
        trusted: The files that may run code; revoking takes effect at once.
    """

    def __init__(
        self, store: Store, parent: QWidget | None = None, settings: Settings | None = None
    ) -> None:
        super().__init__(parent)
        settings = settings or Settings()
        library = store.library
        self.processes = ProcessPreferences(
            settings.runs_at_once,
            settings.memory_gb,
            library.device,
            [name for name, _ in library.devices],
        )
        self.setWindowTitle("Preferences")
        self._store = store
        self.editors: dict[str, Editor] = {}
        self._known: dict[str, tuple[Analysis, Threshold]] = {}
        self.problem = Label(wordWrap=True)
        self.problem.setProperty("role", "bad")
        self.buttons = QDialogButtonBox(
            QDialogButtonBox.StandardButton.Ok
            | QDialogButtonBox.StandardButton.Cancel
            | QDialogButtonBox.StandardButton.RestoreDefaults
        )
        self.buttons.accepted.connect(self.accept)
        self.buttons.rejected.connect(self.reject)
        defaults = self.buttons.button(QDialogButtonBox.StandardButton.RestoreDefaults)
        defaults.clicked.connect(self.restore)
        introduction = Label(INTRODUCTION, wordWrap=True)
        introduction.setProperty("role", "quiet")
        layout = QVBoxLayout(self)
        layout.setContentsMargins(16, 16, 16, 16)
        layout.setSpacing(8)
        self.trusted = TrustedFiles()
        self.tabs = Tabbed(
            {
                "Thresholds": _page(introduction, self._rows()),
                "General": _page(
                    *(_headed("Appearance"), self._look(settings)),
                    *(_headed("Runs"), self.processes),
                    *(_headed("Trusted files"), self.trusted),
                ),
            }
        )
        layout.addWidget(self.tabs, 1)
        layout.addWidget(self.problem)
        layout.addWidget(self.buttons)
        resize_within(self, 116, 44)
        self.processes.memory.valueChanged.connect(lambda _: self._check())
        self._check()

    def _look(self, settings: Settings) -> QWidget:
        """Light, dark, or as the system has it, and how large the text is."""
        self.look, self.text_size = QComboBox(), QComboBox()
        for name, words in LOOKS.items():
            self.look.addItem(words, name)
        self.look.setCurrentIndex(self.look.findData(settings.look))
        # The size in use may lie between those on offer; it must not change by opening the dialog.
        for size in sorted({*TEXT_SIZES, round(100 * settings.font_scale)}):
            self.text_size.addItem(f"{size} %", size)
        self.text_size.setCurrentIndex(self.text_size.findData(round(100 * settings.font_scale)))
        place = QWidget()
        grid = QGridLayout(place)
        grid.setContentsMargins(0, 0, 0, 0)
        grid.setHorizontalSpacing(24)
        grid.setColumnStretch(1, 1)
        rows = (
            ("Colours", self.look, "Of the window and the presentation."),
            ("Text size", self.text_size, "Icons, lines and columns grow with it."),
        )
        for title, box, words in rows:
            box.setAccessibleName(title)
            label, below = Label(title), Label(words)
            label.setBuddy(box)
            below.setProperty("role", "quiet")
            row = grid.rowCount()
            grid.addWidget(label, row, 0)
            grid.addWidget(box, row, 1, Qt.AlignmentFlag.AlignLeft)
            grid.addWidget(below, row + 1, 1)
        return place

    def chosen(self) -> dict[str, float]:
        """The thresholds that differ from the program's own, by ``analysis.field``."""
        values = {key: float(editor.value()) for key, editor in self.editors.items()}
        # Only what differs is stored: a default that a later version
        # improves then reaches everyone.
        return {key: value for key, value in values.items() if value != self._default(key)}

    def restore(self) -> None:
        """Restores the program's own values."""
        for key, editor in self.editors.items():
            editor.show_value(self._default(key))
        self.processes.restore()
        self.look.setCurrentIndex(0)
        self.text_size.setCurrentIndex(self.text_size.findData(100))
        self._check()

    def _default(self, key: str) -> float:
        return self._known[key][1].default

    def _rows(self) -> QScrollArea:
        page = QWidget()
        grid = QGridLayout(page)
        grid.setContentsMargins(0, 8, 16, 8)
        grid.setHorizontalSpacing(24)
        grid.setVerticalSpacing(2)
        grid.setColumnStretch(0, 1)
        title = ""
        for known, one in self._all():
            method = method_of(known.name)
            if method is not None and method.title != title:
                title = method.title
                heading = set_heading(Label(title), "section")
                heading.setContentsMargins(0, 12, 0, 0)
                grid.addWidget(heading, grid.rowCount(), 0, 1, 2)
            self._add(grid, known, one)
        # A row beyond the last takes the height that is left over.
        grid.setRowStretch(grid.rowCount(), 1)
        return FormScroll(page)

    def _all(self) -> Iterator[tuple[Analysis, Threshold]]:
        for known in self._store.analyses.values():
            for one in thresholds(known):
                yield known, one

    def _add(self, grid: QGridLayout, known: Analysis, one: Threshold) -> None:
        """Adds a threshold: the analyses that use it, its title and value.

        Below, what it decides.
        """
        editor = editor_for(one.title, known.params.model_fields[one.field])
        editor.set_help(f"{known.title}: {one.title}", one.description)
        editor.show_value(self._store.next_run.usual(known.name).get(one.field, one.default))
        editor.edited.connect(self._check)
        editor.widget.setMinimumWidth(self.fontMetrics().averageCharWidth() * 24)
        self.editors[one.key], self._known[one.key] = editor, (known, one)
        row = grid.rowCount()
        name = Label(f"{known.title} · {one.title[:1].lower()}{one.title[1:]}", wordWrap=True)
        name.setContentsMargins(0, 6, 0, 0)
        name.setBuddy(editor.widget)
        set_tip(name, one.description)
        if one.zero and one.default == 0:
            default = one.zero
        else:
            default = number(one.default)
        grid.addWidget(name, row, 0)
        grid.addWidget(editor.widget, row, 1)
        if one.zero and one.default == 0:
            unit = ""
        else:
            unit = f"{one.unit}, "
        for place, words in enumerate((one.description, f"{unit}default {default}")):
            below = Label(words, wordWrap=True, alignment=_TOP)
            below.setProperty("role", "quiet")
            grid.addWidget(below, row + 1, place)

    def _check(self) -> None:
        """Says what is wrong; OK waits until nothing is."""
        problem = ""
        for key, editor in self.editors.items():
            wrong = _problem(*self._known[key], editor)
            editor.mark(wrong)
            problem = problem or wrong
        problem = problem or self.processes.problem()
        self.problem.setText(problem)
        self.problem.setVisible(bool(problem))
        self.buttons.button(QDialogButtonBox.StandardButton.Ok).setEnabled(not problem)


def _headed(words: str) -> QWidget:
    """The heading of a group of settings."""
    heading = set_heading(Label(words), "section")
    heading.setContentsMargins(0, 8, 0, 0)
    return heading


def _page(*widgets: QWidget) -> QWidget:
    """Widgets in a column from the top; the scrolling one takes the rest of the room."""
    page = QWidget()
    layout = QVBoxLayout(page)
    layout.setContentsMargins(0, 12, 0, 0)
    for widget in widgets:
        layout.addWidget(widget, 1 if isinstance(widget, QScrollArea) else 0)
    if not isinstance(widgets[-1], QScrollArea):
        layout.addStretch(1)
    return page


def _problem(known: Analysis, one: Threshold, editor: Editor) -> str:
    """Why the input is not valid; empty if it is."""
    try:
        # The limits of the form are those of the analysis, so nothing is written down twice.
        known.params.model_validate({one.field: editor.value()})
    except ParamsError as error:
        return str(error)
    except ValidationError as error:
        return next(iter(titled(known.params.model_fields, error).values()))
    return ""


def edit_preferences(window: MainWindow) -> None:
    """Asks for thresholds and how runs are computed; keeps both for every workspace."""
    settings = window.settings
    dialog = Preferences(window.store, window, settings)
    if dialog.exec():
        window.store.next_run.set_thresholds(dialog.chosen())
        settings.thresholds = window.store.next_run.thresholds
        settings.runs_at_once, settings.memory_gb = dialog.processes.chosen
        window.commands.set_look(dialog.look.currentData())
        size = dialog.text_size.currentData()
        # The steps of Ctrl++ lie between whole per cents: rounding must not change what nobody
        # touched.
        if size != round(100 * settings.font_scale):
            window.commands.scale_text(size / 100 / settings.font_scale)
        window.store.processes.set_limits(settings.runs_at_once, settings.memory)
        save_settings(settings)
