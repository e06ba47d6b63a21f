"""The doctor says what is wrong, in sentences, without being harmed by it."""

from __future__ import annotations

import json
import re
import socket
import subprocess
import sys
import tempfile
from pathlib import Path
from types import SimpleNamespace

import pytest

from robgui import doctor, resources
from robgui.doctor import (
    check,
    compute,
    confinement,
    examination,
    files,
    formats,
    libraries,
    methods,
    probes,
    python,
    qt,
)
from tests.methods import OUR_METHODS


def _pretend(monkeypatch: pytest.MonkeyPatch, **versions: str | None) -> None:
    """Pretends that these versions are installed and nothing else (``_`` stands for ``-``)."""
    known = {name.replace("_", "-"): version for name, version in versions.items()}
    for module in (formats, python, qt):
        monkeypatch.setattr(module, "version", known.get)


def _ldd(monkeypatch: pytest.MonkeyPatch, **answers: str) -> None:
    """Pretends that ldd gives these answers for the plugins offscreen and xcb."""
    monkeypatch.setattr(libraries, "platform_plugin", Path)
    monkeypatch.setattr(libraries.shutil, "which", lambda name: name)
    monkeypatch.setattr(
        libraries,
        "output",
        lambda command: answers[command[1].removeprefix("libq").removesuffix(".so")],
    )


def test_the_doctor_imports_neither_qt_nor_torch_nor_numpy():
    code = (
        "import sys, robgui.doctor as d; d.examine(['window']); print({'PySide6', 'torch', 'numpy',"
        " 'cv2'} & set(sys.modules))"
    )
    answer = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    assert answer.stdout.strip() == "set()"


@pytest.mark.parametrize(
    ("version", "interpreter", "state"),
    [
        ("6.11.0", (3, 13), "FAIL"),
        ("6.11.1", (3, 11), "FAIL"),
        ("6.12.0", (3, 11), "FAIL"),
        ("6.12.0", (3, 12), "OK"),
        ("6.11.3", (3, 11), "OK"),
    ],
)
def test_broken_versions_of_qt_are_known(monkeypatch, version, interpreter, state):
    _pretend(monkeypatch, PySide6_Essentials=version)
    monkeypatch.setattr(python.sys, "version_info", interpreter)
    found = python.check_versions()
    assert found.state == state
    assert version in found.sentence or state == "OK"


def test_parts_of_qt_that_do_not_belong_together_are_a_failure(monkeypatch):
    _pretend(monkeypatch, PySide6_Essentials="6.11.3", shiboken6="6.12.0")
    found = python.check_versions()
    assert found.state == "FAIL"
    assert "pip install PySide6-Essentials==6.11.3 shiboken6==6.11.3" in found.sentence


def test_an_old_qt_is_a_failure(monkeypatch):
    _pretend(monkeypatch, PySide6_Essentials="6.7.3")
    assert qt.check_qt_version().state == "FAIL"


def test_a_missing_qt_is_a_failure_that_names_the_remedy(monkeypatch):
    _pretend(monkeypatch)
    assert "pip install PySide6-Essentials" in qt.check_qt_version().sentence


def test_missing_x11_libraries_are_named_by_debian_package(monkeypatch):
    xcb = (
        "\tlibxcb-cursor.so.0 => not found\n\tlibxcb-icccm.so.4 => not found\n\tlibc.so.6 =>"
        " /lib/libc.so.6 (0x1)\n"
    )
    _ldd(monkeypatch, xcb=xcb, offscreen="")
    monkeypatch.setenv("DISPLAY", ":0")
    monkeypatch.delenv("WAYLAND_DISPLAY", raising=False)
    found = libraries.check_x11_libraries()
    assert found.state == "FAIL"
    assert found.packages == ("libxcb-cursor0", "libxcb-icccm4")
    assert "apt-get install libxcb-cursor0 libxcb-icccm4" in found.sentence
    assert libraries.check_qt_libraries().state == "OK"


def test_missing_x11_libraries_do_not_matter_without_a_display(monkeypatch):
    _ldd(monkeypatch, xcb="\tlibxcb-cursor.so.0 => not found\n", offscreen="")
    monkeypatch.delenv("DISPLAY", raising=False)
    assert libraries.check_x11_libraries().state == "WARN"


def test_a_missing_library_is_one_thing_to_repair_though_qt_does_not_start(monkeypatch):
    _ldd(monkeypatch, xcb="\tlibxcb-cursor.so.0 => not found\n", offscreen="")
    monkeypatch.setenv("DISPLAY", ":0")
    monkeypatch.delenv("WAYLAND_DISPLAY", raising=False)
    monkeypatch.setattr(
        qt, "probe", lambda name, variables: (None, "qt.qpa.plugin: it could not be loaded")
    )
    looks = (libraries.check_x11_libraries, qt.check_qt_starts, qt.check_fonts, qt.check_gl)
    assert [look().state for look in looks] == ["FAIL", "WARN", "WARN", "WARN"]
    assert "driver" not in qt.check_gl().sentence


def test_a_qt_that_does_not_start_for_another_reason_is_a_failure(monkeypatch):
    _ldd(monkeypatch, xcb="", offscreen="")
    monkeypatch.setattr(qt, "probe", lambda name, variables: (None, "undefined symbol"))
    assert (qt.check_qt_starts().state, "undefined symbol" in qt.check_qt_starts().sentence) == (
        "FAIL",
        True,
    )


def test_an_opengl_that_crashes_is_told_apart_from_a_qt_that_does_not_start(monkeypatch):
    monkeypatch.setattr(
        qt,
        "probe",
        lambda name, variables: (
            (None, "Segmentation fault") if name == "gl" else ({"version": "6"}, "")
        ),
    )
    assert (qt.check_gl().state, "driver" in qt.check_gl().sentence) == ("WARN", True)


def test_a_library_that_qt_always_needs_is_told_once_and_is_a_failure(monkeypatch):
    _ldd(monkeypatch, xcb="\tlibEGL.so.1 => not found\n", offscreen="\tlibEGL.so.1 => not found\n")
    assert libraries.check_qt_libraries().packages == ("libegl1",)
    assert libraries.check_x11_libraries().state == "OK"


def test_an_unknown_library_is_named_as_it_is(monkeypatch):
    _ldd(monkeypatch, offscreen="\tlibodd.so.9 => not found\n")
    found = libraries.check_qt_libraries()
    assert found.packages == ()
    assert "libodd.so.9" in found.sentence


def test_a_c_library_that_is_too_old_is_told_apart_from_a_missing_one(monkeypatch):
    _ldd(
        monkeypatch,
        offscreen=(
            "/x/libQt6Core.so.6: /lib/libc.so.6: version `GLIBC_2.34' not found (required by"
            " /x/libQt6Core.so.6)\n"
        ),
    )
    assert "GLIBC_2.34" in libraries.check_qt_libraries().sentence


@pytest.mark.skipif(
    sys.platform in ("win32", "darwin"), reason="these systems always have a display"
)
class TestDisplay:
    def test_no_variable_means_no_display(self):
        assert "no display" in doctor.display_problem({})

    def test_a_display_that_does_not_answer_is_named(self):
        assert ":7654" in doctor.display_problem({"DISPLAY": ":7654"})

    def test_a_wayland_display_that_answers_is_enough(self):
        with (
            tempfile.TemporaryDirectory(dir="/tmp") as folder,
            socket.socket(socket.AF_UNIX) as server,
        ):
            server.bind(f"{folder}/wayland-0")
            server.listen()
            assert (
                doctor.display_problem({"WAYLAND_DISPLAY": "wayland-0", "XDG_RUNTIME_DIR": folder})
                == ""
            )

    def test_an_x11_display_on_another_host_is_asked_over_the_network(self):
        with socket.socket(socket.AF_INET) as server:
            server.bind(("127.0.0.1", 0))
            server.listen()
            number = server.getsockname()[1] - 6000
            assert doctor.display_problem({"DISPLAY": f"127.0.0.1:{number}.0"}) == ""


def test_an_opencv_with_its_own_qt_is_a_failure(monkeypatch):
    _pretend(monkeypatch, opencv_python="5.0", opencv_python_headless="5.0")
    found = formats.check_opencv()
    assert found.state == "FAIL"
    assert "pip uninstall -y opencv-python" in found.sentence


def test_an_opencv_built_with_qt_is_a_warning(monkeypatch):
    _pretend(monkeypatch, opencv_python_headless="5.0")
    monkeypatch.setattr(formats, "probe", lambda name: ({"version": "5.0", "gui": "QT5"}, ""))
    assert formats.check_opencv().state == "WARN"


@pytest.mark.parametrize(
    ("cuda", "devices", "driver", "state", "word"),
    [
        ("", [], "", "OK", "CPU with 2 threads"),
        ("", [], "Driver Version: 550.1   CUDA Version: 12.4", "WARN", "build for the CPU"),
        (
            "12.8",
            [],
            "Driver Version: 470.2   CUDA Version: 11.4",
            "WARN",
            "goes up to CUDA 11.4; update the driver",
        ),
        ("12.8", ["RTX"], "Driver Version: 570.1   CUDA Version: 12.8", "OK", "driver 570.1: RTX"),
    ],
)
def test_torch_is_compared_with_the_driver(monkeypatch, cuda, devices, driver, state, word):
    told = {"version": "2.13.0", "cuda": cuda, "devices": devices, "broken": [], "threads": 2}
    monkeypatch.setattr(compute, "probe", lambda name: (told, ""))
    monkeypatch.setattr(compute, "output", lambda command: driver)
    found = compute.check_torch()
    assert (found.state, word in found.sentence) == (state, True)
    assert ("robgui selftest" in found.sentence) == bool(devices)


def test_a_graphics_card_that_cannot_compute_is_a_failure(monkeypatch):
    told = {
        "version": "2.13.0",
        "cuda": "12.8",
        "devices": ["Old"],
        "broken": ["Old: no kernel image"],
        "threads": 2,
    }
    monkeypatch.setattr(compute, "probe", lambda name: (told, ""))
    monkeypatch.setattr(compute, "output", lambda command: "")
    found = compute.check_torch()
    assert (found.state, "no kernel image" in found.sentence) == ("FAIL", True)


@pytest.mark.parametrize(
    ("families", "missing", "state"), [(0, "×", "WARN"), (3, "×≤", "WARN"), (3, "", "OK")]
)
def test_missing_fonts_and_signs_name_the_package(monkeypatch, families, missing, state):
    told = {"families": families, "missing": missing, "family": "Sans", "fixed": "Mono"}
    monkeypatch.setattr(qt, "probe", lambda name, variables: (told, ""))
    found = qt.check_fonts()
    assert found.state == state
    assert found.packages == (("fonts-dejavu-core",) if state == "WARN" else ())


@pytest.mark.parametrize(
    ("told", "state"),
    [
        (({"platform": "xcb", "renderer": "llvmpipe", "version": "4.5"}, ""), "OK"),
        (({"platform": "offscreen", "renderer": ""}, ""), "OK"),
        ((None, "Segmentation fault"), "WARN"),
    ],
)
def test_without_opengl_nothing_is_missing(monkeypatch, told, state):
    monkeypatch.setattr(qt, "probe", lambda name, variables: told)
    assert qt.check_gl().state == state


@pytest.mark.parametrize(
    ("look", "extra"), [(formats.check_onnx, "onnx"), (formats.check_sklearn, "sklearn")]
)
def test_a_missing_optional_package_names_its_extra(monkeypatch, look, extra):
    monkeypatch.setattr(formats.importlib.util, "find_spec", lambda name: None)
    found = look()
    assert (found.state, f"robgui[{extra}]" in found.sentence) == ("WARN", True)


def test_a_crash_of_what_is_tried_is_a_reason_not_a_crash():
    found, reason = check.answer_of([sys.executable, "-c", "import os; os.abort()"])
    assert found is None
    assert reason


def test_the_reason_is_the_last_line_of_the_error():
    command = [sys.executable, "-c", "raise ValueError('broken wheel')"]
    assert check.answer_of(command) == (None, "ValueError: broken wheel")


def test_the_frozen_application_probes_with_itself(monkeypatch):
    commands = []
    monkeypatch.setattr(check, "answer_of", lambda command, environment: commands.append(command))
    check.probe("qt")
    monkeypatch.setattr(check.sys, "frozen", True, raising=False)
    check.probe("qt")
    assert [command[1:] for command in commands] == [
        ["-P", "-m", "robgui.doctor", "--probe", "qt"],
        ["doctor", "--probe", "qt"],
    ]


def test_every_check_that_probes_asks_for_a_probe_that_exists():
    asked = {
        word
        for module in (compute, confinement, formats, methods, qt)
        for word in re.findall(r'probe\("(\w+)"', Path(module.__file__).read_text(encoding="utf-8"))
    }
    assert asked == set(probes.PROBES)


@pytest.mark.parametrize(
    ("told", "state", "words"),
    [
        (
            ({"titles": ["zoNNscan", "Other"], "problems": []}, ""),
            "OK",
            "2 methods: zoNNscan, Other.",
        ),
        (
            ({"titles": ["zoNNscan"], "problems": ["The method x cannot be loaded."]}, ""),
            "WARN",
            "The method x",
        ),
        (
            ({"titles": ["a"], "problems": ["The method b (robgui.b:M) cannot be loaded."]}, ""),
            "FAIL",
            "install it again",
        ),
        (({"titles": [], "problems": []}, ""), "FAIL", "finds no method"),
        ((None, "Segmentation fault"), "FAIL", "Segmentation fault"),
    ],
)
def test_methods_that_cannot_be_loaded_are_told(monkeypatch, told, state, words):
    monkeypatch.setattr(methods, "probe", lambda name: told)
    found = methods.check_methods()
    assert found.state == state and words in found.sentence


def test_the_methods_of_this_installation_are_found():
    assert methods.check_methods().sentence.startswith(f"{len(OUR_METHODS)} methods: zoNNscan, ")


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere nothing is tried")
@pytest.mark.parametrize(
    ("told", "state", "words"),
    [
        (({"landlock": 7, "calls": True, "possible": []}, ""), "OK", "Landlock 7, seccomp"),
        (
            ({"landlock": 3, "calls": True, "possible": ["use TCP"]}, ""),
            "WARN",
            "could use TCP (Landlock is at 3 of 6);",
        ),
        (({"landlock": 7, "calls": False, "possible": ["use UDP"]}, ""), "WARN", "seccomp is not"),
        ((None, "Segmentation fault"), "FAIL", "Segmentation fault"),
    ],
)
def test_what_a_confined_worker_can_still_do_is_told(monkeypatch, told, state, words):
    monkeypatch.setattr(confinement, "probe", lambda name, variables: told)
    found = confinement.check_confinement()
    assert found.state == state and words in found.sentence


def test_a_system_without_confinement_is_told(monkeypatch):
    monkeypatch.setattr(confinement.sys, "platform", "darwin")
    assert confinement.check_confinement().state == "WARN"


def test_missing_resources_are_a_failure(monkeypatch):
    monkeypatch.setattr(resources, "possible_roots", lambda: iter(()))
    found = files.check_resources()
    assert (found.state, "install robgui again" in found.sentence) == ("FAIL", True)


def test_a_package_that_does_not_fit_is_named(monkeypatch):
    monkeypatch.setattr(
        python.importlib.metadata,
        "requires",
        lambda name: ["numpy>=99", "absent", "other; extra == 'dev'"],
    )
    _pretend(monkeypatch, numpy="2.0")
    found = python.check_requirements()
    assert found.state == "FAIL"
    assert "numpy 2.0 does not fit >=99; absent is missing" in found.sentence
    assert "other" not in found.sentence


def test_a_data_folder_that_cannot_be_written_is_a_failure(monkeypatch, user_folders):
    def refuse(**where):
        raise PermissionError(13, "Permission denied", where["dir"])

    monkeypatch.setattr(files.tempfile, "TemporaryFile", refuse)
    found = files.check_data_folder()
    assert found.state == "FAIL"
    assert "Permission denied" in found.sentence


def test_a_full_disk_is_a_warning(monkeypatch):
    monkeypatch.setattr(files.shutil, "disk_usage", lambda path: SimpleNamespace(free=10**8))
    assert files.check_data_folder().state == "WARN"


def test_looking_at_the_data_folder_does_not_make_it(user_folders):
    assert files.check_data_folder().state == "OK"
    assert list(user_folders.iterdir()) == []


def test_exit_code_and_words_follow_the_worst_check(monkeypatch, capsys):
    broken = doctor.Check("qt", "FAIL", "It is broken.")
    fine = doctor.Check("torch", "OK", "It is well.")
    monkeypatch.setattr(examination, "SECTIONS", {"a": (lambda: broken,), "b": (lambda: fine,)})
    assert doctor.main([]) == 1
    assert (
        capsys.readouterr().out
        == "FAIL  qt: It is broken.\nOK    torch: It is well.\n1 to repair, 0 to know about.\n"
    )
    assert doctor.main(["--only", "b"]) == 0
    assert capsys.readouterr().out.endswith("Everything is well.\n")


def test_json_holds_every_check(monkeypatch, capsys):
    monkeypatch.setattr(
        examination,
        "SECTIONS",
        {"a": (lambda: doctor.Check("qt", "WARN", "No fonts.", ("fonts-dejavu-core",)),)},
    )
    assert doctor.main(["--json"]) == 0
    assert json.loads(capsys.readouterr().out) == {
        "ok": True,
        "checks": [
            {
                "name": "qt",
                "state": "WARN",
                "sentence": "No fonts.",
                "packages": ["fonts-dejavu-core"],
            }
        ],
    }


def test_nothing_is_broken_where_the_tests_run():
    assert [check for check in doctor.examine() if check.state == "FAIL"] == []
