"""What the actions do: the functions behind the table of entries."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtWidgets import QApplication, QFileDialog, QMenu, QMessageBox

import robgui
from robgui.core.identify import Identity, Kind, identify
from robgui.gui.app.actions import Entry
from robgui.gui.app.commands.demo_leaving import DemoLeaving
from robgui.gui.app.commands.endings import MODELS, NOT_OPENED, data_names
from robgui.gui.app.commands.entries import every_entry
from robgui.gui.app.commands.figure_question import FigureQuestion
from robgui.gui.app.commands.model_questions import ModelQuestions
from robgui.gui.app.commands.possible import possible
from robgui.gui.app.commands.quitting import may_quit
from robgui.gui.app.commands.saving import Saving
from robgui.gui.app.commands.workspaces import WORKSPACES, Workspaces
from robgui.gui.app.device_menu import DeviceMenu
from robgui.gui.app.settings import Look
from robgui.gui.app.theme import is_dark, theme
from robgui.gui.pages.evidence.asking import EvidenceWindows
from robgui.gui.state.library.opening import Opening
from robgui.gui.state.selftest import check_installation

if TYPE_CHECKING:
    from robgui.gui.app.main_window import MainWindow
    from robgui.gui.pages.batch_window import BatchWindow
    from robgui.gui.pages.help import Help
    from robgui.gui.show.demo import DemoStart
    from robgui.gui.show.presentation import Presentation


class Commands:
    """Functions of the window that menus, toolbar and palette call.

    Attributes:
        presentation: The findings on the whole screen; None before it was asked for.
    """

    def __init__(self, window: MainWindow) -> None:
        self._window = window
        self._store = window.store
        self.saving = Saving(window)
        self.figures = FigureQuestion(window)
        self.workspaces = Workspaces(window)
        self._help: Help | None = None
        self.presentation: Presentation | None = None
        self._demo: DemoStart | None = None
        self.batch: BatchWindow | None = None
        self.evidence = EvidenceWindows(window)
        self._asked_for: set[Path] = set()
        self._demo_leaving = DemoLeaving(self._store)
        self.questions = ModelQuestions(
            window, lambda path: self._asked_for.discard(path.absolute())
        )
        self._store.library.added.connect(lambda item: self._remember(item.path))
        self._store.history.opened.connect(
            lambda _: self._remember(getattr(self._store.history.workspace, "path", None))
        )

    def entries(self) -> list[Entry]:
        """Every action of the program."""
        return every_entry(self, self._window)

    def fill_menus(self) -> None:
        """Fills the parts of menus that change: recent files, docks, devices."""
        w = self._window
        self._recent = QMenu("Recent files", w)
        file = w.actions_.menus["File"]
        file.setToolTipsVisible(True)  # A greyed entry says why.
        file.insertMenu(w.actions_["open_model"], self.workspaces.recent)
        file.insertSeparator(w.actions_["open_model"])
        file.insertMenu(w.actions_["start_demo"], self._recent)
        self._recent.aboutToShow.connect(self._fill_recent)
        for dock in (w.gallery_dock, w.form_dock, w.runs_dock, w.log_dock):
            w.actions_.menus["View"].insertAction(
                w.actions_["reset_layout"], dock.toggleViewAction()
            )
        devices = DeviceMenu(self._store, self.show_cluster, w)
        w.actions_.menus["Model"].addMenu(devices)
        w.status.device.setMenu(devices)
        w.actions_["dark"].setChecked(theme.dark)
        signs = {self.workspaces.recent: "runs", self._recent: "data", devices: "device"}
        w.actions_.mark(signs)
        self.refresh()

    def refresh(self) -> None:
        """Greys what cannot be done now."""
        w, store = self._window, self._store
        undo = store.navigation.undo
        w.actions_["undo"].setText(f"Undo {undo.undoText()}".strip())
        w.actions_["redo"].setText(f"Redo {undo.redoText()}".strip())
        w.actions_.enable(**possible(w))

    # --- opening ----------------------------------------------------------------------------------

    def open_path(self, path: Path, own: bool = True) -> None:
        """Opens a model, data or a workspace, whichever its content says it is.

        The first file of the user's ``own`` takes the place of the demo.
        """
        self._store.background.run(
            lambda: identify(path), lambda found: self._open_identified(path, found, own)
        )

    def _open_identified(self, path: Path, found: Identity, own: bool) -> None:
        if found.kind in NOT_OPENED:
            advice = found.remedy or NOT_OPENED[found.kind]
            self._store.say("error", f"{path} is {found.words}; {advice}.")
            return
        self._window.settings.last_folder = str(path.parent)
        if found.kind is Kind.EXPERIMENT:
            self.figures.ask(path, found)
            return
        self._asked_for.add(path.absolute())
        if own:
            self._demo_leaving.expect(path)
        if found.kind is Kind.WORKSPACE:
            self._store.open_workspace(path)
        elif found.kind is Kind.MODEL:
            self._store.library.load_model(Opening(path))
        else:
            self._store.library.load_dataset(path)

    def open_any(self) -> None:
        """Asks for a file of any kind."""
        self._ask_and_open("Open", f"All files (*);;{MODELS.partition(';;')[0]};;{WORKSPACES}")

    def open_model(self) -> None:
        """Asks for a model file."""
        self._ask_and_open("Open model", MODELS)

    def open_data(self) -> None:
        """Asks for a data file."""
        self._ask_and_open("Open data", data_names())

    def open_folder(self) -> None:
        """Asks for a folder of images."""
        folder = QFileDialog.getExistingDirectory(
            self._window, "Open image folder", self._window.settings.last_folder
        )
        if folder:
            self.open_path(Path(folder))

    def data_settings(self) -> None:
        """Shows, for editing, what the files of the data in use do not say."""
        from robgui.gui.data.data_dialog import DataDialog

        if self._store.library.dataset is not None:
            dialog = DataDialog(self._store, self._store.library.dataset, self._window)
            dialog.finished.connect(dialog.deleteLater)
            dialog.show()

    def start_demo(self) -> None:
        """Loads the bundled data and models and shows the scene that the demo opens with."""
        from robgui.gui.show.demo import DemoStart, opening_scene

        if self._demo is None:
            self._demo = DemoStart(self._store)
        scene = opening_scene()
        if scene is not None:
            self._window.show_panel(scene.name)
        self._demo.load()

    def open_workspace(self) -> None:
        """Asks for a workspace file."""
        self._ask_and_open("Open workspace", WORKSPACES)

    def find_missing(self) -> None:
        """Tells the workspace where a moved file is."""
        for reference in list(self._store.history.missing):
            path, _ = QFileDialog.getOpenFileName(
                self._window,
                f"Where is {reference.name} now? It was {reference.path}",
                self._window.settings.last_folder,
            )
            if path:
                self._store.history.relink(reference, Path(path))

    def _ask_and_open(self, title: str, kinds: str) -> None:
        folder = self._window.settings.last_folder
        path, _ = QFileDialog.getOpenFileName(self._window, title, folder, kinds)
        if path:
            self.open_path(Path(path))

    def _remember(self, path: Path | None) -> None:
        """Adds a file to the recent ones once it has been read."""
        if path is None or path.absolute() not in self._asked_for:
            return
        self._asked_for.remove(path.absolute())
        settings = self._window.settings
        settings.add_recent(path)
        self._window.welcome.show_recent(settings.recent)

    def _fill_recent(self) -> None:
        self._recent.clear()
        for text in self._window.settings.recent:
            action = self._recent.addAction(text)
            action.triggered.connect(lambda _=False, text=text: self.open_path(Path(text)))
        if not self._recent.actions():  # Qt never again opens a menu that disables itself here.
            self._recent.addAction("No files yet").setEnabled(False)

    # --- the model --------------------------------------------------------------------------------

    def check_model(self) -> None:
        """Shows how the model in use behaves, with its settings to edit."""
        if self._store.library.model is not None:
            self.questions.check(self._store.library.model)

    def pair_models(self) -> None:
        """Opens the model in use and another one as one that says where they disagree."""
        from robgui.gui.model.pairing import pair_models

        pair_models(self._store, self._window, partial(self.open_path, own=False))

    def find_inputs(self) -> None:
        """Puts the keyboard into the search of the gallery."""
        self._window.gallery_dock.show()
        self._window.gallery_dock.raise_()
        self._window.gallery.search()

    def inspect(self, *, first: bool = False) -> None:
        """Shows the overview and runs every analysis that applies, ``first`` before what waits."""
        self._window.go_to(1)
        self._store.inspection.start(first=first)

    def remove_model(self) -> None:
        """Takes the model in use off the list."""
        if self._store.library.model is not None:
            self._store.library.remove_model(self._store.library.model)

    # --- the rest ---------------------------------------------------------------------------------

    def toggle_dark(self) -> None:
        """Switches between light and dark."""
        self.set_look("light" if theme.dark else "dark")

    def set_look(self, look: Look) -> None:
        """Light, dark, or as the system has it."""
        self._window.settings.look = look
        theme.apply(is_dark(look))
        self._window.actions_["dark"].setChecked(theme.dark)

    def scale_text(self, factor: float) -> None:
        """Makes all text larger or smaller."""
        settings = self._window.settings
        settings.font_scale = min(2.5, max(0.75, settings.font_scale * factor))
        font = QApplication.font()
        font.setPointSizeF(max(9.0, theme.base_points * settings.font_scale))
        QApplication.setFont(font)
        theme.apply(theme.dark)

    def edit_preferences(self) -> None:
        """What the user has chosen for all of the program."""
        from robgui.gui.app.preferences import edit_preferences

        edit_preferences(self._window)

    def show_help(self) -> None:
        """The manual, at the page of the panel on show."""
        from robgui import manual
        from robgui.gui.pages.help import Help

        if self._help is None:
            self._help = Help(self._store, self._window)
        panel = self._window.current_panel
        self._help.show_page(
            manual.page_of(panel.analysis.name).name if panel is not None else manual.START
        )
        self._help.show()
        self._help.raise_()
        self._help.activateWindow()

    def show_batch(self) -> None:
        """Many requests from one file."""
        from robgui.gui.pages.batch_window import BatchWindow

        if self.batch is None:
            self.batch = BatchWindow(self._store, self._window)
        self.batch.show()
        self.batch.raise_()

    def show_cluster(self) -> None:
        """Where a cluster is chosen."""
        self.show_batch()
        if self.batch is not None:
            self.batch.cluster.setFocus()

    def present(self) -> None:
        """Shows the findings on the whole screen, or stops it."""
        if self.presentation is None:
            from robgui.gui.show.presentation import Presentation

            self.presentation = Presentation(self._store, self._window)
            self.presentation.left.connect(
                lambda: self._window.actions_["present"].setChecked(False)
            )
        self.presentation.toggle()
        self._window.actions_["present"].setChecked(self.presentation.isVisible())

    def start_guide(self) -> None:
        """Starts the guided tour in this window, from its beginning."""
        self._window.guide.start()

    def show_palette(self) -> None:
        """Everything by typing."""
        from robgui.gui.app.commands.places import open_palette

        open_palette(self._window)

    def show_shortcuts(self) -> None:
        """Every shortcut on one page."""
        from robgui.gui.app.palette import ShortcutSheet

        ShortcutSheet(self._window.actions_, self._window).exec()

    def show_doctor(self) -> None:
        """What is installed and what is broken, in the log."""
        check_installation(self._store)
        self._window.log_dock.show()
        self._window.log_dock.raise_()

    def show_selftest(self) -> None:
        """Runs every analysis on the device beside the processor, on a separate page."""
        from robgui.gui.pages.selftest_page import SelfTestPage

        if not self._store.selftest.running:
            self._store.selftest.start(self._store.library.device)
        page = self._window.findChild(SelfTestPage) or SelfTestPage(
            self._store.selftest, self._window
        )
        page.show()
        page.raise_()

    def show_about(self) -> None:
        """Version and purpose."""
        text = (
            f"robgui {robgui.__version__}\n\nLooks at the robustness of neural classifiers.\nNo"
            " network access, no telemetry."
        )
        QMessageBox.about(self._window, "About robgui", text)

    def may_quit(self) -> bool:
        """Asks whether to stop what is running."""
        return may_quit(self._store, self._window)
