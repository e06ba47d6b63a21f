"""The pane on the right: the form of the present analysis and Run, Pause, Stop."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from PySide6.QtCore import Qt, QTimer
from PySide6.QtWidgets import (
    QHBoxLayout,
    QMenu,
    QPushButton,
    QScrollArea,
    QStackedWidget,
    QToolButton,
    QVBoxLayout,
    QWidget,
)

from robgui.core.execution.run import RunState
from robgui.core.text.words import as_sentence, count
from robgui.gui.app.theme import icon, set_heading, theme
from robgui.gui.forms.budget import Budget
from robgui.gui.forms.foreign_targets import drop_foreign_targets
from robgui.gui.forms.forms import ParamsForm
from robgui.gui.forms.run_progress import RunProgress
from robgui.gui.forms.scope_line import ScopeLine
from robgui.gui.forms.steady_width import hold_width
from robgui.gui.widgets.elided import beginning
from robgui.gui.widgets.form_scroll import FormScroll
from robgui.gui.widgets.plain import Label, set_tip

if TYPE_CHECKING:
    from robgui.core.execution.execution import Execution
    from robgui.core.execution.request import Request
    from robgui.gui.state.store import Store


#: Characters of the reason why Run is grey on the folded strip; the tool tip has all of them.
WHY = 46
#: QWIDGETSIZE_MAX: undoes a limit.
MOST_PIXELS = 16_777_215

#: More models than these that do not fit are counted; the tool tip names them.
MISFITS = 2


class RunPane(QWidget):
    """The settings of one analysis at a time; the buttons are a function of the run's state.

    Attributes:
        obstacle: Why nothing can be run, in full, above the buttons.
        why: The same beside Run, cut to one line.
        models: Names the models that are run, where there are several.
        left: How far the run at work is, in words.
        scope: On which inputs an analysis of many runs while a filter is set.
        short_scope: The same beside Run, cut to one line.
    """

    def __init__(self, store: Store) -> None:
        super().__init__()
        self._store = store
        self._analysis = ""
        self._forms: dict[str, ParamsForm] = {}
        self._pages: dict[str, QScrollArea] = {}
        self._title = set_heading(Label(wordWrap=True), "section")
        self._question = Label(wordWrap=True)
        self._question.setProperty("role", "quiet")
        self.models = Label(wordWrap=True)
        self.models.setAccessibleName("Models that are run")
        self.ticks = QToolButton(
            text="Models …",
            toolTip="Tick the models that are run together",
            autoRaise=True,
            popupMode=QToolButton.ToolButtonPopupMode.InstantPopup,
        )
        self.ticks.setMenu(QMenu(self.ticks))
        self.ticks.menu().aboutToShow.connect(self.fill_ticks)
        self.obstacle = Label(wordWrap=True)
        self.obstacle.setProperty("role", "warning")
        self._stack = QStackedWidget()
        self.budget = Budget()
        self.run = QPushButton("Run", toolTip="Run this analysis (Ctrl+R)")
        self.run.setProperty("role", "primary")
        self.pause = QPushButton("Pause")
        self.stop = QPushButton("Stop", toolTip="Stop and keep what there is (Ctrl+.)")
        self.reset = QPushButton("Defaults", toolTip="Back to the default settings")
        self._line = RunProgress()
        self.progress, self.left = self._line.bar, self._line.words
        self.scope, self.short_scope = ScopeLine(store), ScopeLine(store, short=True)
        self.folded = False
        self.strip = QWidget()
        self.unfold = QToolButton(text="Settings", toolTip="Unfold the settings", autoRaise=True)
        self.unfold.setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonTextBesideIcon)
        self.why = Label()
        self.why.setProperty("role", "warning")
        self._arrange()
        self._connect()
        self._tint()
        self.refresh()

    def show_analysis(self, name: str) -> None:
        """Shows the form of ``name``; an empty name shows none."""
        self._analysis = name
        known = self._store.analyses.get(name)
        self._title.setText(known.title if known else "")
        self._question.setText(known.question if known else "")
        if known is not None:
            self._stack.setCurrentWidget(self._page(name))
        self.refresh()

    def set_folded(self, folded: bool) -> None:
        """Folded, the buttons stand on the strip and the form is out of sight."""
        if folded == self.folded:
            return
        self.folded = folded
        buttons = (self.run, self.pause, self.stop)
        if folded:
            for place, widget in enumerate((self.progress, *buttons), start=3):
                self._strip_row.insertWidget(place, widget)
        else:
            self._running.addWidget(self.progress)
            for button in buttons:
                self._buttons.addWidget(button, 1)
        letters = self.fontMetrics().averageCharWidth() * 12
        self.progress.setMaximumWidth(letters if folded else MOST_PIXELS)
        self.refresh()

    def form(self) -> ParamsForm | None:
        """The form on show."""
        return self._forms.get(self._analysis)

    def start(self) -> None:
        """Presses Run, if it can be pressed."""
        request = self._store.next_run.request(self._analysis)
        if request is not None and not self._store.next_run.obstacle(self._analysis):
            self._store.submit(request)

    def refresh(self) -> None:
        """Buttons, progress and the reason why Run is grey."""
        job = self._job()
        known = self._analysis in self._store.analyses
        if known:
            obstacle = self._store.next_run.obstacle(self._analysis)
        else:
            obstacle = ""
        self._show_models()
        self.scope.tell(self._analysis)
        self.short_scope.tell(self._analysis)
        self.obstacle.setText(obstacle)
        self.obstacle.setVisible(bool(obstacle))
        room = WHY * self.fontMetrics().averageCharWidth()
        if known:
            title = self._store.analyses[self._analysis].title
        else:
            title = ""
        why = obstacle.removeprefix(f"{title} ")  # The tab says which analysis it is.
        self.why.setText(beginning(as_sentence(why), self.fontMetrics(), room))
        set_tip(self.why, obstacle)
        self.why.setVisible(bool(obstacle))
        self.run.setEnabled(known and not obstacle)
        self.run.setText("Run" if self._store.runner.has_room else "Queue")
        self.pause.setEnabled(job is not None)
        self.pause.setText(
            "Resume" if job is not None and job.state is RunState.PAUSED else "Pause"
        )
        self.stop.setEnabled(job is not None)
        set_tip(self.stop, f"Stop {self._whose(job)}and keep what there is (Ctrl+.)")
        self.reset.setEnabled(known)
        self._show_budget()
        self._show_progress(job)

    def _show_budget(self) -> None:
        """What Run would cost with these settings, and its time limit."""
        params = self._store.next_run.params.get(self._analysis)
        self.budget.setVisible(params is not None)
        if params is not None:
            cost = self._store.next_run.estimate(self._analysis)
            self.budget.show_limit(params.max_seconds)
            self.budget.show_estimate(cost)
            # Folded, the form with the cost is out of sight.
            told = "" if cost is None else f": {cost.words}"
            set_tip(self.run, f"Run this analysis (Ctrl+R){told}")

    def _limit(self, seconds: float) -> None:
        # -1 stands for a time that the form has already.
        if (form := self.form()) is not None and seconds >= 0:
            form.set_values({"max_seconds": seconds})

    def _show_models(self) -> None:
        """Says which models are run by an analysis that looks at several.

        The toolbar names only one.
        """
        names = [model.name for model in self._store.next_run.compared(self._analysis)]
        fitting = self._store.next_run.fitting_models()
        left_out = self._store.next_run.left_out() if names else {}
        self.models.setVisible(bool(names))
        self.ticks.setVisible(bool(names) and len(fitting) > 1)
        misfits = "; ".join(f"{name} ({why})" for name, why in left_out.items())
        set_tip(self.models, f"Left out: {misfits}." if misfits else "")
        if len(left_out) > MISFITS:
            misfits = f"{len(left_out)} models that do not fit"
        without = f" Left out: {misfits}." if misfits else ""
        self.models.setText(f"Runs {count(len(names), 'model')}: {', '.join(names)}.{without}")

    def fill_ticks(self) -> None:
        """The models that fit, to be ticked; the one in use always runs."""
        menu = self.ticks.menu()
        menu.clear()
        for model in self._store.next_run.fitting_models():
            action = menu.addAction(model.name)
            action.setCheckable(True)
            action.setChecked(model.content not in self._store.next_run.unticked)
            action.toggled.connect(lambda on, model=model: self._store.next_run.tick(model, on))
            if model is self._store.library.model:
                action.setChecked(True)
                action.setEnabled(False)

    def _page(self, name: str) -> QScrollArea:
        """The scrolling page with the form of ``name``, made when it is first needed."""
        if name not in self._pages:
            form = ParamsForm(
                self._store.analyses[name].params, usual=self._store.next_run.usual(name)
            )
            form.changed.connect(lambda: self._store.next_run.set_params(name, form.values()))
            page = FormScroll(form)
            self._stack.addWidget(page)
            self._forms[name], self._pages[name] = form, page
            self._store.next_run.set_params(name, form.values())
        return self._pages[name]

    def _arrange(self) -> None:
        self._buttons = QHBoxLayout()
        row = self._strip_row = QHBoxLayout(self.strip)
        row.setContentsMargins(8, 1, 8, 1)
        row.addStretch(1)  # What comes and goes on the left must not move a button.
        row.addWidget(self.short_scope)
        row.addWidget(self.why)
        row.addWidget(self.unfold)
        for button in (self.run, self.pause, self.stop):
            self._buttons.addWidget(button, 1)
            button.setProperty("tight", True)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(16, 16, 16, 16)
        layout.setSpacing(8)
        for widget in (self._title, self._question):
            layout.addWidget(widget)
        layout.addWidget(self._stack, 1)
        layout.addWidget(self.models)
        layout.addWidget(self.ticks, 0, Qt.AlignmentFlag.AlignLeft)
        layout.addWidget(self.scope)
        layout.addWidget(self.obstacle)
        layout.addWidget(self.budget)
        self._running = QVBoxLayout()
        self._running.addWidget(self.progress)
        layout.addLayout(self._running)
        layout.addWidget(self.left)
        layout.addLayout(self._buttons)
        layout.addWidget(self.reset)

    def _connect(self) -> None:
        store = self._store
        self.run.clicked.connect(self.start)
        self.pause.clicked.connect(self.toggle_pause)
        self.stop.clicked.connect(self.stop_job)
        self.reset.clicked.connect(self._reset)
        self.budget.chosen.connect(self._limit)
        for signal in (
            store.job_changed,
            store.library.models_changed,
            store.library.datasets_changed,
            store.selection_changed,
            store.scope_changed,
            store.params_changed,
            store.working,
        ):
            signal.connect(lambda *_: self.refresh())
        # Forms are made from the analyses, which are found after the window is on screen.
        store.ready.connect(lambda: self.show_analysis(self._analysis))
        store.library.models_changed.connect(
            lambda: drop_foreign_targets(self._forms.values(), store.library.model)
        )
        store.job_stepped.connect(lambda _: self._show_progress(self._job()))
        store.history.result_shown.connect(lambda run, _: self._take_params(run.request))
        store.params_offered.connect(self.show_params)
        store.thresholds_changed.connect(self._take_thresholds)
        # Seconds go on between two Steps, which may be minutes apart.
        clock = QTimer(self, interval=500)
        clock.timeout.connect(lambda: self._show_progress(self._job()))
        clock.start()
        theme.changed.connect(self._tint)

    def _job(self) -> Execution | None:
        """The run that the buttons are about: of this analysis, else the first at work."""
        return self._store.runner.at_work_on(self._analysis)

    def toggle_pause(self) -> None:
        """Pauses the running Execution, or goes on with it."""
        if (job := self._job()) is not None:
            job.resume() if job.state is RunState.PAUSED else job.pause()

    def stop_job(self) -> None:
        """Stops the running Execution."""
        if (job := self._job()) is not None:
            # Stop is greyed next, and Qt would pass the focus to whatever follows it.
            self.run.setFocus()
            job.stop()

    def _reset(self) -> None:
        if (form := self.form()) is not None:
            form.reset()

    def _take_thresholds(self) -> None:
        for name, form in self._forms.items():
            form.set_usual(self._store.next_run.usual(name))

    def show_params(self, analysis: str, values: dict[str, Any]) -> None:
        """Puts settings into a form: a stored run's, or those that came with what was sent."""
        if analysis in self._store.analyses:
            self._page(analysis)
            self._forms[analysis].set_values(values)

    def _take_params(self, request: Request) -> None:
        """A stored run brings its settings along; a first look leaves Run to ask for more."""
        if not self._store.inspection.is_short(request):
            self.show_params(request.analysis, request.params)

    def _show_progress(self, job: Execution | None) -> None:
        self._line.show(job, self._whose(job).strip())

    def _whose(self, job: Execution | None) -> str:
        """The title of the analysis at work, where it is not the one on show, and a space."""
        if job is None or job.request.analysis == self._analysis:
            return ""
        known = self._store.analyses.get(job.request.analysis)
        return f"{job.request.analysis if known is None else known.title} "

    def _tint(self) -> None:
        self.run.setIcon(icon("run", theme.colours.on_accent))
        self.pause.setIcon(icon("pause"))
        self.stop.setIcon(icon("stop"))
        self.unfold.setIcon(icon("settings"))
        hold_width(self.run, "Run", "Queue")
        hold_width(self.pause, "Pause", "Resume")
        hold_width(self.stop, "Stop")
