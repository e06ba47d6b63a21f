"""What a user does in every story: press buttons, load the demo, choose a model, run an
analysis, send a result on.
"""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QMenu

from robgui.core.execution.run import RunState


def press(qtbot, button):
    """Clicks a button that a user can click."""
    assert button.isEnabled() and button.isVisible(), f"{button.text()} cannot be pressed"
    qtbot.mouseClick(button, Qt.MouseButton.LeftButton)


def click_cell(qtbot, table, row, column=0, *, twice=False):
    """Clicks, or double-clicks, a cell of a table."""
    index = table.model().index(row, column)
    table.scrollTo(index)
    place = table.visualRect(index).center()
    qtbot.mouseClick(table.viewport(), Qt.MouseButton.LeftButton, pos=place)
    if twice:
        qtbot.mouseDClick(table.viewport(), Qt.MouseButton.LeftButton, pos=place)


def idle(qtbot, window):
    """Waits until nothing is loading."""
    qtbot.waitUntil(lambda: not (window.store.busy or window.store.keeping.busy))


def load_demo(qtbot, window):
    """Starts the demo from the welcome page, takes the clothes and the network that says most,
    and goes to the first method.
    """
    press(qtbot, window.welcome.button("start_demo"))
    qtbot.waitUntil(
        lambda: (
            len(window.store.library.models) == 6
            and not (window.store.busy or window.store.keeping.busy)
        ),
    )
    datasets = window.store.library.datasets
    place = next(i for i, data in enumerate(datasets) if data.name == "fashion.npz")
    window.chooser.datasets.setCurrentIndex(place)
    window.chooser.datasets.activated.emit(place)
    idle(qtbot, window)
    choose_model(qtbot, window, "fashion_cnn.safetensors")
    window.go_to(2)


def choose_model(qtbot, window, name):
    """Takes a model from the list of the toolbar."""
    place = next(i for i, model in enumerate(window.store.library.models) if model.name == name)
    window.chooser.models.setCurrentIndex(place)
    window.chooser.models.activated.emit(place)
    idle(qtbot, window)


def run(qtbot, window, **values):
    """Fills the form on show, presses Run and waits until the run is in the history and drawn.

    Returns the run.
    """
    history, panel = window.store.history, window.current_panel
    window.run_pane.form().set_values(values)
    before = len(history.runs)
    press(qtbot, window.run_pane.run)
    qtbot.waitUntil(
        lambda: (
            len(history.runs) > before
            and history.runs[0].state.ended
            and not window.store.runner.busy
        ),
    )
    newest = history.runs[0]
    assert newest.state is RunState.DONE, newest.error
    qtbot.waitUntil(
        lambda: panel.run_id == newest.id and panel.verdict.text() == newest.verdict.text,
    )
    return newest


def send(qtbot, window, offer, analysis):
    """Opens the menu of Send to, as a click does, and takes the entry of ``analysis`` under the
    offer of that title.
    """
    button = window.current_panel.send
    assert button.isVisible() and button.isEnabled(), "nothing can be sent from here"
    button.menu().aboutToShow.emit()
    place = _submenu(button.menu(), offer)
    title = window.store.analyses[analysis].title
    action = next(action for action in place.actions() if action.text() == title)
    with qtbot.waitSignal(window.store.sending.arrived):
        action.trigger()
    assert window.current_panel is window.panel(analysis), "the panel of the analysis is on show"
    idle(qtbot, window)


def _submenu(menu: QMenu, title: str) -> QMenu:
    for action in menu.actions():
        if action.text() == title:
            return action.menu() if action.menu() is not None else menu
    raise AssertionError(f"{title} is not offered: {[action.text() for action in menu.actions()]}")
