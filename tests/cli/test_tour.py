"""robgui tour: what it refuses, in one sentence; tests/test_readme.py runs it."""

from __future__ import annotations

import pytest

from robgui import resources
from robgui.cli import main
from robgui.core.execution.method import methods


def test_every_analysis_is_a_stop_on_files_of_the_demo():
    from robgui.gui.show.tour import stops

    assert [stop.name for stop in stops()] == [
        one.name for method in methods() for one in method.analyses
    ], "each has a demo"
    files = {path.name for entry in resources.demo() for path in (entry.dataset, *entry.models)}
    for stop in stops():
        assert stop.demo.model in files and stop.demo.data in files, stop.name
        stop.params.parse(dict(stop.demo.params))


def test_an_analysis_that_the_tour_does_not_visit_is_refused_with_the_list(capsys, tmp_path):
    assert main(["tour", str(tmp_path), "--only", "moon"]) == 2
    said = capsys.readouterr().err
    assert (
        said.startswith("robgui: --only moon: the tour shows zonnscan, ") and said.count("\n") == 1
    )
    assert list(tmp_path.iterdir()) == []


def test_a_folder_that_cannot_be_made_is_named(capsys, tmp_path):
    (tmp_path / "file").write_text("")
    assert main(["tour", str(tmp_path / "file" / "pictures"), "--only", "zonnscan"]) == 2
    assert "cannot be made" in capsys.readouterr().err


@pytest.mark.parametrize("words", [["--help"], ["tour", "--help"]])
def test_the_help_tells_of_the_tour(words, capsys):
    with pytest.raises(SystemExit):
        main(words)
    assert "without a screen" in capsys.readouterr().out
