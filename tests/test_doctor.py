"""The doctor says what is wrong, in sentences, without being harmed by it."""

from __future__ import annotations

import json
import socket
import subprocess
import sys
import tempfile
from pathlib import Path
from types import SimpleNamespace

import pytest

from robgui import doctor


def _pretend(monkeypatch: pytest.MonkeyPatch, **versions: str | None) -> None:
    """Pretends that these versions are installed and nothing else (``_`` stands for ``-``)."""
    known = {name.replace("_", "-"): version for name, version in versions.items()}
    monkeypatch.setattr(doctor, "_version", known.get)


def _ldd(monkeypatch: pytest.MonkeyPatch, **answers: str) -> None:
    """Pretends that ldd gives these answers for the plugins offscreen and xcb."""
    monkeypatch.setattr(doctor, "_platform_plugin", Path)
    monkeypatch.setattr(doctor.shutil, "which", lambda name: name)
    monkeypatch.setattr(doctor, "_output", lambda command: answers[command[1].removeprefix("libq").removesuffix(".so")])


def test_the_doctor_imports_neither_qt_nor_torch_nor_numpy():
    code = "import sys, robgui.doctor as d; d.examine(['window']); print({'PySide6', 'torch', 'numpy', 'cv2'} & set(sys.modules))"
    answer = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert answer.stdout.strip() == "set()"


@pytest.mark.parametrize(
    ("version", "python", "state"),
    [
        ("6.11.0", (3, 13), "FAIL"),
        ("6.11.1", (3, 11), "FAIL"),
        ("6.12.0", (3, 11), "FAIL"),
        ("6.12.0", (3, 12), "OK"),
        ("6.7.3", (3, 11), "FAIL"),
        ("6.11.3", (3, 11), "OK"),
    ],
)
def test_broken_versions_of_qt_are_known(monkeypatch, version, python, state):
    _pretend(monkeypatch, PySide6_Essentials=version)
    monkeypatch.setattr(doctor.sys, "version_info", python)
    check = doctor.check_qt_version()
    assert check.state == state
    assert version in check.sentence


def test_a_missing_qt_is_a_failure_that_names_the_remedy(monkeypatch):
    _pretend(monkeypatch)
    assert "pip install PySide6-Essentials" in doctor.check_qt_version().sentence


def test_missing_x11_libraries_are_named_by_debian_package(monkeypatch):
    xcb = "\tlibxcb-cursor.so.0 => not found\n\tlibxcb-icccm.so.4 => not found\n\tlibc.so.6 => /lib/libc.so.6 (0x1)\n"
    _ldd(monkeypatch, xcb=xcb, offscreen="")
    monkeypatch.setenv("DISPLAY", ":0")
    monkeypatch.delenv("WAYLAND_DISPLAY", raising=False)
    check = doctor.check_x11_libraries()
    assert check.state == "FAIL"
    assert check.packages == ("libxcb-cursor0", "libxcb-icccm4")
    assert "apt-get install libxcb-cursor0 libxcb-icccm4" in check.sentence
    assert doctor.check_qt_libraries().state == "OK"


def test_missing_x11_libraries_do_not_matter_without_a_display(monkeypatch):
    _ldd(monkeypatch, xcb="\tlibxcb-cursor.so.0 => not found\n", offscreen="")
    monkeypatch.delenv("DISPLAY", raising=False)
    assert doctor.check_x11_libraries().state == "WARN"


def test_a_library_that_qt_always_needs_is_told_once_and_is_a_failure(monkeypatch):
    _ldd(monkeypatch, xcb="\tlibEGL.so.1 => not found\n", offscreen="\tlibEGL.so.1 => not found\n")
    assert doctor.check_qt_libraries().packages == ("libegl1",)
    assert doctor.check_x11_libraries().state == "OK"


def test_an_unknown_library_is_named_as_it_is(monkeypatch):
    _ldd(monkeypatch, offscreen="\tlibodd.so.9 => not found\n")
    check = doctor.check_qt_libraries()
    assert check.packages == ()
    assert "libodd.so.9" in check.sentence


def test_a_c_library_that_is_too_old_is_told_apart_from_a_missing_one(monkeypatch):
    _ldd(monkeypatch, offscreen="/x/libQt6Core.so.6: /lib/libc.so.6: version `GLIBC_2.34' not found (required by /x/libQt6Core.so.6)\n")
    assert "GLIBC_2.34" in doctor.check_qt_libraries().sentence


@pytest.mark.skipif(sys.platform in ("win32", "darwin"), reason="these systems always have a display")
class TestDisplay:
    def test_no_variable_means_no_display(self):
        assert "no display" in doctor.display_problem({})

    def test_a_display_that_does_not_answer_is_named(self):
        assert ":7654" in doctor.display_problem({"DISPLAY": ":7654"})

    def test_a_wayland_display_that_answers_is_enough(self):
        with tempfile.TemporaryDirectory(dir="/tmp") as folder, socket.socket(socket.AF_UNIX) as server:
            server.bind(f"{folder}/wayland-0")
            server.listen()
            assert doctor.display_problem({"WAYLAND_DISPLAY": "wayland-0", "XDG_RUNTIME_DIR": folder}) == ""

    def test_an_x11_display_on_another_host_is_asked_over_the_network(self):
        with socket.socket(socket.AF_INET) as server:
            server.bind(("127.0.0.1", 0))
            server.listen()
            number = server.getsockname()[1] - 6000
            assert doctor.display_problem({"DISPLAY": f"127.0.0.1:{number}.0"}) == ""


def test_an_opencv_with_its_own_qt_is_a_failure(monkeypatch):
    _pretend(monkeypatch, opencv_python="5.0", opencv_python_headless="5.0")
    check = doctor.check_opencv()
    assert check.state == "FAIL"
    assert "pip uninstall -y opencv-python" in check.sentence


@pytest.mark.parametrize(
    ("cuda", "devices", "driver", "state", "word"),
    [
        ("", [], "", "OK", "CPU"),
        ("", [], "550.1", "WARN", "build for the CPU"),
        ("12.8", [], "470.2", "WARN", "update the driver"),
        ("12.8", ["RTX"], "570.1", "OK", "RTX"),
    ],
)
def test_torch_is_compared_with_the_driver(monkeypatch, cuda, devices, driver, state, word):
    found = {"version": "2.13.0", "cuda": cuda, "devices": devices, "threads": 2}
    monkeypatch.setattr(doctor, "_try", lambda code: (found, ""))
    monkeypatch.setattr(doctor, "_output", lambda command: driver + "\n")
    check = doctor.check_torch()
    assert (check.state, word in check.sentence) == (state, True)


@pytest.mark.parametrize(("check", "extra"), [(doctor.check_onnx, "onnx"), (doctor.check_sklearn, "sklearn")])
def test_a_missing_optional_package_names_its_extra(monkeypatch, check, extra):
    monkeypatch.setattr(doctor.importlib.util, "find_spec", lambda name: None)
    found = check()
    assert (found.state, f"robgui[{extra}]" in found.sentence) == ("WARN", True)


def test_a_crash_of_what_is_tried_is_a_reason_not_a_crash():
    found, reason = doctor._try("import os; os.abort()")
    assert found is None
    assert reason


def test_the_reason_is_the_last_line_of_the_error():
    assert doctor._try("raise ValueError('broken wheel')") == (None, "ValueError: broken wheel")


def test_a_package_that_does_not_fit_is_named(monkeypatch):
    monkeypatch.setattr(doctor.importlib.metadata, "requires", lambda name: ["numpy>=99", "absent", "other; extra == 'dev'"])
    _pretend(monkeypatch, numpy="2.0")
    check = doctor.check_requirements()
    assert check.state == "FAIL"
    assert "numpy 2.0 does not fit >=99; absent is missing" in check.sentence
    assert "other" not in check.sentence


def test_a_data_folder_that_cannot_be_written_is_a_failure(monkeypatch, user_folders):
    def refuse(**where):
        raise PermissionError(13, "Permission denied", where["dir"])

    monkeypatch.setattr(doctor.tempfile, "TemporaryFile", refuse)
    check = doctor.check_data_folder()
    assert check.state == "FAIL"
    assert "Permission denied" in check.sentence


def test_a_full_disk_is_a_warning(monkeypatch):
    monkeypatch.setattr(doctor.shutil, "disk_usage", lambda path: SimpleNamespace(free=10**8))
    assert doctor.check_data_folder().state == "WARN"


def test_looking_at_the_data_folder_does_not_make_it(user_folders):
    assert doctor.check_data_folder().state == "OK"
    assert list(user_folders.iterdir()) == []


def test_exit_code_and_words_follow_the_worst_check(monkeypatch, capsys):
    broken = doctor.Check("qt", "FAIL", "It is broken.")
    fine = doctor.Check("torch", "OK", "It is well.")
    monkeypatch.setattr(doctor, "SECTIONS", {"a": (lambda: broken,), "b": (lambda: fine,)})
    assert doctor.main([]) == 1
    assert capsys.readouterr().out == "FAIL  qt: It is broken.\nOK    torch: It is well.\n1 to repair, 0 to know about.\n"
    assert doctor.main(["--only", "b"]) == 0
    assert capsys.readouterr().out.endswith("Everything is well.\n")


def test_json_holds_every_check(monkeypatch, capsys):
    monkeypatch.setattr(doctor, "SECTIONS", {"a": (lambda: doctor.Check("qt", "WARN", "No fonts.", ("fonts-dejavu-core",)),)})
    assert doctor.main(["--json"]) == 0
    assert json.loads(capsys.readouterr().out) == {
        "ok": True,
        "checks": [{"name": "qt", "state": "WARN", "sentence": "No fonts.", "packages": ["fonts-dejavu-core"]}],
    }


def test_nothing_is_broken_where_the_tests_run():
    assert [check for check in doctor.examine() if check.state == "FAIL"] == []
