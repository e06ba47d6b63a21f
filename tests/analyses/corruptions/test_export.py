"""The corrupted pictures of a run as files: opened again they give the accuracy that it said."""

from __future__ import annotations

import json
from functools import partial
from pathlib import Path

import numpy as np
import pytest
import torch
from torch import nn

from robgui import resources
from robgui.analyses.corruptions.engine import corruptions
from robgui.analyses.corruptions.method import CORRUPTIONS
from robgui.analyses.corruptions.params import CorruptionsParams
from robgui.cli import main
from robgui.core.dataset import align, inputs, match, open_dataset
from robgui.core.errors import DataError
from robgui.core.execution.asking.questions import answer
from robgui.core.execution.export import Origin
from robgui.core.execution.loaded_cache import LoadedCache
from robgui.core.loading import load
from robgui.core.model.card import card_of
from robgui.core.model.classifier import Classifier

DEMO = Path(resources.path("demo"))
SETTINGS = {"most": 40, "kinds": ("glass_blur", "snow", "elastic", "jpeg"), "severities": (2, 5)}


def ask(what: str, *, topic: str = "", **values):
    return answer(LoadedCache(), what, values)


def write(classifier, data, place, **settings):
    """Runs the corruptions and exports them; returns the result."""
    params = CorruptionsParams(**{**SETTINGS, **settings})
    *_, last = corruptions((classifier,), data, params)
    origin = Origin(card_of(classifier), data, ask)
    words = CORRUPTIONS.export.write(last.result, params, origin, place)
    assert str(place) in words
    return last.result


def right(classifier, path, **options) -> tuple[np.ndarray, np.ndarray]:
    """Which of the pictures of a file the model gets right, and its labels."""
    data = open_dataset(path, **options)
    data = align(match(classifier, data), data)
    predicted = classifier.probs(inputs(classifier, data)).argmax(1).cpu().numpy()
    return predicted == data.labels, data.labels


@pytest.fixture(scope="module")
def fashion():
    return load(DEMO / "fashion_mlp.pt2"), open_dataset(DEMO / "fashion.npz")


def test_one_file_opened_again_gives_the_accuracy_of_every_corruption(fashion, tmp_path):
    result = write(*fashion, tmp_path / "set.npz")
    answers, labels = right(fashion[0], tmp_path / "set.npz")
    np.testing.assert_allclose(answers.reshape(4, 2, 40).mean(-1), result.accuracy(0))
    np.testing.assert_array_equal(answers.reshape(4, 2, 40), result.right[0])
    with np.load(tmp_path / "set.npz") as file:
        kinds, severities, seeds = file["kind"], file["severity"], file["seed"]
    assert kinds[::80].tolist() == list(SETTINGS["kinds"])
    assert severities.reshape(4, 2, 40)[:, :, 0].tolist() == [[2, 5]] * 4
    manifest = json.loads((tmp_path / "set.manifest.json").read_text())
    rows = manifest["pictures"]
    assert len(rows) == len(labels) == 320 and manifest["seed"] == 0
    assert [row["seed"] for row in rows] == seeds.tolist() and len(set(seeds.tolist())) == 320
    assert manifest["accuracy"]["snow"]["5"] == result.accuracy(0)[1, 1]
    assert [rows[0][key] for key in ("kind", "severity", "row")] == ["glass_blur", 2, 0]


def test_class_folders_are_called_like_the_classes_unless_a_name_cannot_be_one(tmp_path):
    colour = load(DEMO / "traffic_cnn.pt2"), open_dataset(DEMO / "traffic")
    write(*colour, tmp_path / "set", most=3, kinds=("saturate",), severities=(1,))
    made = sorted(path.name for path in (tmp_path / "set" / "saturate-1").iterdir())
    assert made == ["green", "none", "red"]


def test_folders_of_pictures_opened_again_give_the_accuracy_but_for_rounding(fashion, tmp_path):
    result = write(*fashion, tmp_path / "set")
    for at, kind in enumerate(SETTINGS["kinds"]):
        for column, severity in enumerate((2, 5)):
            answers, _ = right(fashion[0], tmp_path / "set" / f"{kind}-{severity}")
            assert len(answers) == 40
            assert abs(answers.mean() - result.accuracy(0)[at, column]) <= 1 / 40, kind
    rows = json.loads((tmp_path / "set" / "manifest.json").read_text())["pictures"]
    assert {row["label"] for row in rows} <= set(fashion[0].labels)
    assert all((tmp_path / "set" / row["file"]).is_file() for row in rows)


def test_what_cannot_be_written_is_one_sentence_and_leaves_nothing(fashion, tmp_path):
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "mine.txt").write_text("kept")
    with pytest.raises(DataError, match="is there already; name a new or an empty folder"):
        write(*fashion, tmp_path / "full", most=2)
    with pytest.raises(DataError, match="cannot be written"):
        write(*fashion, tmp_path / "missing" / "set.npz", most=2)
    assert [path.name for path in tmp_path.iterdir()] == ["full"]
    assert [path.name for path in (tmp_path / "full").iterdir()] == ["mine.txt"]


def test_pictures_that_are_no_png_go_into_one_file(tmp_path):
    class Half(nn.Module):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return x.mean((1, 2, 3))[:, None] * torch.tensor([1.0, -1.0])

    path = tmp_path / "odd.npz"
    x = np.random.default_rng(0).integers(0, 255, (4, 4, 16, 16), dtype=np.uint8)
    np.savez(path, x=x, y=np.arange(4) % 2, names=np.array(["on", "off"]))
    odd = Classifier.from_module(Half(), (4, 16, 16), ["on", "off"], name="odd")
    with pytest.raises(DataError, match="Pictures of 4 channels are no PNG files"):
        write(odd, open_dataset(path), tmp_path / "set", kinds=("fog", "frost"))
    result = write(odd, open_dataset(path), tmp_path / "set.npz", kinds=("fog", "frost"))
    answers, _ = right(odd, tmp_path / "set.npz")
    np.testing.assert_array_equal(answers.reshape(2, 2, 4), result.right[0])


def test_the_command_line_exports_some_inputs_of_a_run(tmp_path, capsys, fashion):
    words = ["run", "corruptions", "--model", str(DEMO / "fashion_mlp.pt2")]
    words += ["--data", str(DEMO / "fashion.npz"), "--index", "100:130", "--most", "10"]
    words += ["--kinds", "fog,spatter", "--severities", "3", "--out", str(tmp_path / "result.json")]
    assert main([*words, "--export", str(tmp_path / "set.npz")]) == 0
    assert "20 corrupted pictures written to" in capsys.readouterr().err
    answers, _ = right(fashion[0], tmp_path / "set.npz")
    told = json.loads((tmp_path / "set.manifest.json").read_text())
    for at, kind in enumerate(("fog", "spatter")):
        assert answers.reshape(2, 10)[at].mean() == pytest.approx(told["accuracy"][kind]["3"])
    names = {row["name"] for row in told["pictures"]}
    assert names <= {f"image {number}" for number in range(100, 130)}, "those of the run"
    (tmp_path / "there").mkdir()
    (tmp_path / "there" / "file").touch()
    assert main([*words, "--export", str(tmp_path / "there")]) == 2


def test_the_options_of_other_analyses_have_no_export():
    with pytest.raises(SystemExit) as ended:
        main(["run", "zonnscan", "--help"])
    assert ended.value.code == 0
    assert partial(main, ["run", "zonnscan", "--model", "x", "--export", "y"])() == 2
