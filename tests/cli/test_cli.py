from __future__ import annotations

import io
import json
import os
import pickle
import re
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import torch

from robgui.cli import main
from robgui.cli.progress import ProgressLine
from robgui.core.execution.method import methods
from robgui.core.execution.registry import analyses, method_of
from robgui.core.execution.step import Step
from robgui.core.workspace import RunState, Workspace
from tests.core import tiny
from tests.patience import LONGEST

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def files(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("files")
    program = torch.export.export(
        tiny.network(), (torch.zeros(2, 3),), dynamic_shapes=({0: torch.export.Dim("n")},)
    )
    torch.export.save(program, folder / "m.pt2")
    np.savez(folder / "d.npz", inputs=tiny.inputs(6), labels=np.array([0, 1, 2, 3, 0, 1]))
    return folder


def robgui(*words: object, **options: object) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "robgui", *map(str, words)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
        **options,
    )


@pytest.fixture
def here(capsys):
    """Runs a command in this process, which has imported torch already; answers as ``robgui``."""

    def call(*words: object) -> subprocess.CompletedProcess[str]:
        code = main(list(map(str, words)))
        return subprocess.CompletedProcess("", code, *capsys.readouterr())

    return call


def sentence(text: str) -> str:
    assert text.startswith("robgui: ")
    assert text.count("\n") == 1
    assert "Traceback" not in text
    return text


def run(files: Path, *words: object) -> int:
    return main(
        [
            "run",
            "tiny-confidence",
            "--model",
            str(files / "m.pt2"),
            "--data",
            str(files / "d.npz"),
            *map(str, words),
        ]
    )


def test_run_writes_the_request_the_verdict_and_the_result_as_strict_json(files, tmp_path, capsys):
    out = tmp_path / "r.json"
    assert (
        run(
            files,
            "--samples",
            3,
            "--radii",
            "0,0.1,0.2",
            "--norm",
            "l2",
            "--seed",
            7,
            "--index",
            "1:4",
            "--out",
            out,
        )
        == 0
    )
    document = json.loads(
        out.read_text(), parse_constant=lambda word: pytest.fail(f"{word} is no JSON")
    )
    assert (
        document["request"]["params"] | {"samples": 3, "norm": "l2", "seed": 7}
        == document["request"]["params"]
    )
    assert document["request"]["indices"] == [1, 2, 3]
    assert document["request"]["models"][0]["path"] == str(files / "m.pt2")
    assert document["result"]["radii"] == [0.0, 0.1, 0.2]
    assert document["state"] == "done"
    assert document["findings"][0]["detail"]["nan"] is None
    captured = capsys.readouterr()
    assert (
        document["status"] == "unknown" and f"? Cannot tell. {document['verdict']}" in captured.err
    )
    assert captured.out == "" and f"Wrote {out}." in captured.err.splitlines()
    assert not out.with_suffix(".npz").exists()


def test_large_arrays_go_into_an_npz_beside_the_file_and_by_shape_to_stdout(
    files, tmp_path, capsys
):
    out = tmp_path / "r.json"
    assert run(files, "--keep", "--samples", 2, "--out", out) == 0
    document = json.loads(out.read_text())
    with np.load(tmp_path / document["arrays"], allow_pickle=False) as arrays:
        assert arrays[document["result"]["every"]["array"]].shape == (2, 4096)
    capsys.readouterr()
    assert run(files, "--keep", "yes", "--samples", 2) == 0
    assert json.loads(capsys.readouterr().out)["result"]["every"]["shape"] == [2, 4096]


def test_set_select_and_model_set_are_understood(files, capsys):
    assert (
        run(
            files,
            "--set",
            "samples=1",
            "--set",
            "fail-after=none",
            "--select",
            "label=1",
            "--model-set",
            "mean=0.1,0.2,0.3",
        )
        == 0
    )
    document = json.loads(capsys.readouterr().out)
    assert document["request"]["indices"] == [1, 5]
    assert document["request"]["models"][0]["options"]["mean"] == [0.1, 0.2, 0.3]


def test_the_run_is_kept_in_the_workspace(files, tmp_path):
    assert (
        run(
            files,
            "--samples",
            2,
            "--workspace",
            tmp_path / "w.robgui",
            "--out",
            tmp_path / "r.json",
        )
        == 0
    )
    with Workspace.open(tmp_path / "w.robgui") as workspace:
        (kept,) = workspace.runs()
        assert (kept.state, kept.done) == (RunState.DONE, 2)
        assert [known.path for known in workspace.files.references("model")] == [
            str(files / "m.pt2")
        ]


def test_progress_is_one_line_per_ten_per_cent_without_a_terminal(files, tmp_path, capsys):
    assert run(files, "--samples", 100, "--out", tmp_path / "r.json") == 0
    lines = [
        line
        for line in capsys.readouterr().err.splitlines()
        if line.startswith("Tiny confidence: ")
    ]
    assert len(lines) == 11
    assert lines[-1] == "Tiny confidence: 100 %"
    assert lines[5].startswith("Tiny confidence: 50 %")


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
        (["--select", "label=99"], "fits the query 'label=99'"),
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
    assert (
        "There is no setting 'sampels'; did you mean samples? Write name=value with one of: "
        in sentence(capsys.readouterr().err)
    )
    assert run(files, "--set", "samples") == 2
    assert "The setting 'samples' has no value; write samples=value." in sentence(
        capsys.readouterr().err
    )
    assert main(["run", "zonscan"]) == 2
    assert "There is no analysis 'zonscan'; did you mean zonnscan? Choose one of: " in sentence(
        capsys.readouterr().err
    )


def test_the_command_line_calls_a_setting_by_the_name_one_types(files, capsys):
    assert run(files, "--samples", 0) == 2
    assert "samples = 0: should be greater than or equal to 1." in sentence(capsys.readouterr().err)


def test_a_failed_run_still_writes_what_it_has(files, tmp_path):
    out = tmp_path / "r.json"
    assert run(files, "--fail-after", 2, "--out", out, "--workspace", tmp_path / "w.robgui") == 2
    document = json.loads(out.read_text())
    assert (document["state"], document["error"], document["result"]["drawn"]) == (
        "failed",
        "The tiny model gave up.",
        2,
    )


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


def test_list_takes_names_of_analyses_and_an_unknown_one_is_told_the_others(capsys):
    assert main(["list", "semantic-map", "zonnscan"]) == 0
    lines = capsys.readouterr().out.splitlines()
    shown = [line.strip().split(":")[0] for line in lines if re.match(r"  \S", line)]
    assert sorted(shown) == ["semantic-map", "zonnscan"]
    assert main(["list", "tolerance", "--json"]) == 0
    assert [one["name"] for one in json.loads(capsys.readouterr().out)] == ["tolerance"]
    assert main(["list", "qqqq"]) == 2
    said = capsys.readouterr().err
    assert "There is no analysis 'qqqq'" in said and "zonnscan" in said


def test_list_groups_the_analyses_by_their_method_in_the_order_of_the_rail(capsys):
    assert main(["list"]) == 0
    lines = capsys.readouterr().out.splitlines()
    titles = [f"{method.title}: {method.question}" for method in methods()]
    assert [line for line in lines if line in titles] == titles
    place = lines.index(titles[-1])
    own = [
        name.replace("_", "-")
        for name, known in analyses().items()
        if method_of(name) is methods()[-1]
    ]
    listed = [line.strip().split(":")[0] for line in lines[place:] if re.match(r"  \S", line)]
    assert listed[: len(own)] == own


def test_a_method_that_cannot_be_loaded_is_one_warning_and_the_list_is_complete(tmp_path):
    info = tmp_path / "broken-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: broken\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(
        "[robgui.methods]\nbroken = nowhere_at_all.method:METHOD\n"
    )
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(tmp_path), str(ROOT)])}
    for words in (["list"], ["list", "--json"], ["doctor", "--only", "methods"]):
        command = [sys.executable, "-m", "robgui", *words]
        done = subprocess.run(
            command, capture_output=True, text=True, check=False, cwd=tmp_path, env=environment
        )
        said = done.stdout if words[0] == "doctor" else done.stderr
        assert (
            done.returncode == 0
            and said.count("The method broken (nowhere_at_all.method:METHOD) cannot be loaded") == 1
        )
        assert words[0] == "doctor" or "zonnscan" in done.stdout


def test_inspect_tells_what_the_file_holds_and_how_it_answers(files, here):
    done = here("inspect", files / "m.pt2", "--data", files / "d.npz")
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
    words = [
        "--model",
        files / "m.pt2",
        "--data",
        files / "d.npz",
        "--index",
        0,
        "--samples",
        64,
        "--radii",
        "0,0.1",
        "--out",
        out,
    ]
    done = robgui("run", "zonnscan", *words)
    assert done.returncode == 0, done.stderr
    document = json.loads(out.read_text())
    assert len(document["result"]["index"]) == 2
    assert document["verdict"] in done.stderr


LONG = [
    "--index",
    "0",
    "--samples",
    "1000000",
    "--sampler",
    "plain",
    "--target-half-width",
    "0",
    "--radii",
    "0:1:1000",
]


@pytest.mark.skipif(sys.platform == "win32", reason="POSIX signals")
@pytest.mark.parametrize(
    "number", [signal.SIGINT, pytest.param(signal.SIGTERM, marks=pytest.mark.slow)]
)
def test_ctrl_c_and_a_request_to_end_keep_the_partial_result_and_exit_with_130(
    files, tmp_path, number
):
    out, kept = tmp_path / "r.json", tmp_path / "w.robgui"
    words = [
        "run",
        "zonnscan",
        "--model",
        files / "m.pt2",
        "--data",
        files / "d.npz",
        "--workspace",
        kept,
        "--out",
        out,
        *LONG,
    ]
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
    process.send_signal(number)
    seen += drain(leader)
    process.communicate(timeout=LONGEST)
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
    code = (
        "import sys; from robgui.cli import main\ntry: main(['--version'])\nexcept SystemExit:"
        " print('torch' in sys.modules)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert done.stdout.splitlines()[0].startswith("robgui 0.")
    assert done.stdout.splitlines()[1] == "False"


def test_doctor_answers():
    assert robgui("doctor", "--help").returncode == 0


def test_a_reader_who_goes_away_is_no_error():
    done = subprocess.run(  # noqa: S602
        f"{sys.executable} -m robgui list | head -1",
        shell=True,
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stderr == ""


def test_report_writes_one_html_file(files, tmp_path, here):
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
    done = here("report", workspace, "--html", page)
    assert done.returncode == 0, done.stderr
    assert done.stdout.endswith(f"\nWrote {page}.\n")
    assert "zoNNscan" in page.read_text(encoding="utf-8")
    done = here("report", workspace, "--html", page, "--pdf", tmp_path / "r.pdf")
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "r.pdf").read_bytes().startswith(b"%PDF")


def test_a_report_needs_a_place(tmp_path, here):
    done = here("report", tmp_path / "none.robgui")
    assert done.returncode == 2
    assert "--html FILE, --pdf FILE or --evidence FILE" in sentence(done.stderr)


def test_a_report_of_a_missing_workspace_is_one_sentence(tmp_path, here):
    done = here("report", tmp_path / "none.robgui", "--html", tmp_path / "r.html")
    assert done.returncode == 2
    assert "There is no workspace" in sentence(done.stderr)


def test_a_mistyped_option_or_command_is_named_and_the_nearest_one_is_offered(
    files, capsys, tmp_path
):
    assert run(files, "--sampels", 5) == 2
    assert "There is no option --sampels; did you mean --samples?" in sentence(
        capsys.readouterr().err
    )
    assert main(["reprot"]) == 2
    assert "There is no command 'reprot'; did you mean report?" in sentence(capsys.readouterr().err)
    assert main(["list", "everything"]) == 2
    assert "There is no analysis 'everything'; choose one of: " in sentence(capsys.readouterr().err)


def test_settings_come_from_a_file_and_options_go_before_it(files, tmp_path, capsys):
    (tmp_path / "p.toml").write_text('samples = 3\nradii = "0:0.2:3"\nfail-after = "none"\n')
    assert (
        run(files, "--params", tmp_path / "p.toml", "--seed", 7, "--out", tmp_path / "r.json") == 0
    )
    asked = json.loads((tmp_path / "r.json").read_text())["request"]["params"]
    assert (asked["samples"], asked["radii"], asked["seed"]) == (3, [0.0, 0.1, 0.2], 7)
    assert run(files, "--params", tmp_path / "r.json", "--samples", 2) == 0
    again = json.loads(capsys.readouterr().out)["request"]["params"]
    assert again == {**asked, "samples": 2}


@pytest.mark.parametrize(
    ("name", "text", "expected"),
    [
        ("p.toml", "sampels = 3", "did you mean samples"),
        ("p.toml", "a b", "no TOML or JSON"),
        ("p.json", "[1]", "holds no settings"),
        ("p.json", "{", "no TOML or JSON"),
        ("p.json", '{"request": {"analysis": "zonnscan", "params": {}}}', "a result of zonnscan"),
    ],
)
def test_a_file_that_holds_no_settings_is_one_sentence(
    files, tmp_path, capsys, name, text, expected
):
    (tmp_path / name).write_text(text)
    assert run(files, "--params", tmp_path / name) == 2
    assert expected in sentence(capsys.readouterr().err)
    assert run(files, "--params", tmp_path / "nowhere.toml") == 2
    assert "cannot be read" in sentence(capsys.readouterr().err)


def test_class_names_come_from_a_file(files, tmp_path, capsys):
    (tmp_path / "names.txt").write_text("tench, Tinca\nGrünfink\nhen\ncock\n", encoding="utf-8")
    assert (
        main(
            [
                "inspect",
                str(files / "m.pt2"),
                "--names",
                str(tmp_path / "names.txt"),
                "--data",
                str(files / "d.npz"),
                "--json",
            ]
        )
        == 0
    )
    document = json.loads(capsys.readouterr().out)
    assert document["classes"] == ["tench, Tinca", "Grünfink", "hen", "cock"]
    assert (document["parameters"], document["inputs"], document["counted"]) == (68, 6, 6)
    assert document["answers"][1]["truth"] == "Grünfink"
    assert main(["inspect", str(files / "m.pt2"), "--names", str(tmp_path / "nowhere.txt")]) == 2
    assert "nowhere.txt" in sentence(capsys.readouterr().err)


def test_list_writes_json_schemas(capsys):
    assert main(["list", "--json"]) == 0
    found = {entry["name"]: entry for entry in json.loads(capsys.readouterr().out)}
    assert "samples" in found["zonnscan"]["settings"]["properties"]
    assert found["srvr"]["method"] == "semantic"


def test_what_was_left_out_of_the_data_is_said(files, tmp_path, capsys):
    rows = "\n".join(["a,b,c,label", "0.1,0.2,0.3,1", "0.1,,0.3,0", "0.1,0.2", "0.5,0.2,0.3,0"])
    (tmp_path / "d.csv").write_text(rows)
    words = ["--model", files / "m.pt2", "--data", tmp_path / "d.csv", "--samples", 1]
    assert main(["run", "tiny-confidence", *map(str, words)]) == 0
    said = capsys.readouterr().err
    assert "d.csv: 1 of 3 rows are left out because a value is missing." in said
    assert (
        "Left out: 2 files or rows of d.csv, the first: row 4: it has 2 cells, the header has 4."
        in said
    )


def test_values_in_another_range_name_the_option_of_the_command_line(files, tmp_path, capsys):
    np.save(tmp_path / "d.npy", np.linspace(-1, 1, 3 * 64).reshape(3, 8, 8))
    assert main(["inspect", str(files / "m.pt2"), "--data", str(tmp_path / "d.npy")]) == 2
    assert "Say it with --data-set low=-1 --data-set high=1." in capsys.readouterr().err


def test_a_terminal_that_knows_no_umlauts_is_spared_them_and_json_still_parses(files, tmp_path):
    (tmp_path / "names.txt").write_text("blau\ngrün\nrot\ngelb\n", encoding="utf-8")
    plain = {**os.environ, "PYTHONIOENCODING": "ascii"}
    done = robgui("inspect", files / "m.pt2", "--names", tmp_path / "names.txt", env=plain)
    assert done.returncode == 0 and "gr\\xfcn" in done.stdout
    done = robgui(
        "inspect", files / "m.pt2", "--names", tmp_path / "names.txt", "--json", env=plain
    )
    assert json.loads(done.stdout)["classes"][1] == "grün"


def test_a_result_that_cannot_be_written_at_the_end_is_not_lost(
    files, tmp_path, capsys, monkeypatch
):
    from robgui.cli import running as module

    out, tried = tmp_path / "r.json", []

    def write(fields, path):
        tried.append(path)
        if path == out:
            raise OSError(28, "No space left on device")
        path.write_text(json.dumps({"done": fields["done"]}))

    monkeypatch.setattr(module, "write_document", write)
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    assert run(files, "--samples", 2, "--out", out) == 2
    assert f"No space left on device); it lies in {tried[1]} instead." in capsys.readouterr().err
    assert json.loads(tried[1].read_text()) == {"done": 2}


def test_a_place_that_cannot_be_written_is_found_before_the_work(files, capsys):
    assert (
        run(files, "--out", "/proc/r.json" if sys.platform == "linux" else "/nowhere/r.json") == 2
    )
    assert "it cannot be written there" in sentence(capsys.readouterr().err)


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize("columns", [20, 40, 80, 200])
def test_the_bar_fits_the_terminal(monkeypatch, columns):
    monkeypatch.setenv("COLUMNS", str(columns))
    stream = Terminal()
    ProgressLine("zoNNscan radius sweep", stream).show(Step(100, 100, None))
    drawn = stream.getvalue().removeprefix("\r\x1b[K")
    assert len(drawn) < columns and "100 %" in drawn
    assert ("#" in drawn) == (columns > 20)


def test_the_time_left_is_not_guessed_from_the_first_crumbs(monkeypatch):
    now = [1000.0]
    monkeypatch.setattr("robgui.cli.progress.time.monotonic", lambda: now[0])
    stream = io.StringIO()
    progress = ProgressLine("work", stream)
    progress.show(Step(0, 100_000, None))
    now[0] += 60
    progress.show(Step(10_000, 10_000_000_000, None))
    assert "left" not in stream.getvalue()
    now[0] += 60
    progress.show(Step(50_000, 100_000, None))
    assert "work: 50 %, about 2 min 0 s left" in stream.getvalue()
