"""What changes within a page is laid out there and nowhere else."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QObject
from PySide6.QtWidgets import QApplication, QLabel, QMainWindow, QVBoxLayout, QWidget

from robgui.gui.widgets.layout_stop import LayoutStop


class Listener(QObject):
    """Counts how often a widget is laid out anew."""

    def __init__(self) -> None:
        super().__init__()
        self.count = 0

    def eventFilter(self, watched, event):
        self.count += event.type() == QEvent.Type.LayoutRequest
        return False


def _window(qtbot, wrap):
    window, page, label = QMainWindow(), QWidget(), QLabel("short")
    qtbot.addWidget(window)
    QVBoxLayout(page).addWidget(label)
    window.setCentralWidget(wrap(page))
    window.resize(400, 300)
    window.show()
    QApplication.processEvents()
    heard = Listener()
    window.installEventFilter(heard)
    label.setText("words that are very much longer than before")
    for _ in range(4):
        QApplication.processEvents()
    return window, page, heard


def test_a_page_that_changes_does_not_lay_out_the_window(qtbot):
    *_, heard = _window(qtbot, lambda page: page)
    assert heard.count, "without it Qt does"
    window, page, heard = _window(qtbot, LayoutStop)
    assert not heard.count
    assert page.size() == window.centralWidget().size()
    assert page.findChild(QLabel).width() >= page.findChild(QLabel).sizeHint().width()


def test_the_pages_of_the_window_do_not_lay_it_out(window):
    assert isinstance(window.centralWidget(), LayoutStop)
    assert window.pages.size() == window.centralWidget().size()
