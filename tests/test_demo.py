"""The shipped demo is complete, small, measured honestly and made again by its script."""

from __future__ import annotations

import importlib
import json
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from PIL import Image

from robgui import resources
from robgui.core.dataset import Dataset, inputs, match, open_dataset
from robgui.core.loading import load
from robgui.core.model.classifier import Classifier

DEMO = resources.path("demo")
MODELS = [(entry.dataset, model) for entry in resources.demo() for model in entry.models]
FASHION = resources.demo()[0]


@cache
def _dataset(path: Path) -> Dataset:
    return open_dataset(path)


@cache
def _classifier(path: Path) -> Classifier:
    return load(path)


@cache
def _answers(model: Path, dataset: Path) -> np.ndarray:
    classifier = match(_classifier(model), _dataset(dataset))
    return classifier.probs(inputs(classifier, _dataset(dataset))).argmax(1).cpu().numpy()


@cache
def _measured() -> dict[str, Any]:
    parts = json.loads((DEMO / "measured.json").read_text(encoding="utf-8"))
    return {name: values for part in parts.values() for name, values in part["models"].items()}


def test_the_demo_stays_under_fifteen_megabytes() -> None:
    assert (
        sum(
            file.stat().st_size
            for file in DEMO.rglob("*")
            if file.is_file() and "__pycache__" not in file.parts
        )
        < 15_000_000
    )


def test_the_demo_carries_the_licences_of_its_data() -> None:
    notices = (DEMO / "LICENSES.md").read_text(encoding="utf-8")
    assert "Zalando SE" in notices
    assert "Attribution 4.0" in notices


def test_no_model_file_holds_a_path_of_the_machine_it_was_made_on() -> None:
    for _, model in MODELS:
        assert b"site-packages" not in model.read_bytes(), model.name


@pytest.mark.parametrize(("dataset", "model"), MODELS, ids=lambda path: path.name)
def test_each_model_is_as_accurate_as_measured(dataset: Path, model: Path) -> None:
    labels = _dataset(dataset).labels
    assert labels is not None
    shipped = _measured()[model.name]["shipped"]
    assert len(labels) == shipped["inputs"]
    assert np.mean(_answers(model, dataset) == labels) == pytest.approx(
        shipped["accuracy"], abs=0.005
    )


@pytest.mark.parametrize(("dataset", "model"), MODELS, ids=lambda path: path.name)
def test_each_model_and_its_dataset_name_the_same_classes_in_the_same_order(
    dataset: Path, model: Path
) -> None:
    assert _classifier(model).labels == _dataset(dataset).names


def test_every_model_is_worth_looking_at() -> None:
    measured = _measured()
    assert measured["fashion_cnn.safetensors"]["test"]["inputs"] == 10_000
    assert measured["fashion_cnn.safetensors"]["test"]["accuracy"] >= 0.91
    assert measured["traffic_cnn.pt2"]["test"]["accuracy"] >= 0.95
    assert all(values["test"]["accuracy"] >= 0.87 for values in measured.values())


def test_the_three_fashion_models_disagree_often_enough_to_be_compared() -> None:
    answers = np.stack([_answers(model, FASHION.dataset) for model in FASHION.models])
    assert (answers != answers[0]).any(0).sum() >= 50


@pytest.fixture
def make(monkeypatch: pytest.MonkeyPatch) -> Iterator[ModuleType]:
    """The script that made the demo; it and its neighbours are forgotten afterwards."""
    monkeypatch.syspath_prepend(str(DEMO))
    yield importlib.import_module("make")
    for name in ("make", "files", "traffic", "architectures"):
        sys.modules.pop(name, None)


def test_the_shipped_scenes_are_the_ones_the_generator_draws(make: ModuleType) -> None:
    images, labels = make.traffic.scenes(2, make.SEEDS["traffic"])
    for index, (image, label) in enumerate(zip(images, labels, strict=True)):
        name = make.traffic.CLASSES[label]
        with Image.open(DEMO / "traffic" / name / f"{name}_{index // 3:02d}.png") as shipped:
            assert np.array_equal(np.asarray(shipped), np.asarray(image))


def test_other_seeds_draw_other_scenes(make: ModuleType) -> None:
    first, second = (np.asarray(make.traffic.scenes(1, seed)[0][0]) for seed in (1, 2))
    assert not np.array_equal(first, second)


def test_the_table_part_is_made_again_byte_for_byte(make: ModuleType, tmp_path: Path) -> None:
    for folder in ("one", "two"):
        (tmp_path / folder).mkdir()
        make.table(tmp_path, tmp_path / folder)
    for file in sorted((tmp_path / "one").iterdir()):
        assert file.read_bytes() == (tmp_path / "two" / file.name).read_bytes(), file.name
    assert (tmp_path / "one" / "table.csv").read_bytes() == (DEMO / "table.csv").read_bytes()


def test_the_subset_holds_as_many_of_each_class_and_depends_only_on_the_seed(
    make: ModuleType,
) -> None:
    labels = np.arange(1000) % 10
    chosen = make.stratified(labels, 20, seed=3)
    assert np.bincount(labels[chosen]).tolist() == [20] * 10
    assert np.array_equal(chosen, make.stratified(labels, 20, seed=3))
    assert not np.array_equal(chosen, make.stratified(labels, 20, seed=4))
