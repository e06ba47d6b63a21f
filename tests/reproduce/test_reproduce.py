"""robgui reproduce: table, exit codes, result.json, figures and Ctrl-C."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
import torch
from safetensors.torch import save_file

from robgui.cli import main
from robgui.cli.reproduce import exit_code, table
from robgui.core.execution import method
from robgui.core.execution.choice import INLINE
from robgui.reproduce.claim import Claim, methods
from tests.patience import LONGEST
from tests.sixth_method.test_sixth_method import install

ROOT = Path(__file__).parents[2]
DEMO = ROOT / "resources" / "demo"

#: A claims module as a method would have it.
TINY = """
from robgui.reproduce.claim import Claim, attempt
from robgui.core.errors import DataError
import os, time

def missing():
    raise DataError("the moon is missing; bring it.")

def claims(setting):
    yield Claim("tiny", "one is less than two", "1 < 2", "1 < 2", True, f"seed {setting.seed}, quick {setting.quick}")
    yield attempt("tiny", "the moon is round", "round", missing)
    if os.environ.get("ROBGUI_TINY_SLEEP"):
        setting.say("sleeping")
        time.sleep(60)
    if os.environ.get("ROBGUI_TINY_FAILS"):
        yield Claim("tiny", "two is less than one", "2 < 1", "2 > 1", False, "", {"difference": float("nan")})
    if os.environ.get("ROBGUI_TINY_BREAKS"):
        missing()
"""
#: A network that ends its process at the first call on several inputs.
DEADLY = """
import os
import torch

class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.w = torch.nn.Parameter(torch.zeros(1))

    def forward(self, x):
        if len(x) > 64:
            os._exit(3)
        return torch.cat([x.flatten(1)[:, :9], self.w.expand(len(x), 1)], 1)
"""
#: Its record, which an entry point names; a worker process finds it there too.
RECORD = """
from pathlib import Path
from robgui.core.execution.method import Method

METHOD = Method(name="tiny_method", title="Tiny", question="Is one less than two?", analyses=(),
                folder=Path(__file__).parent, claims="tiny_method.claims:claims")
"""


@pytest.fixture
def tiny(tmp_path, monkeypatch):
    """A folder with the package of a method that has claims, as pip leaves it."""
    site = tmp_path / "packages"
    package = site / "tiny_method"
    package.mkdir(parents=True)
    for name, content in {
        "__init__.py": "",
        "claims.py": TINY,
        "method.py": RECORD,
        "help.md": "# Tiny",
        "icon.svg": "<svg/>",
    }.items():
        (package / name).write_text(content)
    install(site, "tiny_method", "tiny_method = tiny_method.method:METHOD")
    monkeypatch.syspath_prepend(str(site))
    method.refresh()
    yield site
    monkeypatch.undo()
    method.refresh()
    for name in [name for name in sys.modules if name.startswith("tiny_method")]:
        del sys.modules[name]


def apart() -> dict[str, str]:
    """The environment of a command that runs models in their own process, as users do."""
    return {name: value for name, value in os.environ.items() if name != INLINE}


def document(folder: Path) -> dict:
    return json.loads(
        (folder / "result.json").read_text(),
        parse_constant=lambda word: pytest.fail(f"{word} is no JSON"),
    )


def test_claims_that_hold_give_exit_code_0_and_what_undecided_says_why(tiny, tmp_path, capsys):
    assert (
        main(["reproduce", "tiny-method", "--seed", "7", "--quick", "--out", str(tmp_path / "out")])
        == 0
    )
    shown = capsys.readouterr()
    assert "one is less than two  1 < 2  1 < 2  holds" in shown.out
    assert "undecided" in shown.out and "the moon is missing; bring it." in shown.out
    assert "1 hold, 0 do not hold, 1 undecided" in shown.out
    assert "one is less than two: holds" in shown.err
    result = document(tmp_path / "out")
    assert (result["state"], result["holds"], result["does_not_hold"], result["undecided"]) == (
        "done",
        1,
        0,
        1,
    )
    assert result["claims"][0]["note"] == "seed 7, quick True" and result["settings"]["seed"] == 7


def test_a_claim_that_does_not_hold_gives_exit_code_1(tiny, tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("ROBGUI_TINY_FAILS", "1")
    assert main(["reproduce", "tiny-method", "--out", str(tmp_path / "out")]) == 1
    assert "does not hold" in capsys.readouterr().out
    failed = document(tmp_path / "out")["claims"][-1]
    assert failed["holds"] is False and failed["detail"] == {"difference": None}


def test_a_method_that_stops_halfway_keeps_its_claims_and_says_why(tiny, tmp_path, monkeypatch):
    monkeypatch.setenv("ROBGUI_TINY_BREAKS", "1")
    assert main(["reproduce", "tiny_method", "--out", str(tmp_path / "out")]) == 0
    verdicts = [claim["verdict"] for claim in document(tmp_path / "out")["claims"]]
    assert verdicts == ["holds", "undecided", "undecided"]


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no SIGINT for one process")
def test_ctrl_c_keeps_what_is_done_and_gives_130(tiny, tmp_path):
    out = tmp_path / "out"
    words = [sys.executable, "-m", "robgui", "reproduce", "tiny-method", "--out", str(out)]
    process = subprocess.Popen(
        words,
        cwd=ROOT,
        env={
            **apart(),
            "ROBGUI_TINY_SLEEP": "1",
            "PYTHONPATH": os.pathsep.join([str(tiny), str(ROOT)]),
        },
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        # Ctrl-C is heard even where the tests run in the background
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),  # noqa: PLW1509
    )
    for line in process.stderr:
        if "sleeping" in line:
            break
    time.sleep(0.2)
    process.send_signal(signal.SIGINT)
    shown, errors = process.communicate(timeout=LONGEST)
    assert (
        process.returncode == 130
        and "one is less than two" in shown
        and "interrupted" in errors
        and "Traceback" not in errors
    )
    result = document(out)
    assert result["state"] == "interrupted" and len(result["claims"]) == 2


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["alchemy"], "There are no claims of 'alchemy' to reproduce; choose one of: zonnscan, "),
        (["zonnscan", "--data", "/nowhere"], "--data /nowhere"),
        (["zonnscan", "--models", "/nowhere.pt2"], "/nowhere.pt2"),
        (["zonnscan", "--seed", "many"], "--seed"),
        (["zonnscan", "--seed", "-1"], "--seed"),
        (["zonnscan", "--out", os.devnull], "--out"),
    ],
)
def test_bad_input_is_one_sentence_and_exit_code_2(words, expected, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert main(["reproduce", *words]) == 2
    error = capsys.readouterr().err
    assert expected in error and error.startswith("robgui: ") and error.count("\n") == 1


def test_a_model_that_ends_its_process_costs_its_claims_and_not_the_command(
    tmp_path, monkeypatch, capsys
):
    monkeypatch.delenv(INLINE, raising=False)
    model = tmp_path / "m.safetensors"
    save_file({"w": torch.zeros(1)}, model)
    (tmp_path / "nets.py").write_text(DEADLY)
    model.with_name("m.safetensors.toml").write_text(
        'architecture = "nets.py:Net"\nshape = [1, 28, 28]\n'
    )
    words = ["zonnscan", "--quick", "--models", str(model), "--trust"]
    code = main(["reproduce", *words, "--out", str(tmp_path / "out")])
    result = document(tmp_path / "out")
    assert code == 1 and result["state"] == "done", capsys.readouterr()
    (claim,) = result["claims"]
    assert claim["verdict"] == "undecided" and "exit code 3" in claim["note"]


def test_nothing_that_could_be_run_is_no_success():
    hold, fail, cannot = (Claim("m", "s", "p", "o", holds) for holds in (True, False, None))
    assert [exit_code(claims) for claims in ([hold, cannot], [hold, fail], [cannot], [])] == [
        0,
        1,
        1,
        1,
    ]


def test_the_table_lines_up_its_columns():
    claims = [
        Claim("m", "short", "1", "2", True),
        Claim("m", "a longer statement", "0.1 -> 0.2", "", None, "why " * 40),
    ]
    lines = table(claims, 100).splitlines()
    assert lines[0].index("paper") == lines[2].index("1") == lines[3].index("0.1")
    assert max(map(len, lines)) <= 100 and lines[4].startswith("    why")


def test_zonnscan_has_claims():
    assert "zonnscan" in methods()


def test_a_quick_run_on_the_bundled_data_writes_table_document_and_figures(tmp_path):
    """With the quickest of the three bundled networks; corner cases need two."""
    out = tmp_path / "out"
    model = str(DEMO / "fashion_mlp.pt2")
    words = [
        sys.executable,
        "-m",
        "robgui",
        "reproduce",
        "zonnscan",
        "--quick",
        "--models",
        model,
        "--out",
        str(out),
    ]
    done = subprocess.run(
        words,
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
        env={**apart(), "OMP_NUM_THREADS": "1"},
    )
    result = document(out)
    assert done.returncode == (0 if result["does_not_hold"] == 0 else 1), done.stderr
    assert len(result["claims"]) == 6 and result["holds"] >= 3, done.stdout
    assert [claim["holds"] for claim in result["claims"]].index(
        None
    ) == 1 and "load at least two models" in done.stdout
    for claim in result["claims"]:
        assert {
            type(claim[name])
            for name in ("method", "statement", "paper", "ours", "verdict", "note")
        } == {str}
        assert isinstance(claim["detail"], dict) and claim["seconds"] >= 0
        assert claim["statement"] in done.stdout and claim["ours"] in done.stdout and claim["note"]
        for name in claim["figures"]:
            start = (out / name).read_bytes()[:5]
            assert start == (b"\x89PNG\r" if name.endswith("png") else b"<?xml")
    assert sum(len(claim["figures"]) for claim in result["claims"]) == 8
    assert "eps = 0.1" in done.stdout and "samples" in done.stdout
