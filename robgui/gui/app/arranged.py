"""Arranged: the parts of the window and their places: rail, pages, docks, toolbar."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QByteArray, QPoint, QRect, QSize, Qt, QTimer
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import (
    QAbstractButton,
    QDockWidget,
    QMainWindow,
    QScrollArea,
    QSizePolicy,
    QStackedWidget,
    QTabWidget,
    QToolBar,
    QVBoxLayout,
    QWidget,
)

from robgui.gui.app.rail import Rail, rail_entries
from robgui.gui.app.room import Room
from robgui.gui.app.theme import icon, theme
from robgui.gui.docks import Gallery, LogView, Runs
from robgui.gui.forms.run_pane import RunPane
from robgui.gui.pages.findings import Findings
from robgui.gui.pages.overview import Overview
from robgui.gui.pages.start.welcome import Welcome
from robgui.gui.panels import Page, pages
from robgui.gui.widgets.layout_stop import LayoutStop

if TYPE_CHECKING:
    from robgui.gui.app.actions import Actions
    from robgui.gui.app.folding import Folding
    from robgui.gui.app.settings import Settings
    from robgui.gui.forms.chooser import Chooser
    from robgui.gui.panels.panel import Panel
    from robgui.gui.state.store import Store

#: Version of the dock arrangement: layouts saved by an older one are not restored.
LAYOUT_VERSION = 2
#: Initial size of the window, if the screen has room, and how much its frame and title bar may
#: take.
FIRST_SIZE = QSize(1366, 768)
FRAME = QSize(8, 40)
#: Least width in pixels for a passing message.
NOTICE = 320


class Arranged(QMainWindow):
    """A window with all its parts in place; the main window gives them their behaviour."""

    store: Store
    settings: Settings
    folding: Folding
    actions_: Actions
    chooser: Chooser
    pages: QStackedWidget
    _methods: tuple[Page, ...]
    compare_place: QWidget

    def go_to(self, number: int) -> None:
        """Shows page ``number``."""
        raise NotImplementedError

    def _page_chosen(self, number: int) -> None:
        """Shows a page of the rail; pressing Findings again leads back to all of them."""
        if self.pages.widget(number) is self.findings is self.pages.currentWidget():
            self.findings.show_wall()
        self.go_to(number)

    def show_findings_of(self, model: str) -> None:
        """Shows the findings of one model, by its fingerprint; all of them if it has none."""
        self.go_to(self.pages.indexOf(self.findings))
        self.findings.show_model(model)

    def _panel_chosen(self) -> None:
        """Another panel is on show."""
        raise NotImplementedError

    def reset_layout(self) -> None:
        """Puts every dock back where it was at first."""
        self.room.give_back()
        for dock in (self.gallery_dock, self.runs_dock, self.log_dock):
            dock.show()
        self._place_docks()
        self.folding.forget()
        self.size_docks()
        self.room.make(self.pages.currentWidget())
        self.folding.again()

    def free_place(self) -> QRect:
        """A free place: right of the choosers, level with menus and toolbar."""
        chooser = self.chooser
        left = chooser.mapTo(self, chooser.rect().topRight()).x() + 8
        bottom = chooser.mapTo(self, chooser.rect().bottomRight()).y()
        return QRect(QPoint(min(left, self.width() - NOTICE), 2), QPoint(self.width() - 8, bottom))

    def size_docks(self) -> None:
        """Gives the picture the room.

        A small window shows one column of inputs, a larger one two.
        """
        unit = self.fontMetrics().averageCharWidth()
        wide = self.width() >= unit * 340
        self.resizeDocks(
            [self.gallery_dock, self.form_dock],
            [unit * (46 if wide else 22), unit * 50],
            Qt.Orientation.Horizontal,
        )
        self.resizeDocks(
            [self.runs_dock], [self.fontMetrics().height() * 8], Qt.Orientation.Vertical
        )

    def _make_middle(self) -> None:
        self.welcome = Welcome()
        self._panels: dict[str, Panel] = {}
        self._methods: tuple[Page, ...] = pages()
        self.pages: QStackedWidget = QStackedWidget()
        self.pages.setMinimumSize(360, 240)
        self.overview = Overview(self.store)
        self.pages.addWidget(self.welcome)
        self.pages.addWidget(self.overview)
        for _ in self._methods:
            tabs = QTabWidget(documentMode=True)
            tabs.tabBar().setProperty("role", "methods")
            tabs.tabBar().setDrawBase(False)
            tabs.currentChanged.connect(self._panel_chosen)
            self.pages.addWidget(tabs)
        self.findings = Findings(self.store)
        self.pages.addWidget(self.findings)
        self.compare_place: QWidget = QWidget()
        QVBoxLayout(self.compare_place).setContentsMargins(0, 0, 0, 0)
        self.pages.addWidget(self.compare_place)
        self.setCentralWidget(LayoutStop(self.pages))
        self.rail = Rail(rail_entries())
        self.rail.chosen.connect(self._page_chosen)
        bar = QToolBar("Pages", objectName="rail", movable=False)
        # Qt's own menu of a toolbar offers to hide it, and nothing would bring the rail back.
        bar.setContextMenuPolicy(Qt.ContextMenuPolicy.PreventContextMenu)
        bar.addWidget(_scrolling(self.rail))
        self.addToolBar(Qt.ToolBarArea.LeftToolBarArea, bar)

    def _make_docks(self) -> None:
        self.run_pane = RunPane(self.store)
        self.gallery = Gallery(self.store)
        self.runs = Runs(self.store)
        self.log = LogView(self.store)
        self.gallery_dock = self._dock("Inputs", "gallery", self.gallery)
        self.form_dock = self._dock("Settings", "form", self.run_pane)
        self.runs_dock = self._dock("Runs", "runs", self.runs)
        self.log_dock = self._dock("Log", "log", self.log)
        theme.changed.connect(self._tint_close)
        self._tint_close()
        self.room = Room(
            (self.gallery_dock, self.runs_dock, self.log_dock),
            {
                self.welcome: (self.gallery_dock, self.runs_dock, self.log_dock),
                self.overview: (self.runs_dock, self.log_dock),
                self.findings: (self.gallery_dock, self.runs_dock, self.log_dock),
                self.compare_place: (self.gallery_dock,),
            },
        )
        area = Qt.DockWidgetArea
        # Inputs and settings reach down to the status bar; by default the lists take both corners.
        self.setCorner(Qt.Corner.BottomLeftCorner, area.LeftDockWidgetArea)
        self.setCorner(Qt.Corner.BottomRightCorner, area.RightDockWidgetArea)
        self._place_docks()

    def _tint_close(self) -> None:
        """Gives the lists a button to close them; the style alone draws none that is seen."""
        for dock in (self.runs_dock, self.log_dock):
            close = dock.findChild(QAbstractButton, "qt_dockwidget_closebutton")
            if close is not None:
                close.setIcon(icon("close"))
                close.setToolTip(f"Hide {dock.windowTitle().lower()}")

    def _dock(self, title: str, name: str, widget: QWidget) -> QDockWidget:
        # saveState knows docks by their object names.
        dock = QDockWidget(title, self, objectName=name)
        dock.setWidget(widget)
        return dock

    def _place_docks(self) -> None:
        """Inputs left, settings right, the rest as tabs below."""
        area = Qt.DockWidgetArea
        places = {
            self.gallery_dock: area.LeftDockWidgetArea,
            self.form_dock: area.RightDockWidgetArea,
            self.runs_dock: area.BottomDockWidgetArea,
            self.log_dock: area.BottomDockWidgetArea,
        }
        for dock, place in places.items():
            dock.setFloating(False)
            self.addDockWidget(place, dock)
        # Qt puts the one that joins in front.
        self.tabifyDockWidget(self.runs_dock, self.log_dock)
        self.runs_dock.raise_()

    def _make_toolbar(self) -> None:
        bar = QToolBar("Tools", objectName="tools", movable=False)
        bar.setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonTextBesideIcon)
        bar.addActions(self.actions_.for_toolbar())
        bar.addSeparator()
        bar.addWidget(self.chooser)
        self.addToolBar(Qt.ToolBarArea.TopToolBarArea, bar)

    def _restore(self) -> None:
        """Restores the layout of last time, if it fits."""
        # First: whoever has no saved geometry keeps this size.
        self.resize(first_size(self.screen().availableGeometry()))
        self.size_docks()
        self.restoreGeometry(QByteArray.fromBase64(self.settings.geometry.encode()))
        self.restoreState(QByteArray.fromBase64(self.settings.layout.encode()), LAYOUT_VERSION)
        self.folding.apply()


def _scrolling(rail: Rail) -> QScrollArea:
    """Large text on a low screen scrolls the rail; it must not make the window higher than that."""
    scroll = _RailScroll(widgetResizable=True, frameShape=QScrollArea.Shape.NoFrame)
    scroll.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
    scroll.setWidget(rail)
    # Filled as Qt does for a scrolled widget, the ground would hide the mark of the page on show.
    for part in (rail, scroll.viewport()):
        part.setAutoFillBackground(False)
    rail.marked.connect(scroll.ensureWidgetVisible)
    scroll.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Expanding)
    return scroll


class _RailScroll(QScrollArea):
    """As wide as the rail, whatever its words are, and as low as a few buttons."""

    def sizeHint(self) -> QSize:
        return QSize(self._wide(), super().sizeHint().height())

    def minimumSizeHint(self) -> QSize:
        return QSize(self._wide(), self.fontMetrics().height() * 8)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Lower, the rail may do without words, and is narrower then."""
        super().resizeEvent(event)
        QTimer.singleShot(0, self, self.updateGeometry)  # Not while the window lays itself out.

    def _wide(self) -> int:
        rail, bar = self.widget(), self.verticalScrollBar()
        if rail is None:
            return 0
        over = rail.minimumSizeHint().height() > self.height()
        return rail.minimumSizeHint().width() + (bar.sizeHint().width() if over else 0)


def first_size(available: QRect) -> QSize:
    """The size of the window when it is first opened: its frame fits the ``available`` screen."""
    return FIRST_SIZE.boundedTo(available.size() - FRAME)
