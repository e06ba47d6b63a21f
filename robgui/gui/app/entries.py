"""Every action of the program, menu by menu: its name, its keys, its icon and its function."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtGui import QKeySequence

from robgui.gui.app.actions import Entry
from robgui.gui.app.rail import places, shortcut
from robgui.report.trackers.installed import TRACKERS, lacking

if TYPE_CHECKING:
    from robgui.gui.app.commands import Commands
    from robgui.gui.app.main_window import MainWindow

KEYS = QKeySequence.StandardKey


def every_entry(commands: Commands, window: MainWindow) -> list[Entry]:
    """Every action, in the order of the menus."""
    parts = (_opening, _keeping, _telling, _editing, _running, _viewing, _helping)
    return [entry for part in parts for entry in part(commands, window)]


def _opening(commands: Commands, window: MainWindow) -> list[Entry]:
    """What opens something."""
    return [
        Entry(
            "new_workspace",
            "New workspace …",
            "File",
            commands.workspaces.new,
            KEYS.New,
            "plus",
        ),
        Entry(
            "open",
            "Open …",
            "File",
            commands.open_any,
            KEYS.Open,
            "open",
            hint="Opens a model, data or a workspace, whichever it is",
        ),
        Entry(
            "open_model",
            "Open model …",
            "File",
            commands.open_model,
            icon="model",
            toolbar=True,
        ),
        Entry(
            "open_data",
            "Open data file …",
            "File",
            commands.open_data,
            "Ctrl+D",
            "data",
            toolbar=True,
        ),
        Entry("open_folder", "Open image folder …", "File", commands.open_folder, "Ctrl+Shift+D"),
        Entry(
            "data_settings",
            "Data settings …",
            "File",
            commands.data_settings,
            "Ctrl+Shift+M",
            hint="Which part is open, and which class of the model each class is",
        ),
        Entry("start_demo", "Start demo", "File", commands.start_demo, "Ctrl+Shift+T", "present"),
        Entry("batch", "New batch …", "File", commands.show_batch, "Ctrl+B", "cluster"),
    ]


def _keeping(commands: Commands, window: MainWindow) -> list[Entry]:
    """What keeps the work, or hands it on."""
    return [
        Entry(
            "open_workspace",
            "Open workspace …",
            "File",
            commands.open_workspace,
            "Ctrl+Shift+O",
            "open",
            separator=True,
        ),
        Entry(
            "save",
            "Save",
            "File",
            commands.workspaces.save,
            KEYS.Save,
            "save",
            hint="Everything is kept as it happens; work without a name is given one",
        ),
        Entry(
            "save_workspace",
            "Save as …",
            "File",
            commands.workspaces.save_as,
            KEYS.SaveAs,
        ),
        Entry(
            "export_workspace",
            "Export all runs as files …",
            "File",
            commands.saving.export_workspace,
        ),
        Entry(
            "export_findings",
            "Export findings as images and CSV …",
            "File",
            commands.saving.export_findings,
            icon="findings",
        ),
        Entry(
            "export_made",
            "Export the inputs that the run has made …",
            "File",
            commands.saving.export_made,
            icon="export",
            hint="Such as the corrupted pictures, with labels and how each was made",
        ),
        Entry(
            "make_tests",
            "Make tests of starred findings …",
            "File",
            commands.saving.make_tests,
            icon="findings",
            hint="Writes their inputs, a pytest file and a suite for robgui check",
        ),
        Entry(
            "post_mortem",
            "Post-mortem of the chosen finding",
            "File",
            commands.evidence.post_mortem,
            icon="findings",
            hint="Runs what is missing for a minute, and says what is behind the finding",
        ),
        Entry(
            "look",
            "What the model looks at in the chosen finding",
            "File",
            commands.evidence.look,
            icon="eye",
            hint="Before and after, with the parts that speak for the class and against it",
        ),
        Entry("find_missing", "Find missing file …", "File", commands.find_missing, icon="link"),
    ]


def _telling(commands: Commands, window: MainWindow) -> list[Entry]:
    """What leaves the program as a report, a picture or numbers, and the end of it."""
    return [
        Entry(
            "report",
            "Write report …",
            "File",
            commands.saving.write_report,
            "Ctrl+Shift+R",
            "report",
            separator=True,
        ),
        Entry(
            "report_words",
            "Report: own text and logo …",
            "File",
            commands.saving.ask_report_words,
            icon="report",
        ),
        *(
            Entry(
                f"log_{name}",
                f"Log runs to {title}",
                "File",
                partial(commands.saving.log_runs, name),
                icon="report",
                hint=lacking(name)
                or "Settings, numbers, verdict, picture of every run; the report",
            )
            for name, (title, _) in TRACKERS.items()
        ),
        Entry(
            "save_picture",
            "Save picture …",
            "File",
            commands.saving.save_picture,
            "Ctrl+E",
            "export",
        ),
        Entry(
            "copy_picture",
            "Copy picture",
            "File",
            commands.saving.copy_picture,
            "Ctrl+Shift+C",
            "copy",
        ),
        Entry(
            "save_numbers", "Save numbers …", "File", commands.saving.save_numbers, "Ctrl+Shift+E"
        ),
        Entry(
            "quit", "Quit", "File", window.close, known_keys(KEYS.Quit, "Ctrl+Q"), separator=True
        ),
    ]


def _editing(commands: Commands, window: MainWindow) -> list[Entry]:
    """The menu Edit."""
    return [
        Entry("undo", "Undo", "Edit", window.store.navigation.undo.undo, KEYS.Undo, "undo"),
        Entry("redo", "Redo", "Edit", window.store.navigation.undo.redo, KEYS.Redo),
        Entry(
            "find_inputs",
            "Find inputs",
            "Edit",
            commands.find_inputs,
            KEYS.Find,
            "search",
            hint="Searches the inputs by label, prediction, confidence, tag, finding or name",
        ),
        Entry(
            "back",
            "Back to what was looked at before",
            "Edit",
            window.store.navigation.back,
            KEYS.Back,
            "back",
            separator=True,
        ),
        Entry(
            "forward",
            "Forward again",
            "Edit",
            window.store.navigation.forward,
            KEYS.Forward,
            "forward",
        ),
        Entry(
            "preferences",
            "Preferences …",
            "Edit",
            commands.edit_preferences,
            known_keys(KEYS.Preferences, "Ctrl+,"),
            separator=True,
            hint="Thresholds that decide what holds, what is at risk and what fails",
        ),
    ]


def _running(commands: Commands, window: MainWindow) -> list[Entry]:
    """The menus Run and Model."""
    return [
        Entry("run", "Run", "Run", window.run_pane.start, "Ctrl+R", "run"),
        Entry("pause", "Pause or resume", "Run", window.run_pane.toggle_pause, "Ctrl+P", "pause"),
        Entry("stop", "Stop", "Run", window.run_pane.stop_job, "Ctrl+.", "stop"),
        Entry("stop_all", "Stop everything", "Run", window.store.stop_everything, "Ctrl+Shift+."),
        Entry(
            "inspect",
            "Inspect everything",
            "Run",
            commands.inspect,
            "Ctrl+I",
            "overview",
            separator=True,
        ),
        Entry(
            "inspect_first",
            "Inspect everything before what waits",
            "Run",
            partial(commands.inspect, first=True),
            "Ctrl+Shift+I",
            "overview",
        ),
        Entry("compare", "Compare this run", "Run", window.show_comparison, "Ctrl+K", "compare"),
        Entry("check_model", "Check model …", "Model", commands.check_model, "Ctrl+M", "eye"),
        Entry(
            "check_tests",
            "Check a model against tests …",
            "Model",
            commands.evidence.check_tests,
            icon="check",
            hint="Says which findings a later model has fixed, which are still there, what is new",
        ),
        Entry("pair", "Two models as one …", "Model", commands.pair_models, icon="compare"),
        Entry(
            "remove_model", "Remove model from list", "Model", commands.remove_model, icon="trash"
        ),
    ]


def _viewing(commands: Commands, window: MainWindow) -> list[Entry]:
    """The menu View."""
    return [
        *(
            Entry(
                f"page_{i}",
                f"Show {page.title}",
                "View",
                partial(window.go_to, i),
                shortcut(i),
                page.icon,
            )
            for i, page in enumerate(places())
        ),
        Entry(
            "dark",
            "Dark theme",
            "View",
            commands.toggle_dark,
            "Ctrl+T",
            "theme",
            checkable=True,
            separator=True,
        ),
        Entry(
            "larger", "Larger text", "View", lambda: commands.scale_text(1.1), KEYS.ZoomIn, "plus"
        ),
        Entry(
            "smaller",
            "Smaller text",
            "View",
            lambda: commands.scale_text(1 / 1.1),
            KEYS.ZoomOut,
            "minus",
        ),
        Entry("reset_layout", "Reset layout", "View", window.reset_layout, separator=True),
        Entry(
            "present",
            "Present findings",
            "View",
            commands.present,
            "F11",
            "present",
            checkable=True,
            separator=True,
        ),
    ]


def _helping(commands: Commands, window: MainWindow) -> list[Entry]:
    """The menu Help."""
    return [
        Entry("help", "Help on this page", "Help", commands.show_help, KEYS.HelpContents, "help"),
        Entry("guide", "Guided tour", "Help", commands.start_guide, "Shift+F1", "eye"),
        Entry("palette", "Find command …", "Help", commands.show_palette, "Ctrl+Shift+P", "search"),
        Entry("shortcuts", "Keyboard shortcuts", "Help", commands.show_shortcuts, "?", "info"),
        Entry("doctor", "Check the installation …", "Help", commands.show_doctor, icon="check"),
        Entry("selftest", "Test the device …", "Help", commands.show_selftest, icon="check"),
        Entry("about", "About robgui", "Help", commands.show_about, icon="info"),
    ]


def known_keys(
    standard: QKeySequence.StandardKey, otherwise: str
) -> QKeySequence.StandardKey | str:
    """The keys that the system has for something, or ours where it has none."""
    return standard if QKeySequence.keyBindings(standard) else otherwise
