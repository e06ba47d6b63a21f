"""The overview: one tile per method with its verdict in words, a status and a small picture."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QSize, Qt, Signal
from PySide6.QtGui import QPixmap, QResizeEvent, QShowEvent
from PySide6.QtWidgets import (
    QFrame,
    QGridLayout,
    QHBoxLayout,
    QLabel,
    QProgressBar,
    QPushButton,
    QScrollArea,
    QSizePolicy,
    QVBoxLayout,
    QWidget,
)

from robgui.core.execution.run import RunState
from robgui.core.headline import STATUS_WORDS, Headline
from robgui.core.text.words import duration
from robgui.gui.app.theme import icon, pixmap, set_heading, theme
from robgui.gui.panels import PAGES, Page
from robgui.report import each

if TYPE_CHECKING:
    from robgui.core.execution.execution import Execution
    from robgui.core.execution.request import Request
    from robgui.core.execution.run import Run
    from robgui.core.workspace import Workspace
    from robgui.gui.state.store import Store

#: Sign and colour of a status; the words stand beside them.
_SIGNS = {"good": ("check", "good"), "doubtful": ("warning", "warning"), "bad": ("cross", "bad"), "unknown": ("help", "quiet")}
#: A tile is at least so many characters wide; as many stand beside each other as fit.
_TILE = 44


class Overview(QWidget):
    """What all methods say about the model in use.

    Signals:
        wants: The analysis whose panel is to be shown.
        wants_run: The run that is to be shown in its panel.
    """

    wants = Signal(str)
    wants_run = Signal(object)

    def __init__(self, store: Store) -> None:
        super().__init__()
        self._store = store
        self._tiles = [Tile(page) for page in PAGES]
        self._make_head()
        self._make_grid()
        layout = QVBoxLayout(self)
        layout.setContentsMargins(16, 16, 16, 8)
        layout.setSpacing(8)
        layout.addLayout(self._head)
        layout.addWidget(self._subject)
        layout.addWidget(self._progress)
        layout.addWidget(self._left)
        layout.addWidget(self._scroll, 1)
        self._connect()
        self.refresh()

    def refresh(self) -> None:
        """The newest result of every method for the model in use."""
        store = self._store
        model = store.library.model
        data = store.library.dataset.name if store.library.dataset is not None else "no inputs"
        which = "" if store.selection.input is None else f", input {store.selection.input:,}"
        self._subject.setText(f"{model.name} on {data}{which}" if model is not None else "No model is open.")
        for tile in self._tiles:
            run = self._newest(tile.page)
            tile.set_run(run, self._place(run))
            tile.set_question(*self._question(tile.page), self._failure(tile.page) if run is None else "")
            if run is not None and self.isVisible() and tile.due(run):
                self._look(tile, run)
        self._show_progress()

    def resizeEvent(self, event: QResizeEvent) -> None:
        """As many tiles beside each other as fit."""
        super().resizeEvent(event)
        self._arrange()

    def showEvent(self, event: QShowEvent) -> None:
        """Pictures are drawn only while somebody looks."""
        super().showEvent(event)
        self.refresh()

    def _make_head(self) -> None:
        title = set_heading(QLabel("Overview"), "title")
        self.inspect = QPushButton("Inspect everything")
        self.inspect.setProperty("role", "primary")
        self.stop = QPushButton("Stop")
        self._head = QHBoxLayout()
        self._head.addWidget(title)
        self._head.addStretch(1)
        self._head.addWidget(self.stop)
        self._head.addWidget(self.inspect)
        self._subject = QLabel(wordWrap=True)
        self._subject.setProperty("role", "quiet")
        self._progress = QProgressBar(textVisible=False, maximum=1000)
        self._progress.setAccessibleName("Progress of the inspection")
        self._left = QLabel()
        self._left.setProperty("role", "quiet")

    def _make_grid(self) -> None:
        page = QWidget()
        self._grid = QGridLayout(page)
        self._grid.setContentsMargins(0, 0, 0, 0)
        self._grid.setSpacing(16)
        self._scroll = QScrollArea(widgetResizable=True, frameShape=QScrollArea.Shape.NoFrame)
        self._scroll.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self._scroll.setWidget(page)
        self._columns = self._rows = 0
        self._arrange()

    def _arrange(self) -> None:
        columns = max(1, self.width() // (self.fontMetrics().averageCharWidth() * _TILE))
        if columns == self._columns:
            return
        for column in range(self._columns):
            self._grid.setColumnStretch(column, 0)
        self._grid.setRowStretch(self._rows, 0)
        self._columns = columns
        self._rows = -(-len(self._tiles) // columns)
        for place, tile in enumerate(self._tiles):
            self._grid.addWidget(tile, place // columns, place % columns)
        for column in range(min(columns, len(self._tiles))):
            self._grid.setColumnStretch(column, 1)
        self._grid.setRowStretch(self._rows, 1)  # what is left over stays below the tiles, not within them

    def _connect(self) -> None:
        store = self._store
        self.inspect.clicked.connect(store.inspection.start)
        self.stop.clicked.connect(store.inspection.stop)
        for tile in self._tiles:
            tile.opened.connect(self._open)
        for signal in (
            store.ready,
            store.library.models_changed,
            store.library.datasets_changed,
            store.selection_changed,
            store.history.runs_changed,
            store.job_changed,
        ):
            signal.connect(lambda *_: self.refresh())
        store.inspection.changed.connect(self._show_progress)
        store.working.connect(lambda _: self._show_progress())
        theme.changed.connect(self.refresh)

    def _show_progress(self) -> None:
        inspection = self._store.inspection
        running = inspection.running
        obstacle = inspection.obstacle()
        self.inspect.setEnabled(not obstacle and not running)
        self.inspect.setToolTip(obstacle or "Runs every analysis that can work on this model, each for some seconds (Ctrl+I)")
        for widget in (self._progress, self._left, self.stop):
            widget.setVisible(running)
        if running:
            self._progress.setValue(round(1000 * inspection.share))
            left = inspection.seconds_left
            ended = sum(job.state.ended for job in inspection.jobs)
            words = f"about {duration(left)} left" if left is not None else "starting"
            self._left.setText(f"{ended} of {len(inspection.jobs)} analyses done, {words}")

    def _question(self, page: Page) -> tuple[str, str]:
        """The question of a method, and why it cannot be answered for this model."""
        store = self._store
        known = store.analyses.get(_leading(page, store))
        if known is None:
            return "", ""
        model = store.library.model
        return known.question, known.refusal(model) if model is not None else ""

    def _newest(self, page: Page) -> Run | None:
        """The newest run of a method that has a result for what the heading names."""
        return next((run for run in self._store.history.runs if run.has_result and self._named(page, run.request)), None)

    def _failure(self, page: Page) -> str:
        """Why the newest attempt failed, in words; empty when none did. What the inspection could not store counts too."""
        lost = [job for job in self._store.inspection.jobs if job.run_id is None]
        attempts: list[Execution | Run] = [*reversed(lost), *self._store.history.runs]
        for attempt in attempts:
            if attempt.state is RunState.FAILED and attempt.error and self._named(page, attempt.request):
                return attempt.error
        return ""

    def _named(self, page: Page, request: Request) -> bool:
        """Whether a request of this method is of the model and the data in use; if of one input, of the one in use.

        A scene needs no data: it counts for the model.
        """
        store = self._store
        known, dataset = store.analyses.get(request.analysis), store.library.dataset
        if known is None or known.headline is None or not _belongs(page, request.analysis):
            return False
        if store.library.model is None or each.place(request, store.library.model.fingerprint) is None:
            return False
        if request.dataset is None:
            return True
        here = store.library.locate(request, 0)
        if here is None or here[0] is not dataset:
            return False
        return known.inputs != "one" or here[1] == store.selection.input

    def _place(self, run: Run | None) -> int:
        """Which of the models of a run the model in use is."""
        model = self._store.library.model
        return 0 if run is None or model is None else each.place(run.request, model.fingerprint) or 0

    def _look(self, tile: Tile, run: Run) -> None:
        """Reads the result of a run and draws its small picture, away from the GUI thread."""
        workspace, known = self._store.history.workspace, self._store.analyses[run.request.analysis]
        if workspace is not None:
            dark, place = theme.dark, self._place(run)
            self._store.pictures.run(
                lambda: _summary(workspace, run, known.headline, place, dark),
                lambda answer: tile.set_summary(run, place, dark, *answer),
                key=f"overview {tile.page.title}",
            )

    def _open(self, page: Page, run: Run | None) -> None:
        if run is not None:
            self.wants_run.emit(run)
        else:
            self.wants.emit(_leading(page, self._store))


class Tile(QFrame):
    """One method: title, status, headline, picture, verdict.

    Signals:
        opened: ``(page, run)``; the run is None when there is none yet.
    """

    opened = Signal(object, object)

    def __init__(self, page: Page) -> None:
        super().__init__()
        self.page = page
        self._run: Run | None = None
        self._place = 0
        self._shown: tuple[str, bool] | None = None
        self._asked: tuple[str, bool] | None = None
        self._picture = QPixmap()
        self._status = "unknown"
        self.setProperty("role", "card")
        self.setAccessibleName(page.title)
        self._mark = QLabel()
        title = set_heading(QLabel(page.title), "section")
        self._sign, self._words = QLabel(), QLabel(wordWrap=True, textFormat=Qt.TextFormat.PlainText)
        self._headline = QLabel(wordWrap=True)
        self._figure = QLabel(alignment=Qt.AlignmentFlag.AlignCenter)
        self._figure.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)
        self._verdict = QLabel(wordWrap=True)
        self._verdict.setProperty("role", "quiet")
        self.open = QPushButton("Open")
        self.open.clicked.connect(lambda: self.opened.emit(self.page, self._run))
        self._arrange(title)
        theme.changed.connect(self._tint)
        self._tint()

    def set_question(self, question: str, refusal: str, failure: str) -> None:
        """What the method answers, or why it cannot, or why it did not."""
        if self._run is None:
            self._verdict.setText(refusal or question)
            self._words.setText("Does not apply to this model" if refusal else f"Failed: {failure}" if failure else "Not run yet")
            self.open.setEnabled(not refusal)
            self._status = "doubtful" if failure and not refusal else "unknown"
            self._tint()

    def set_run(self, run: Run | None, place: int) -> None:
        """The run that the tile shows, and which of its models; its picture follows."""
        if run is not None and self._run is not None and (run.id, place) == (self._run.id, self._place):
            return
        self._run, self._place = run, place
        self._shown = self._asked = None
        self._status = "unknown"
        self._headline.setText("")
        self._picture = QPixmap()
        self._figure.clear()
        self.open.setEnabled(True)
        if run is not None:
            self._verdict.setText(run.verdict)
            self._words.setText("Reading …")
        self._tint()

    def due(self, run: Run) -> bool:
        """Whether the picture of ``run`` is missing or in the wrong theme, and has not been asked for yet."""
        wanted = (run.id, theme.dark)
        if wanted in (self._shown, self._asked):
            return False
        self._asked = wanted
        return True

    def set_summary(self, run: Run, place: int, dark: bool, headline: Headline, picture: bytes) -> None:
        """The number of one model and the picture of ``run``, drawn for the light or the dark theme."""
        if self._run is None or (run.id, place) != (self._run.id, self._place):
            return
        self._shown, self._asked = (run.id, dark), None
        self._status = headline.status
        self._words.setText(STATUS_WORDS[headline.status])
        self._headline.setText(f"{headline.title}: {headline.text}".replace(" %", "\N{NO-BREAK SPACE}%"))
        self._picture.loadFromData(picture)
        self._fit()
        self._tint()

    def resizeEvent(self, event: QResizeEvent) -> None:
        """The picture takes the width of the tile."""
        super().resizeEvent(event)
        self._fit()

    def _arrange(self, title: QLabel) -> None:
        head = QHBoxLayout()
        head.addWidget(self._mark)
        head.addWidget(title, 1)
        head.addWidget(self.open)
        status = QHBoxLayout()
        status.addWidget(self._sign)
        status.addWidget(self._words, 1)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(16, 16, 16, 16)
        layout.setSpacing(8)
        layout.addLayout(head)
        layout.addLayout(status)
        layout.addWidget(self._headline)
        layout.addWidget(self._verdict)
        layout.addStretch(1)
        layout.addWidget(self._figure)

    def _fit(self) -> None:
        self._figure.setFixedHeight(0 if self._picture.isNull() else self.fontMetrics().height() * 16)
        if not self._picture.isNull():
            room = QSize(self._figure.width(), self._figure.height())
            mode = Qt.TransformationMode.SmoothTransformation
            self._figure.setPixmap(self._picture.scaled(room, Qt.AspectRatioMode.KeepAspectRatio, mode))

    def _tint(self) -> None:
        self._mark.setPixmap(pixmap(self.page.icon, 24))
        name, colour = _SIGNS[self._status]
        self._sign.setPixmap(pixmap(name, 20, getattr(theme.colours, colour)))
        self.open.setIcon(icon("forward"))


def _leading(page: Page, store: Store) -> str:
    """The analysis a method is opened with: the first that gives a first look."""
    names = [entry.analysis for entry in page.panels]
    return next((name for name in names if name in store.analyses and store.analyses[name].first_look is not None), names[0])


def _belongs(page: Page, analysis: str) -> bool:
    return any(entry.analysis == analysis for entry in page.panels)


def _summary(workspace: Workspace, run: Run, headline: Any, place: int, dark: bool) -> tuple[Headline, bytes]:
    from robgui.report.figures import draw, save

    result = workspace.result(run.id)
    figure = draw(run.request.analysis, result, dark=dark)
    own = each.headlines(headline, result, len(run.request.models))[place]
    return own, b"" if figure is None else save(figure, "png", dpi=110)
