"""What a report tells: one run for each model and method in full, nothing hidden, of one model if
asked.
"""

from __future__ import annotations

import re

import pytest

from robgui.cli import main
from robgui.core.errors import ParamsError
from robgui.core.finding_groups import counted
from robgui.core.verdict import Status
from robgui.core.workspace import Workspace
from robgui.report.contents import Scope, contents_of, scope_of
from robgui.report.html import write_html
from robgui.report.report_content import entries
from robgui.report.writing import write_evidence
from tests.report import small


@pytest.fixture
def two(workspace: Workspace) -> Workspace:
    """A model that fails, one that holds, and a run that compares them."""
    bad, good = small.model("bad"), small.model("good", seed=1)
    small.run(workspace, [good], says="holds")
    small.run(workspace, [bad], says="fails")
    return workspace


def mark(workspace: Workspace, name: str) -> str:
    models = [model for run in workspace.runs() for model in run.request.models]
    return next(model.fingerprint for model in models if model.name == name)


def test_one_run_speaks_in_full_and_the_others_keep_their_words_and_their_record(
    workspace, tmp_path, capsys
):
    for seed in range(3):
        small.run(workspace, says="fails", seed=seed)
    path = write_html(workspace, tmp_path / "r.html")
    page = path.read_text(encoding="utf-8")
    assert page.count("<article") == 3 and page.count('class="robgui-experiment"') == 3
    assert "2 more runs (✗ Failure found: 2)" in page, "failures are told where they unfold"
    shown, folded = page.split('<details class="others">')
    assert shown.count('<img class="figure"') == 1
    assert 'class="figure"' not in folded.partition("</section>")[0]
    assert main(["verify", str(path)]) == 0
    assert "3 runs, 0 problems" in capsys.readouterr().out


def test_a_failure_of_a_run_in_brief_stands_in_the_evidence(workspace):
    failing = small.run(workspace, says="fails", seed=1)
    for seed in (2, 3):
        small.run(workspace, says="holds", seed=seed)
    contents = contents_of(workspace)
    told = {one.run.id: one for one in contents.told}
    assert contents.line.status is Status.FAILS
    assert told[failing.id].verdict.status is Status.FAILS and failing.id in contents.full


def test_a_report_of_one_model_tells_nothing_of_the_other_and_says_so(two, tmp_path, capsys):
    scope = Scope(frozenset({mark(two, "good")}))
    contents = contents_of(two, scope)
    assert contents.line.status is Status.HOLDS and not contents.findings
    assert contents.heading == "Robustness of good" and list(contents.table) == ["good"]
    assert contents.overview.endswith("Not about 1 other model of the workspace: bad.")
    path = write_html(two, tmp_path / "r.html", scope=scope)
    assert mark(two, "bad") not in path.read_text(encoding="utf-8")
    assert main(["verify", str(path)]) == 0
    rows = write_evidence(two, tmp_path / "e.csv", scope).read_text(encoding="utf-8-sig")
    assert "good" in rows and "bad" not in rows
    assert "1 runs, 0 problems" in capsys.readouterr().out


def test_of_a_run_with_several_models_the_bottom_line_is_about_those_of_the_report(
    workspace, tmp_path
):
    small.run(workspace, [small.model("one"), small.model("two", seed=1)], says="fails")
    scope = Scope(frozenset({mark(workspace, "two")}))
    path = write_html(workspace, tmp_path / "r.html", scope=scope)
    line = re.search(r'class="bottom-line.*?</section>', path.read_text("utf-8"), re.DOTALL)[0]
    assert "Model 1 is sure." in line and main(["verify", str(path)]) == 0


def test_models_are_named_as_a_person_knows_them(two, tmp_path, capsys):
    assert scope_of(two, ["bad"]).models == {mark(two, "bad")}
    assert scope_of(two, [mark(two, "good")[:8]]).models == {mark(two, "good")}
    assert scope_of(two, []) == Scope()
    with pytest.raises(ParamsError, match="asks about the model ugly; it knows bad, good"):
        scope_of(two, ["ugly"])
    two.close()
    target = tmp_path / "bad.html"
    assert main(["report", str(two.path), "--html", str(target), "--model", "bad"]) == 0
    assert "<h1>Robustness of bad</h1>" in target.read_text(encoding="utf-8")


def test_a_report_of_chosen_runs_tells_them_in_full_and_what_it_leaves_out(two, tmp_path, capsys):
    wanted = next(run for run in two.runs() if run.request.models[0].name == "good")
    contents = contents_of(two, scope_of(two, [], runs=[wanted.id]))
    assert [one.run.id for one in contents.in_full] == [wanted.id] and not contents.in_brief
    left_out = "it leaves out 1 run with a result, 1 of which found a failure."
    assert left_out in contents.overview
    assert all(group.lead.run_id == wanted.id for group in contents.findings)
    with pytest.raises(ParamsError, match="0 runs of the workspace begin with “zz”"):
        scope_of(two, [], runs=["zz"])
    two.close()
    assert main(["report", str(two.path), "--list"]) == 0
    listed = capsys.readouterr().out.splitlines()
    word = next(line.split()[0] for line in listed if " good: " in line)
    assert len(listed) == 2 and wanted.id.startswith(word)
    target = tmp_path / "chosen.html"
    assert main(["report", str(two.path), "--html", str(target), "--run", word]) == 0
    page = target.read_text(encoding="utf-8")
    assert page.count("<article") == 1 and left_out in page
    assert main(["verify", str(target)]) == 0


def test_every_place_of_a_report_counts_findings_as_the_window_does(workspace, tmp_path):
    for _ in range(2):
        small.run(workspace, says="fails", seed=len(workspace.runs()))
    assert len(workspace.findings()) == 2
    said = counted(entries(workspace, workspace.runs()))
    page = write_html(workspace, tmp_path / "r.html").read_text(encoding="utf-8")
    assert said == "1 finding (2 with those alike)" and page.count(said) == 2
