"""What every test gets: no screen, one torch thread, and user folders of its own."""

from __future__ import annotations

import gc
import itertools
import os
import sys
import tempfile
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING
from unittest import mock

import pytest
from hypothesis import settings
from hypothesis.internal.constants_ast import Constants

from tests.core.execution.worker import warm
from tests.patience import LONGEST

if TYPE_CHECKING:
    from pytestqt.qtbot import QtBot

# Before Qt, matplotlib or platformdirs are imported by a test module.
os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
# One torch thread: parallel tests do not fight for cores.
os.environ["OMP_NUM_THREADS"] = "1"
# Runs stay in the test's own process, where engines can be replaced; tests of workers say so
# themselves.
os.environ.setdefault("ROBGUI_INLINE", "1")
# Bytecode whatever the shell says: the tests start a hundred processes, which would
# compile the program a hundred times.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
sys.dont_write_bytecode = False
# matplotlib's list of fonts takes seconds to make, so it outlives the run.
os.environ.setdefault(
    "MPLCONFIGDIR",
    str(Path(tempfile.gettempdir()) / f"robgui-tests-matplotlib-{os.environ.get('USER', 'user')}"),
)

# Examples are the same on every machine, and a busy machine is no failure.
settings.register_profile("robgui", deadline=None, derandomize=True, database=None)
settings.load_profile("robgui")
# Hypothesis reads every module of ours for constants to try: seconds in each process, and other
# examples wherever other modules are loaded.
mock.patch(
    "hypothesis.internal.conjecture.providers._get_local_constants", return_value=Constants()
).start()


# Collecting tests makes millions of objects that stay: to go through them for garbage again and
# again takes a fifth of its time.
gc.disable()


def pytest_collection_finish() -> None:
    """Garbage is looked for from now on, among what tests make."""
    gc.freeze()
    gc.enable()


@pytest.fixture(autouse=True)
def no_collection_in_a_qt_call() -> Iterator[None]:
    """Garbage is collected between tests, as the window does it between events: within a Qt call
    it can take a widget away and hang.
    """
    gc.disable()
    yield
    gc.enable()


@pytest.fixture
def qtbot(qtbot: QtBot) -> QtBot:
    """Waits for what must come however long a busy machine takes."""
    for name in ("waitActive", "waitExposed", "waitSignal", "waitSignals", "waitUntil"):
        setattr(qtbot, name, partial(getattr(qtbot, name), timeout=int(LONGEST * 1000)))
    return qtbot


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Iterator[None]:
    """Workers that a test and its fixtures start are forked from a warm interpreter."""
    if item.get_closest_marker("cold_workers"):
        return (yield)
    with warm.forked_workers():
        return (yield)


def pytest_unconfigure() -> None:
    """Leaves no process behind."""
    warm.end_server()


@pytest.fixture(scope="session")
def homes(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A new folder at each call of ``next``.

    ``mktemp`` would list all those before to find a free number: seven thousand by the end.
    """
    users = tmp_path_factory.mktemp("users")
    return (users / str(number) for number in itertools.count())


@pytest.fixture(scope="session", autouse=True)
def lasting_folders(homes: Iterator[Path]) -> Iterator[None]:
    """Folders instead of the user's for what lives longer than a test."""
    with pytest.MonkeyPatch.context() as monkeypatch:
        live_in(next(homes), monkeypatch)
        yield


@pytest.fixture(autouse=True)
def user_folders(homes: Iterator[Path], monkeypatch: pytest.MonkeyPatch) -> Path:
    """Empty data, configuration and cache folders for this test, instead of the user's.

    Returns their parent.
    """
    home = next(homes)
    live_in(home, monkeypatch)
    return home


def live_in(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Makes ``home`` the parent of all folders of the user."""
    home.mkdir()
    for variable in ("XDG_DATA_HOME", "XDG_CONFIG_HOME", "XDG_CACHE_HOME", "XDG_STATE_HOME"):
        monkeypatch.setenv(variable, str(home / variable.removeprefix("XDG_").lower()))
    for variable in (
        "WIN_PD_OVERRIDE_LOCAL_APPDATA",
        "WIN_PD_OVERRIDE_APPDATA",
        "LOCALAPPDATA",
        "APPDATA",
    ):
        monkeypatch.setenv(variable, str(home / "appdata"))
    monkeypatch.delenv("ROBGUI_CONFIG", raising=False)
    if sys.platform == "darwin":
        monkeypatch.setenv("HOME", str(home))
