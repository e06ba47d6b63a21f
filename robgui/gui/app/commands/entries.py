"""Every action of the program, menu by menu: its name, its keys, its icon and its function."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtGui import QKeySequence

from robgui.gui.app.actions import Entry
from robgui.gui.app.commands.file_entries import file_entries, known_keys
from robgui.gui.app.rail import rail_entries, shortcut

if TYPE_CHECKING:
    from robgui.gui.app.commands import Commands
    from robgui.gui.app.main_window import MainWindow

KEYS = QKeySequence.StandardKey


def every_entry(commands: Commands, window: MainWindow) -> list[Entry]:
    """Every action, in the order of the menus."""
    parts = (file_entries, _editing, _running, _viewing, _helping)
    return [entry for part in parts for entry in part(commands, window)]


def _editing(commands: Commands, window: MainWindow) -> list[Entry]:
    """The menu Edit."""
    return [
        Entry("undo", "Undo", "Edit", window.store.navigation.undo.undo, KEYS.Undo, "undo"),
        Entry("redo", "Redo", "Edit", window.store.navigation.undo.redo, KEYS.Redo, "redo"),
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
            "settings",
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
        Entry(
            "stop_all",
            "Stop everything",
            "Run",
            window.store.stop_everything,
            "Ctrl+Shift+.",
            "stop",
        ),
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
            "Inspect everything, ahead of the queue",
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
            for i, page in enumerate(rail_entries())
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
        Entry(
            "reset_layout",
            "Reset layout",
            "View",
            window.reset_layout,
            icon="refresh",
            separator=True,
        ),
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
