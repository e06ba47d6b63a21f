"""A finding says which input of the data it is about: by its file, and by its number there."""

from __future__ import annotations

import csv

from robgui.core.execution.request import Reference, Request
from robgui.core.finding import Finding
from robgui.core.finding_groups import input_in_words, number_of
from robgui.core.workspace import Workspace

MODEL = Reference(kind="model", name="net.pt", fingerprint="m" * 16, path="net.pt")
DATA = Reference(kind="dataset", name="tests", fingerprint="d" * 16, path="tests")


def asked(indices):
    return Request(
        analysis="tiny_confidence", models=(MODEL,), dataset=DATA, indices=indices, params={}
    )


def found(**detail):
    return Finding("wrong input", "“frog” by its label, “horse” to the model", 0.7, detail)


def test_the_number_counts_in_the_data_and_not_in_the_sample():
    sample = tuple(range(0, 800, 3))
    assert number_of(found(place=127), asked(sample)) == 381
    assert number_of(found(place=127), asked(None)) == 127
    assert number_of(found(), asked((5,))) == 5
    assert number_of(found(inputs=[1, 2], wrong=2), asked(sample)) is None
    assert number_of(found(place=999), asked(sample)) is None


def test_words_name_the_file_where_it_is_known():
    one = found(place=1, input_name="frog/0381.png")
    assert input_in_words(one, asked((0, 381))) == "frog/0381.png, input 381 of tests"
    assert input_in_words(found(place=1), asked((0, 381))) == "input 381 of tests"
    assert input_in_words(found(), asked(None)) == ""


def test_the_table_of_findings_has_model_data_file_and_number(tmp_path):
    with Workspace.open(tmp_path / "w.robgui") as workspace:
        run = workspace.add_run(asked(tuple(range(0, 800, 3))))
        workspace.add_findings(run.id, [found(place=127, input_name="frog/0381.png"), found()])
        folder = workspace.export(tmp_path / "out")
    with (folder / "findings.csv").open(newline="", encoding="utf-8") as file:
        named, other = csv.DictReader(file)
    told = {name: named[name] for name in ("model", "data", "input", "number")}
    assert told == {"model": "net.pt", "data": "tests", "input": "frog/0381.png", "number": "381"}
    assert (other["model"], other["input"], other["number"]) == ("net.pt", "", "")
