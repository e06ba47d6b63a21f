"""The windows beside the main one, as a user opens them."""

from __future__ import annotations

from collections.abc import Iterator

from PySide6.QtTest import QTest
from PySide6.QtWidgets import QWidget

from robgui.gui.app.main_window import MainWindow
from robgui.gui.app.palette import CommandPalette, ShortcutSheet
from robgui.gui.app.preferences import Preferences
from robgui.gui.pages.findings.harm_dialog import HarmDialog
from robgui.gui.pages.help import Help
from robgui.gui.show.presentation import Presentation
from robgui.gui.show.report_dialog import ReportDialog
from robgui.report.own import Own

#: A text of the length that people write.
OWN = Own("Robustness of the light", "For the release of May.\nWhat follows: no release.", b"")


def dialogs(window: MainWindow) -> Iterator[tuple[str, QWidget]]:
    """Each window on show, with its name; it is gone when the next one comes.

    They are as large as they make themselves; those over the whole screen as large as the main
    window.
    """
    store = window.store
    made = {
        "preferences": lambda: Preferences(store, window, window.settings),
        "report words": lambda: ReportDialog(OWN, window),
        "shortcuts": lambda: ShortcutSheet(window.actions_, window),
        "palette": lambda: CommandPalette(window.actions_, window),
        "harm": lambda: HarmDialog(store.history.harm, ("red", "green", "none"), window),
    }
    for name, make in made.items():
        yield from _shown(name, make())
    manual = Help(store, window)
    manual.show_page("semantic")
    yield from _shown("help", manual)
    yield from _slides(window)


def _slides(window: MainWindow) -> Iterator[tuple[str, QWidget]]:
    story = Presentation(window.store, window)
    story.toggle()
    story.showNormal()
    story.resize(window.size())
    while not story.slides or story.size() != window.size():
        story.resize(window.size())  # the whole screen may come late
        QTest.qWait(10)
    for place in range(len(story.slides)):
        story.go(place)
        yield f"slide {place + 1}", story
    story.close()
    story.deleteLater()


def _shown(name: str, dialog: QWidget) -> Iterator[tuple[str, QWidget]]:
    dialog.show()
    yield name, dialog
    dialog.close()
    dialog.deleteLater()
