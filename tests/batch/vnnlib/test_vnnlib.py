"""VNN-LIB: what is written means the ball to the ONNX file itself, and comes back as it was."""

from __future__ import annotations

import re
import tracemalloc
from pathlib import Path

import numpy as np
import onnxruntime
import pytest
from hypothesis import given
from hypothesis import strategies as st

import robgui
from robgui.batch.vnnlib.box import Ball, from_property, to_property
from robgui.batch.vnnlib.text import Property, Term, read, write
from robgui.cli import main
from robgui.core.errors import ParamsError
from robgui.core.model.card import card_of
from tests.batch.guards import lights


def runs(folder: Path, model: str, x: np.ndarray) -> np.ndarray:
    """What the ONNX file gives for raw inputs, by its own runtime."""
    session = onnxruntime.InferenceSession(folder / model)
    shape = [-1, *session.get_inputs()[0].shape[1:]]
    return session.run(None, {"x": x.reshape(shape).astype(np.float32)})[0]


def breaks(found: Property, y: np.ndarray) -> bool:
    """Whether outputs are a counterexample."""

    def holds(term: Term) -> bool:
        right = y[term.right] if isinstance(term.right, int) else term.right
        return bool(y[term.left] >= right if term.sign == ">=" else y[term.left] <= right)

    return any(all(holds(term) for term in one) for one in found.unsafe)


@given(
    st.lists(st.tuples(st.floats(-10, 10), st.floats(0, 5)), min_size=1, max_size=6),
    st.lists(
        st.lists(st.tuples(st.integers(0, 3), st.sampled_from(["<=", ">="]), st.integers(0, 3))
                 | st.tuples(st.integers(0, 3), st.sampled_from(["<=", ">="]), st.floats(-9, 9)),
                 min_size=1, max_size=3),
        min_size=1, max_size=4,
    ),
)  # fmt: skip
def test_a_property_comes_back_bit_for_bit(sides, unsafe):
    low = np.array([start for start, _ in sides])
    high = low + np.array([length for _, length in sides])
    terms = tuple(tuple(Term(*term) for term in one) for one in unsafe)
    back = read(write(Property(low, high, 4, terms), "about\nit"))
    np.testing.assert_array_equal(back.low, low)
    np.testing.assert_array_equal(back.high, high)
    assert back.unsafe == terms and back.outputs == 4


def test_the_way_others_write_is_read():
    back = read("""
        ; a comment
        (declare-const X_0 Real) (declare-const Y_0 Real) (declare-const Y_1 Real)
        (assert (<= X_0 0.5)) (assert (>= X_0 -5e-1)) (assert (<= X_0 0.25))
        (assert (<= Y_0 Y_1)) (assert (or (and (>= Y_1 2.0)) (and (<= Y_1 -1))))
    """)
    assert (back.low[0], back.high[0]) == (-0.5, 0.25)
    first = Term(0, "<=", 1)
    assert back.unsafe == ((first, Term(1, ">=", 2.0)), (first, Term(1, "<=", -1.0)))


@pytest.mark.parametrize(
    "text",
    [
        "",
        "(",
        ")",
        "nonsense",
        "(assert (>= X_0 0))",
        "(declare-const X_0 Real)(declare-const Y_0 Real)(assert (>= X_0 0))(assert (>= Y_0 1))",
        "(" * 100_000,
        "(assert (* Y_0 Y_1))",
        "(declare-const X_0 Int)",
        "(declare-const X_0 Real)(declare-const Y_0 Real)(declare-const Y_1 Real)",
        "(declare-const X_0 Real)(declare-const Y_0 Real)(assert (>= X_0 nan))(assert (<= X_0 0))",
    ],
)
def test_text_of_anyone_is_a_sentence(text):
    with pytest.raises(ParamsError):
        read(text)


@pytest.mark.parametrize("settings", [
    {}, {"mean": (0.3,), "std": (0.2,)}, {"low": (0.0,), "high": (255.0,)},
])  # fmt: skip
@pytest.mark.parametrize("radius", [0.05, 0.3, 0.9])
def test_a_ball_comes_back_from_its_property(tmp_path, settings, radius):
    card = card_of(robgui.load(lights.write_model(tmp_path / "m.onnx", 0.6), **settings))
    centre = np.random.default_rng(1).random(lights.SHAPE, np.float32)
    back = from_property(card, 2, to_property(card, 2, Ball(centre, radius, 1)))
    assert back.label == 1
    if radius < 0.9:  # a box that is cut on every side no longer tells its centre
        assert back.radius == pytest.approx(radius, abs=1e-5)
        np.testing.assert_allclose(back.centre, centre, atol=2e-5)


def test_colour_order_and_layout_are_those_of_the_file(tmp_path):
    card = card_of(robgui.load(lights.write_model(tmp_path / "m.onnx", 0.6)))
    settings = card.settings.change(
        shape=(3, 2, 2), layout="hwc", channels="bgr", mean=(0.1, 0.2, 0.3), std=(1.0, 2.0, 4.0)
    )
    other = card.with_settings(settings)
    x = np.arange(12, dtype=np.float32).reshape(3, 2, 2) / 20 + 0.1
    found = to_property(other, 2, Ball(x, 0.05, 0))
    middle = ((found.low + found.high) / 2).reshape(2, 2, 3)
    mean, std = np.array([0.1, 0.2, 0.3]), np.array([1.0, 2.0, 4.0])
    by_hand = ((x - mean[:, None, None]) / std[:, None, None])[::-1].transpose(1, 2, 0)
    np.testing.assert_allclose(middle, by_hand, atol=1e-6)
    np.testing.assert_allclose(from_property(other, 2, found).centre, x, atol=1e-5)


def written(tmp_path: Path, *words: str) -> Property:
    assert main(["vnnlib", str(tmp_path / "out"), *words]) == 0
    return read((tmp_path / "out" / "property.vnnlib").read_text(encoding="utf-8"))


@pytest.mark.parametrize(("radius", "broken"), [("0.05", False), ("0.2", True)])
def test_the_property_is_broken_exactly_where_the_closed_form_says(tmp_path, radius, broken):
    model = lights.write_model(tmp_path / "m.onnx", 0.6)
    data = lights.write_data(tmp_path / "data", [10, 190])  # light, 0.745 against 0.6
    words = ["--model", str(model), "--data", str(data), "--index", "1", "--radius", radius]
    found = written(tmp_path, *words)
    darkest = runs(tmp_path / "out", "m.onnx", found.low)[0]
    assert breaks(found, darkest) is broken
    assert not breaks(found, runs(tmp_path / "out", "m.onnx", (found.low + found.high) / 2)[0])
    assert (tmp_path / "out" / "m.onnx").read_bytes() == model.read_bytes()
    line = (tmp_path / "out" / "instances.csv").read_text()
    assert re.fullmatch(r"m\.onnx,property\.vnnlib,\d+\n", line)


def test_a_finding_lies_in_its_own_box_and_breaks_the_property(tmp_path):
    model = lights.write_model(tmp_path / "old.onnx", 0.6)
    data = lights.write_data(tmp_path / "data", [10, 200])
    with lights.workspace(tmp_path, model, data) as workspace:
        number = lights.add(workspace, 1, lights.uniform(0.55), "light", "dark")
    words = ["--model", str(model), "--workspace", str(tmp_path / "w.robgui")]
    found = written(tmp_path, *words, "--finding", str(number))
    x = np.load(tmp_path / "out" / "counterexample.npy").reshape(-1)
    assert (found.low <= x).all() and (x <= found.high).all()
    assert breaks(found, runs(tmp_path / "out", "old.onnx", x)[0])


def test_a_property_becomes_an_input_and_the_command_that_looks_at_it(tmp_path, capsys):
    model = lights.write_model(tmp_path / "m.onnx", 0.6)
    data = lights.write_data(tmp_path / "data", [10, 190])
    box = ["--data", str(data), "--index", "1", "--radius", "0.05"]
    written(tmp_path, "--model", str(model), *box)
    capsys.readouterr()
    words = ["--model", str(model), "--property", str(tmp_path / "out" / "property.vnnlib")]
    assert main(["vnnlib", str(tmp_path / "back.npy"), *words]) == 0
    said = capsys.readouterr().out
    assert "“light” within 0.05" in said
    command = said.partition("robgui run ")[2].split()
    assert main(["run", *command, "--out", str(tmp_path / "r.json")]) == 0
    np.testing.assert_allclose(np.load(tmp_path / "back.npy")[0], 190 / 255, atol=1e-5)


@pytest.mark.parametrize(
    "words",
    [
        ["--model", "{model}"],
        ["--model", "{model}", "--data", "{data}", "--index", "9", "--radius", "0.1"],
        ["--model", "{model}", "--data", "{data}", "--index", "0", "--radius", "-1"],
        ["--model", "{data}", "--data", "{data}", "--index", "0", "--radius", "0.1"],
        ["--model", "{model}", "--finding", "1"],
        ["--model", "{model}", "--property", "{model}"],
    ],
)
def test_bad_use_ends_with_2_and_one_sentence(tmp_path, capsys, words):
    model = lights.write_model(tmp_path / "m.onnx", 0.6)
    data = lights.write_data(tmp_path / "data", [10, 190])
    filled = [word.format(model=model, data=data) for word in words]
    assert main(["vnnlib", str(tmp_path / "out"), *filled]) == 2
    said = capsys.readouterr().err.strip()
    assert said.startswith("robgui: ") and "\n" not in said and "Traceback" not in said


HEAD = (
    "(declare-const X_0 Real)(declare-const Y_0 Real)(declare-const Y_1 Real)"
    "(assert (>= X_0 0))(assert (<= X_0 1))"
)


def one_of(choices: int) -> str:
    """A condition with so many alternatives."""
    return f"(or {' '.join(f'(>= Y_0 {place}.0)' for place in range(choices))})"


ALL = " ".join([one_of(10)] * 4)


@pytest.mark.parametrize(
    "asserted",
    [
        pytest.param([one_of(10)] * 6, id="several asserts"),
        pytest.param([one_of(2)] * 5000, id="asserts beyond any number"),
        pytest.param([f"(and {ALL} {one_of(10)} {one_of(2)})"], id="one and"),
        pytest.param([f"(or {' '.join([f'(and {ALL})'] * 11)})"], id="an or of many ands"),
        pytest.param([one_of(10)] * 4 + ["(>= Y_0 0)"] * 2000, id="long alternatives"),
    ],
)
def test_alternatives_that_multiply_are_refused_before_they_are_made(asserted):
    tracemalloc.start()
    try:
        with pytest.raises(ParamsError, match="more alternatives than can be read"):
            read("\n".join([HEAD, *(f"(assert {each})" for each in asserted)]))
        assert tracemalloc.get_traced_memory()[1] < 60e6
    finally:
        tracemalloc.stop()


def test_asserts_on_outputs_hold_together_in_each_alternative():
    found = read(f"{HEAD}(assert {one_of(2)})(assert (<= Y_0 5))(assert {one_of(3)})")
    assert [[term.right for term in one] for one in found.unsafe] == [
        [first, 5.0, last] for first in (0.0, 1.0) for last in (0.0, 1.0, 2.0)
    ]
