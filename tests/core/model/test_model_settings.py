"""Settings of a model: what fits together, the side file, and errors in one sentence."""

from __future__ import annotations

import tomllib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from robgui.core.errors import ModelError
from robgui.core.model.settings import (
    ModelSettings,
    parse,
    read_side_file,
    side_file,
    write_side_file,
)

names = st.text(max_size=8)
numbers = st.floats(-1e6, 1e6)


@given(
    labels=st.lists(names, max_size=4),
    mean=numbers,
    output=st.sampled_from(["logits", "probabilities"]),
    multi=st.booleans(),
)
def test_the_side_file_gives_back_what_was_written(tmp_path_factory, labels, mean, output, multi):
    model = tmp_path_factory.mktemp("side") / "m.pt2"
    settings = ModelSettings(
        shape=(3, 8, 8), labels=tuple(labels), mean=(mean,), output=output, multi_label=multi
    )
    assert write_side_file(model, settings) == side_file(model)
    assert parse(read_side_file(model), "x") == settings


def test_only_what_differs_from_the_default_is_written(tmp_path):
    path = write_side_file(tmp_path / "m.onnx", ModelSettings(shape=(3, 8, 8), high=(255.0,)))
    assert path.name == "m.onnx.toml" and set(tomllib.loads(path.read_text())) == {"shape", "high"}


def test_without_a_side_file_nothing_is_set(tmp_path):
    assert read_side_file(tmp_path / "m.pt2") == {}


@pytest.mark.parametrize(
    ("values", "words"),
    [
        ({"shape": (3, 8, 8), "mean": (1, 2)}, "mean has 2 values; this model takes 1 or 3"),
        ({"shape": (5,), "kind": "table", "low": (1, 2)}, "low has 2 values"),
        ({"shape": (0, 8, 8)}, "positive sizes"),
        ({"shape": (3, 8, 8), "kind": "table"}, "has 1 dimensions, not 3"),
        ({"std": (0.0,)}, "std must not be 0"),
        ({"std": (float("nan"),)}, "std"),
        ({"layout": "sideways"}, "layout"),
        ({"colour": 1}, "there is no setting 'colour'; the settings are: kind, shape"),
    ],
)
def test_settings_that_do_not_fit_are_one_sentence_that_names_the_place(values, words):
    with pytest.raises(ModelError, match=words) as caught:
        parse(values, "model.toml")
    assert str(caught.value).startswith("model.toml: ") and "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("shape", "kind"), [((4,), "table"), ((9, 4), "sequence"), ((3, 8, 8), "image")]
)
def test_the_kind_follows_the_shape_when_it_is_not_given(shape, kind):
    assert ModelSettings(shape=shape).kind == kind


def test_a_changed_copy_is_validated_and_leaves_the_original():
    settings = ModelSettings(shape=(3, 8, 8))
    assert settings.change(mean=(0.5,)).mean == (0.5,) and settings.mean == (0.0,)
    with pytest.raises(ModelError, match="mean has 2"):
        settings.change(mean=(1.0, 2.0))


def test_a_side_file_that_does_not_fit_on_the_disk_leaves_the_old_one(tmp_path):
    resource = pytest.importorskip("resource")
    model = tmp_path / "m.onnx"
    old = write_side_file(model, ModelSettings(shape=(3, 8, 8))).read_bytes()
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    # Python ignores the signal, so a longer file fails as it does on a full disk.
    resource.setrlimit(resource.RLIMIT_FSIZE, (100, before[1]))
    try:
        with pytest.raises(ModelError, match="cannot be written"):
            write_side_file(model, ModelSettings(labels=tuple(map(str, range(100)))))
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert side_file(model).read_bytes() == old
    assert list(tmp_path.iterdir()) == [side_file(model)]


def test_a_side_file_that_cannot_be_written_is_said(tmp_path):
    with pytest.raises(ModelError, match="cannot be written"):
        write_side_file(tmp_path / "absent" / "m.pt2", ModelSettings())
