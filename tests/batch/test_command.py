from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

from robgui.cli import main
from robgui.core.errors import WorkspaceError
from robgui.core.execution.inline import Inline
from robgui.core.execution.loaded_cache import LoadedCache
from robgui.core.execution.run import RunState
from robgui.core.workspace import Workspace
from tests.batch import small
from tests.patience import LONGEST

ROOT = Path(__file__).parent.parent.parent
QUICK = (
    '[[analyses]]\nname = "zonnscan"\nindex = "0:2"\nparams = { samples = 64, radii = [0.0,'
    " 0.2] }\n"
)


@contextmanager
def started(*words: object) -> Iterator[subprocess.Popen[str]]:
    """A driver in a process group of its own, which does not outlive the test."""
    command = [sys.executable, "-m", "robgui", "batch", "--trust", *map(str, words)]
    pipe = subprocess.PIPE
    with subprocess.Popen(
        command, cwd=ROOT, stdout=pipe, stderr=pipe, text=True, start_new_session=True
    ) as process:
        try:
            yield process
        finally:
            process.kill()


def children(process: subprocess.Popen[str]) -> list[int]:
    """The worker processes, whichever thread has started them."""
    found = [
        pid
        for task in Path(f"/proc/{process.pid}/task").iterdir()
        for pid in (task / "children").read_text().split()
    ]
    return [int(pid) for pid in found if "worker.entry" in Path(f"/proc/{pid}/cmdline").read_text()]


def wait_for(condition, what: str, seconds: float = 300) -> None:
    until = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < until, f"waited in vain for {what}"
        time.sleep(0.02)


def done(path: Path) -> int:
    """Finished runs, seen from outside while the driver writes."""
    try:
        with Workspace.open(path, create=False) as seen:
            return sum(run.state is RunState.DONE for run in seen.runs()) if seen.read_only else 0
    except WorkspaceError:  # it is only just being made
        return 0


def test_gates_decide_the_exit_code_and_the_reports_say_why(files, tmp_path, capsys):
    suite = small.write_suite(
        files, 'fail_on = ["zonnscan.index.max > 2"]\n' + small.HEAD + QUICK, "gates.toml"
    )
    words = [
        "batch",
        "--trust",
        str(suite),
        "--device",
        "cpu",
        "--workspace",
        str(tmp_path / "w.robgui"),
        "--junit",
        str(tmp_path / "junit.xml"),
        "--json",
    ]
    assert main(words) == 0
    made = json.loads(capsys.readouterr().out)
    assert (made["passed"], made["counts"]) == (True, {"done": 6})
    first = (tmp_path / "junit.xml").read_bytes()
    # A second name of the same file sees whether it is written in place.
    os.link(tmp_path / "junit.xml", tmp_path / "old.xml")
    assert main([*words, "--fail-on", "zonnscan.index.max>=0"]) == 1
    captured = capsys.readouterr()
    made = json.loads(captured.out)
    assert [gate["passed"] for gate in made["gates"]] == [True, False]
    assert all(request["reused"] for request in made["requests"])
    assert "6 requests: 6 done before." in captured.err
    assert "Gate zonnscan.index.max>=0: FAILED for 6 of 6 requests" in captured.err
    suite_element = ET.parse(tmp_path / "junit.xml").getroot().find("testsuite")
    assert (suite_element.get("tests"), suite_element.get("failures")) == ("8", "1")
    assert (tmp_path / "old.xml").read_bytes() == first


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["--fail-on", "zonnscan.colour<1"], "no field 'colour'"),
        (["--fail-on", "zonnscan_populations.auc<1"], "runs no zonnscan_populations"),
        (["--junit", "/no/such/folder/x.xml"], "--junit"),
        (["--device", "tpu"], "no device 'tpu'"),
        (["--workers", "2", "--cluster", "auto"], "not allowed with"),
    ],
)
def test_bad_input_is_one_sentence_and_code_2(files, tmp_path, capsys, words, expected):
    suite = small.write_suite(files, QUICK, "quick.toml")
    assert main(["batch", str(suite), "--workspace", str(tmp_path / "w.robgui"), *words]) == 2
    told = capsys.readouterr().err
    assert expected in told
    assert told.count("\n") == 1
    assert not (tmp_path / "w.robgui").exists()


def test_a_dry_run_lists_the_requests(files, tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert (
        main(
            [
                "batch",
                "--trust",
                str(small.write_suite(files, QUICK, "quick.toml")),
                "--dry-run",
                "--device",
                "cpu",
            ]
        )
        == 0
    )
    assert len(capsys.readouterr().out.splitlines()) == 6
    assert not list(tmp_path.iterdir())


@pytest.mark.slow  # two sittings in processes of their own
@pytest.mark.skipif(not Path("/proc").exists(), reason="looks at /proc")
def test_after_kill_9_of_the_driver_the_workers_leave_and_the_next_sitting_completes_the_suite(
    files, tmp_path
):
    suite = small.write_suite(
        files, QUICK + small.LONG.format(samples=300_000, seeds=[0, 1]), "killed.toml"
    )
    path = tmp_path / "w.robgui"
    words = (suite, "--device", "cpu", "--workspace", path)
    with started(*words) as first:
        wait_for(lambda: done(path) >= 3, "three finished requests")
        workers = children(first)
        first.kill()
    assert workers
    wait_for(
        lambda: not any(Path(f"/proc/{pid}").exists() for pid in workers),
        "the end of the workers",
        30,
    )
    before = done_runs(path)
    assert 3 <= len(before) < 8
    with started(*words) as second:
        _, told = second.communicate(timeout=300)
    assert second.returncode == 0, told
    after = done_runs(path)
    assert before.items() <= after.items()
    with Workspace.open(path) as kept, Workspace.open(tmp_path / "alone.robgui") as alone:
        plan = small.expand(small.read_suite(suite), "cpu", trust=True)
        small.run(plan, alone, Inline(LoadedCache("cpu")))
        small.assert_same(small.results(alone), small.results(kept))


def done_runs(path: Path) -> dict[str, str]:
    with Workspace.open(path) as kept:
        return {
            run.id: run.request.fingerprint for run in kept.runs() if run.state is RunState.DONE
        }


@pytest.mark.skipif(not hasattr(os, "killpg"), reason="sends Ctrl-C to a process group")
def test_ctrl_c_stops_all_keeps_what_is_done_and_gives_130(files, tmp_path):
    suite = small.write_suite(
        files, QUICK + small.LONG.format(samples=300_000, seeds=[5, 6, 7]), "stopped.toml"
    )
    path = tmp_path / "w.robgui"
    with started(suite, "--device", "cpu", "--workspace", path, "--json") as going:
        wait_for(lambda: done(path) >= 6, "the quick requests")
        os.killpg(going.pid, signal.SIGINT)  # as a terminal does: to the driver and to its workers
        out, told = going.communicate(timeout=LONGEST)
    assert going.returncode == 130, told
    assert "Traceback" not in told
    assert "stopping; what is done is kept" in told
    counts = json.loads(out)["counts"]
    assert counts["done"] >= 6
    assert counts.get("failed", 0) == 0
    assert counts.get("cancelled", 0) + counts.get("queued", 0) >= 1
    with Workspace.open(path) as kept:
        assert sum(run.state is RunState.DONE for run in kept.runs()) == counts["done"]
