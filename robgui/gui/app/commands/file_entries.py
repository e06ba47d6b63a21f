"""The actions of the menu File."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtGui import QKeySequence

from robgui.gui.app.actions import Entry
from robgui.report.trackers.installed import TRACKERS, lacking

if TYPE_CHECKING:
    from robgui.gui.app.commands import Commands
    from robgui.gui.app.main_window import MainWindow

KEYS = QKeySequence.StandardKey


def file_entries(commands: Commands, window: MainWindow) -> list[Entry]:
    """Every action of the menu, in its order."""
    return [
        *_opening(commands),
        *_keeping(commands),
        *_handing_on(commands),
        *_telling(commands),
        Entry(
            "quit",
            "Quit",
            "File",
            window.close,
            known_keys(KEYS.Quit, "Ctrl+Q"),
            "close",
            separator=True,
        ),
    ]


def _opening(commands: Commands) -> list[Entry]:
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
        Entry(
            "open_folder",
            "Open image folder …",
            "File",
            commands.open_folder,
            "Ctrl+Shift+D",
            "open",
        ),
        Entry(
            "data_settings",
            "Data settings …",
            "File",
            commands.data_settings,
            "Ctrl+Shift+M",
            "settings",
            hint="Which part is open, and which class of the model each class is",
        ),
        Entry("start_demo", "Start demo", "File", commands.start_demo, "Ctrl+Shift+T", "present"),
        Entry("batch", "New batch …", "File", commands.show_batch, "Ctrl+B", "cluster"),
    ]


def _keeping(commands: Commands) -> list[Entry]:
    """What keeps the work."""
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
            "save",
        ),
    ]


def _handing_on(commands: Commands) -> list[Entry]:
    """What becomes of runs and findings outside the workspace."""
    return [
        Entry(
            "export_workspace",
            "Export all runs as files …",
            "File",
            commands.saving.export_workspace,
            icon="export",
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


def _telling(commands: Commands) -> list[Entry]:
    """What leaves the program as a report, and what a page shows."""
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
            "report_of_model",
            "Write report of this model …",
            "File",
            commands.saving.write_model_report,
            icon="report",
            hint="What the runs say of the model in use alone",
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
        *_showing(commands),
    ]


def _showing(commands: Commands) -> list[Entry]:
    """What leaves the program as a picture or numbers."""
    return [
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
            "save_numbers",
            "Save numbers …",
            "File",
            commands.saving.save_numbers,
            "Ctrl+Shift+E",
            "grid",
        ),
    ]


def known_keys(
    standard: QKeySequence.StandardKey, otherwise: str
) -> QKeySequence.StandardKey | str:
    """The keys that the system has for something, or ours where it has none."""
    # Some desktops bind no keys to Quit or Preferences.
    if QKeySequence.keyBindings(standard):
        return standard
    return otherwise
