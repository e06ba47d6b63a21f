"""A suite can ask for trust, never give it."""

from __future__ import annotations

import pytest

from robgui.cli import main
from robgui.core import trust
from robgui.core.errors import TrustError
from robgui.core.loading import load
from robgui.core.workspace import Workspace
from tests.batch import small

SCAN = (
    '[[analyses]]\nname = "zonnscan"\nindex = 0\nmodels = ["net_0*"]\nparams = { samples = 16,'
    " radii = [0.0, 0.1] }\n"
)
TRUSTED = small.HEAD.replace("net_*.safetensors", "net_0.safetensors").replace(
    '.safetensors"\n', '.safetensors"\ntrust = true\n'
)


@pytest.fixture
def suite(tmp_path):
    """A suite that says of itself that it is trusted."""
    small.write_files(tmp_path)
    return small.write_suite(tmp_path, TRUSTED + SCAN)


@pytest.fixture
def telling(suite):
    """The same; its architecture says so when it is executed (it could not write a file)."""
    nets = suite.parent / "nets.py"
    nets.write_text("raise RuntimeError('it was executed')\n" + nets.read_text())
    return suite


def run(suite, *words):
    return main(
        [
            "batch",
            str(suite),
            "--device",
            "cpu",
            "--workspace",
            str(suite.parent / "w.robgui"),
            *words,
        ]
    )


@pytest.mark.parametrize("words", [(), ("--dry-run",)])
def test_what_a_suite_says_of_itself_does_not_count(telling, capsys, words):
    assert run(telling, *words) == 2
    said = capsys.readouterr().err
    assert (
        "A suite cannot say so itself: add --trust to the command" in said and said.count("\n") == 1
    )
    assert "executed" not in said


@pytest.mark.parametrize("words", [("--trust",), ("--trust", "--dry-run")])
def test_the_command_line_counts(telling, capsys, words):
    assert run(telling, *words) == 2
    assert "it was executed" in capsys.readouterr().err


@pytest.mark.parametrize("words", [("--trust",), ("--trust", "--dry-run")])
def test_trust_given_on_the_command_line_is_for_this_command_only(suite, words):
    assert run(suite, *words) == 0
    assert trust.trusted() == {}


def test_what_the_user_trusts_counts_also_in_worker_processes(suite):
    with pytest.raises(TrustError) as caught:
        load(suite.parent / "net_0.safetensors")
    trust.trust(caught.value.code.digest, caught.value.code.what)
    assert run(suite) == 0
    with Workspace.open(suite.parent / "w.robgui") as workspace:
        assert [str(each.state) for each in workspace.runs()] == ["done"]


def test_no_reference_says_that_its_file_is_trusted(suite):
    assert run(suite, "--trust") == 0
    with Workspace.open(suite.parent / "w.robgui") as workspace:
        (known,) = workspace.files.references("model")
        assert "trust" not in known.model_dump()
