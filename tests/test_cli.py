from __future__ import annotations

import json
import os
import pickle
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import torch

from robgui.cli import main
from robgui.core.workspace import RunState, Workspace
from tests.core import tiny

ROOT = Path(__file__).parent.parent


@pytest.fixture(scope="module")
def files(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("files")
    program = torch.export.export(tiny.network(), (torch.zeros(2, 3),), dynamic_shapes=({0: torch.export.Dim("n")},))
    torch.export.save(program, folder / "m.pt2")
    np.savez(folder / "d.npz", inputs=tiny.inputs(6), labels=np.array([0, 1, 2, 3, 0, 1]))
    return folder


def robgui(*words: object, **options: object) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "robgui", *map(str, words)], cwd=ROOT, capture_output=True, text=True, check=False, **options
    )


def sentence(text: str) -> str:
    assert text.startswith("robgui: ")
    assert text.count("\n") == 1
    assert "Traceback" not in text
    return text


def run(files: Path, *words: object) -> int:
    return main(["run", "tiny-confidence", "--model", str(files / "m.pt2"), "--data", str(files / "d.npz"), *map(str, words)])


def test_run_writes_the_request_the_verdict_and_the_result_as_strict_json(files, tmp_path, capsys):
    out = tmp_path / "r.json"
    assert run(files, "--samples", 3, "--radii", "0,0.1,0.2", "--norm", "l2", "--seed", 7, "--index", "1:4", "--out", out) == 0
    document = json.loads(out.read_text(), parse_constant=lambda word: pytest.fail(f"{word} is no JSON"))
    assert document["request"]["params"] | {"samples": 3, "norm": "l2", "seed": 7} == document["request"]["params"]
    assert document["request"]["indices"] == [1, 2, 3]
    assert document["request"]["models"][0]["path"] == str(files / "m.pt2")
    assert document["result"]["radii"] == [0.0, 0.1, 0.2]
    assert document["state"] == "done"
    assert document["findings"][0]["detail"]["nan"] is None
    captured = capsys.readouterr()
    assert document["verdict"] in captured.err
    assert captured.out == ""
    assert not out.with_suffix(".npz").exists()


def test_large_arrays_go_into_an_npz_beside_the_file_and_by_shape_to_stdout(files, tmp_path, capsys):
    out = tmp_path / "r.json"
    assert run(files, "--keep", "--samples", 2, "--out", out) == 0
    document = json.loads(out.read_text())
    with np.load(tmp_path / document["arrays"], allow_pickle=False) as arrays:
        assert arrays[document["result"]["every"]["array"]].shape == (2, 4096)
    capsys.readouterr()
    assert run(files, "--keep", "yes", "--samples", 2) == 0
    assert json.loads(capsys.readouterr().out)["result"]["every"]["shape"] == [2, 4096]


def test_set_select_and_model_set_are_understood(files, capsys):
    assert run(files, "--set", "samples=1", "--set", "fail-after=none", "--select", "label=1", "--model-set", "mean=0.1,0.2,0.3") == 0
    document = json.loads(capsys.readouterr().out)
    assert document["request"]["indices"] == [1, 5]
    assert document["request"]["models"][0]["options"]["mean"] == [0.1, 0.2, 0.3]


def test_the_run_is_kept_in_the_workspace(files, tmp_path):
    assert run(files, "--samples", 2, "--workspace", tmp_path / "w.robgui", "--out", tmp_path / "r.json") == 0
    with Workspace.open(tmp_path / "w.robgui") as workspace:
        (kept,) = workspace.runs()
        assert (kept.state, kept.done) == (RunState.DONE, 2)
        assert [known.path for known in workspace.references("model")] == [str(files / "m.pt2")]


def test_progress_is_one_line_per_ten_per_cent_without_a_terminal(files, tmp_path, capsys):
    assert run(files, "--samples", 100, "--out", tmp_path / "r.json") == 0
    lines = [line for line in capsys.readouterr().err.splitlines() if line.startswith("Tiny confidence: ")]
    assert len(lines) == 11
    assert lines[-1] == "Tiny confidence: 100%"
    assert lines[5].startswith("Tiny confidence: 50%")


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["--samples", "0"], "samples"),
        (["--samples", "many"], "samples"),
        (["--norm", "l7"], "norm"),
        (["--colour", "red"], "--colour"),
        (["--set", "colour=red"], "colour"),
        (["--model-set", "colour=red"], "colour"),
        (["--data-set", "colour=red"], "colour"),
        (["--index", "x"], "--index"),
        (["--index", "99"], "99"),
        (["--select", "label=99"], "select"),
        (["--index", "1", "--select", "index<3"], "not allowed"),
        (["--device", "tpu"], "tpu"),
        (["--out", "/nowhere/at/all.json"], "/nowhere"),
        (["--model", "/nowhere.pt2"], "/nowhere.pt2"),
        (["--fail-after", "1", "--out", os.devnull], "gave up"),
    ],
)
def test_bad_input_is_one_sentence_and_exit_code_2(files, words, expected, capsys):
    assert run(files, *words) == 2
    error = capsys.readouterr().err.splitlines(keepends=True)[-1]
    assert expected in sentence(error)


def test_a_mistyped_name_is_quoted_alone_and_the_nearest_one_is_offered(files, capsys):
    assert run(files, "--set", "sampels=5") == 2
    assert "There is no setting 'sampels'; did you mean samples? Write name=value with one of: " in sentence(capsys.readouterr().err)
    assert run(files, "--set", "samples") == 2
    assert "The setting 'samples' has no value; write samples=value." in sentence(capsys.readouterr().err)
    assert main(["run", "zonscan"]) == 2
    assert "There is no analysis 'zonscan'; did you mean zonnscan? Choose one of: " in sentence(capsys.readouterr().err)


def test_the_command_line_calls_a_setting_by_the_name_one_types(files, capsys):
    assert run(files, "--samples", 0) == 2
    assert "samples = 0: should be greater than or equal to 1." in sentence(capsys.readouterr().err)


def test_a_failed_run_still_writes_what_it_has(files, tmp_path):
    out = tmp_path / "r.json"
    assert run(files, "--fail-after", 2, "--out", out, "--workspace", tmp_path / "w.robgui") == 2
    document = json.loads(out.read_text())
    assert (document["state"], document["error"], document["result"]["drawn"]) == ("failed", "The tiny model gave up.", 2)


def test_every_setting_has_an_option_made_from_the_params(capsys):
    with pytest.raises(SystemExit) as ended:
        main(["run", "tiny-confidence", "--help"])
    assert ended.value.code == 0
    text = capsys.readouterr().out
    assert all(f"--{name.replace('_', '-')}" in text for name in tiny.TinyParams.model_fields)
    assert "100 % noise" in text


def test_run_without_an_analysis_names_them(capsys):
    with pytest.raises(SystemExit):
        main(["run", "--help"])
    assert "zonnscan" in capsys.readouterr().out
    assert main(["run"]) == 2
    assert main(["run", "nothing"]) == 2
    assert "zonnscan" in capsys.readouterr().err


def test_list_shows_each_question_and_setting(capsys):
    assert main(["list"]) == 0
    text = capsys.readouterr().out
    assert "How close are other classes" in text
    assert "--target-half-width" in text


def test_debug_shows_the_traceback(files, monkeypatch):
    monkeypatch.setenv("ROBGUI_DEBUG", "1")
    with pytest.raises(Exception, match="samples"):
        run(files, "--samples", 0)


def test_inspect_tells_what_the_file_holds_and_how_it_answers(files):
    done = robgui("inspect", files / "m.pt2", "--data", files / "d.npz")
    assert done.returncode == 0, done.stderr
    for words in (
        "torch.export file",
        "table",
        "4 (0, 1, 2, 3)",
        "parameters:   68",
        "gradients:    yes",
        "fingerprint:",
        "accuracy:",
        "of 6 inputs",
    ):
        assert words in done.stdout
    assert done.stdout.count("true class") == 6


def test_a_malicious_pickle_is_refused_and_not_executed(tmp_path):
    class Bomb:
        def __reduce__(self):
            return (Path.touch, (tmp_path / "executed",))

    (tmp_path / "evil.pt").write_bytes(pickle.dumps(Bomb()))
    done = robgui("inspect", tmp_path / "evil.pt")
    assert done.returncode == 2
    assert "evil.pt" in sentence(done.stderr)
    assert not (tmp_path / "executed").exists()


def test_zonnscan_runs_from_the_command_line(files, tmp_path):
    out = tmp_path / "r.json"
    words = ["--model", files / "m.pt2", "--data", files / "d.npz", "--index", 0, "--samples", 64, "--radii", "0,0.1", "--out", out]
    done = robgui("run", "zonnscan", *words)
    assert done.returncode == 0, done.stderr
    document = json.loads(out.read_text())
    assert len(document["result"]["index"]) == 2
    assert document["verdict"] in done.stderr


LONG = ["--index", "0", "--samples", "1000000", "--sampler", "plain", "--target-half-width", "0", "--radii", "0:1:1000"]


@pytest.mark.skipif(sys.platform == "win32", reason="POSIX signals")
def test_ctrl_c_keeps_the_partial_result_and_exits_with_130(files, tmp_path):
    out, kept = tmp_path / "r.json", tmp_path / "w.robgui"
    words = ["run", "zonnscan", "--model", files / "m.pt2", "--data", files / "d.npz", "--workspace", kept, "--out", out, *LONG]
    import pty

    leader, follower = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, "-m", "robgui", *map(str, words)],
        cwd=ROOT,
        stderr=follower,
        stdout=subprocess.PIPE,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),  # noqa: PLW1509  a background shell ignores it
    )
    os.close(follower)
    seen = b""
    while b"]" not in seen and process.poll() is None:
        seen += os.read(leader, 4096)
    while b" left" not in seen and process.poll() is None:
        seen += os.read(leader, 4096)
    process.send_signal(signal.SIGINT)
    seen += drain(leader)
    process.communicate(timeout=60)
    assert process.returncode == 130, seen
    assert b" left" in seen
    assert b"interrupted; the result so far is kept" in seen
    document = json.loads(out.read_text())
    assert document["state"] == "cancelled"
    assert 0 < document["done"] < document["total"]
    with Workspace.open(kept) as workspace:
        (stored,) = workspace.runs()
        assert (stored.state, stored.done) == (RunState.CANCELLED, document["done"])
        assert stored.has_result


def drain(leader: int) -> bytes:
    seen = b""
    while True:
        try:
            more = os.read(leader, 4096)
        except OSError:  # the other side has closed the terminal
            more = b""
        if not more:
            os.close(leader)
            return seen
        seen += more


def test_help_and_version_are_quick_and_import_no_torch():
    code = "import sys; from robgui.cli import main\ntry: main(['--version'])\nexcept SystemExit: print('torch' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[0].startswith("robgui 0.")
    assert done.stdout.splitlines()[1] == "False"


def test_doctor_answers():
    assert robgui("doctor", "--help").returncode == 0


def test_a_reader_who_goes_away_is_no_error():
    done = subprocess.run(f"{sys.executable} -m robgui list | head -1", shell=True, cwd=ROOT, capture_output=True, text=True, check=False)  # noqa: S602
    assert done.stderr == ""


def test_report_writes_one_html_file(files, tmp_path):
    workspace, page = tmp_path / "w.robgui", tmp_path / "r.html"
    words = [
        "--model",
        files / "m.pt2",
        "--data",
        files / "d.npz",
        "--index",
        0,
        "--samples",
        16,
        "--radii",
        "0,0.1",
        "--workspace",
        workspace,
    ]
    assert main(["run", "zonnscan", *map(str, words)]) == 0
    done = robgui("report", workspace, "--html", page)
    assert done.returncode == 0, done.stderr
    assert "zoNNscan" in page.read_text(encoding="utf-8")
    done = robgui("report", workspace, "--html", page, "--pdf", tmp_path / "r.pdf")
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "r.pdf").read_bytes().startswith(b"%PDF")


def test_a_report_needs_a_place(tmp_path):
    done = robgui("report", tmp_path / "none.robgui")
    assert done.returncode == 2
    assert "--html FILE, --pdf FILE, or both" in sentence(done.stderr)


def test_a_report_of_a_missing_workspace_is_one_sentence(tmp_path):
    done = robgui("report", tmp_path / "none.robgui", "--html", tmp_path / "r.html")
    assert done.returncode == 2
    assert "There is no workspace" in sentence(done.stderr)
