"""What a run will cost, on the command line."""

from __future__ import annotations

import pytest

from robgui import resources
from robgui.cli import main
from robgui.cli.running import cost_line
from robgui.core.execution.budget.cost import Calls, Estimate


def demo(name: str) -> str:
    return str(resources.path("demo", name))


def test_a_dry_run_says_what_the_run_would_cost_and_runs_nothing(capsys, tmp_path) -> None:
    place = tmp_path / "a.robgui"
    given = ["--model", demo("fashion_mlp.pt2"), "--data", demo("fashion.npz"), "--index", "3"]
    code = main(["run", "semantic-map", *given, "--dry-run", "--workspace", str(place)])
    said = capsys.readouterr()
    assert code == 0 and not place.exists()
    assert said.out.startswith("Semantic map: ") and said.out.endswith("1,100 calls.\n")


@pytest.mark.parametrize(
    ("seconds", "limit", "words"),
    [
        (5, 0, "Map: about 5 s, 820 calls."),
        (40, 0, "Map: about 40 s, 820 calls. With --max-seconds 60 it ends after a minute"),
        (90, 60, "Map: cut at 1 min; without a limit about 1.5 min, 820 calls."),
    ],
)
def test_a_long_run_is_announced_with_what_would_shorten_it(seconds, limit, words) -> None:
    said = cost_line("Map", Estimate(Calls.exactly(820), seconds, seconds, limit))
    assert said.startswith(words)
