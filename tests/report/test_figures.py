"""The figures: drawn from the result alone, without a display."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest

from robgui.analyses.zonnscan import ZonnscanResult
from robgui.core.dataset import from_arrays
from robgui.core.execution.registry import analyses, find
from robgui.core.model.classifier import Classifier
from robgui.report.figures import FIGURES, class_style, draw, pixels, save, shorten
from tests.analyses.simple_modules import Constant
from tests.analyses.zonnscan.models import small_mlp, sweep


@pytest.fixture(scope="module")
def result() -> ZonnscanResult:
    return sweep(small_mlp(classes=12), np.full((1, 6, 6), 0.4), samples=64)


def test_every_analysis_has_a_figure() -> None:
    ours = {name for name, known in analyses().items() if known.engine.__module__.startswith("robgui.")}
    assert set(FIGURES) == ours


@pytest.mark.parametrize("dark", [False, True])
@pytest.mark.parametrize(("kind", "start"), [("svg", b"<?xml"), ("png", b"\x89PNG"), ("pdf", b"%PDF")])
def test_a_sweep_can_be_saved_in_every_format_in_light_and_dark(result: ZonnscanResult, kind: str, start: bytes, dark: bool) -> None:
    figure = draw("zonnscan", result, dark=dark)
    assert figure is not None and save(figure, kind).startswith(start)


def test_a_figure_is_laid_out_once_and_then_only_painted(result: ZonnscanResult) -> None:
    figure = draw("zonnscan", result)
    assert figure is not None
    before = [axes.get_position().bounds for axes in figure.axes]
    assert pixels(figure, 300).shape[1:] == (300, 4) and pixels(figure, 900).shape[1:] == (900, 4)
    save(figure, "png", dpi=50)
    assert [axes.get_position().bounds for axes in figure.axes] == before


def test_words_keep_to_the_room_they_were_given_in_every_size(result: ZonnscanResult) -> None:
    figure = draw("zonnscan", result)
    for width in (300, 380, 638, 900):
        picture = pixels(figure, width)
        for edge in (picture[:, 0], picture[:, -1], picture[0], picture[-1]):
            assert (edge == 255).all()


def test_the_same_result_gives_the_same_bytes(result: ZonnscanResult) -> None:
    first, second = (save(draw("zonnscan", result)) for _ in range(2))
    assert first == second


def test_the_sweep_shows_index_band_crossing_and_the_predicted_class(result: ZonnscanResult) -> None:
    above, below = draw("zonnscan", result).axes
    legend = [text.get_text() for text in above.figure.legends[0].get_texts()]
    assert "index (95 % band)" in legend and any("(predicted)" in text for text in legend)
    assert above.lines[-1] is not None and below.get_xlabel().startswith("radius") and below.get_ylabel() == "change class"
    dotted = next(line for line in above.lines if line.get_label() == "index (95 % band)")
    assert dotted.get_linestyle() == ":" and np.allclose(dotted.get_ydata(), result.index)


def test_populations_show_both_sets_and_the_detector() -> None:
    known = find("zonnscan_populations")
    dataset = from_arrays(np.random.default_rng(0).random((12, 1, 6, 6), dtype=np.float32))
    *_, step = known.engine(small_mlp(), dataset, known.params.parse({"samples": 32}))
    above, below = draw("zonnscan_populations", step.result).axes
    assert [text.get_text().split(":")[0] for text in above.get_legend().get_texts()] == ["test", "adversarial"]
    assert np.array_equal(below.lines[0].get_ydata(), step.result.detected)


def test_no_two_of_28_classes_look_the_same() -> None:
    assert len({(style["color"], str(style["linestyle"])) for style in map(class_style, range(28))}) == 28


def test_a_sweep_of_one_radius_and_a_label_full_of_mathematics_can_be_drawn() -> None:
    classifier = Classifier.from_module(Constant([1.0, 0.0]), (2,), labels=("$x_{", "\\frac{$"))
    assert draw("zonnscan", sweep(classifier, [0.1, 0.2], radii=(0.0,))) is not None


def test_a_long_label_is_shortened() -> None:
    assert shorten("a" * 50) == "a" * 23 + "…"


def test_drawing_needs_neither_pyplot_nor_qt() -> None:
    code = "import sys, robgui.report.figures, robgui.report.html; print(sorted({'matplotlib.pyplot', 'PySide6'} & set(sys.modules)))"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.strip() == "[]"


@pytest.mark.parametrize("dark", [False, True])
def test_corner_cases_show_inputs_with_every_answer_and_the_two_distributions(dark: bool) -> None:
    known = find("zonnscan_corner_cases")
    dataset = from_arrays(np.random.default_rng(0).random((40, 1, 6, 6), dtype=np.float32))
    steps = list(known.engine((small_mlp(seed=0), small_mlp(seed=1)), dataset, known.params.parse({"samples": 32, "inputs": 5})))
    for step in (steps[0], steps[-1]):
        figure = draw("zonnscan_corner_cases", step.result, dark=dark)
        assert figure is not None and save(figure).startswith(b"<?xml")
    assert [text.get_text().split(":")[0] for text in figure.axes[-1].get_legend().get_texts()] == ["agreeing", "corner-case"]


def test_a_watermark_shows_both_models_before_and_after_the_copy_is_made() -> None:
    known = find("zonnscan_watermark")
    dataset = from_arrays(np.random.default_rng(0).random((200, 1, 6, 6), dtype=np.float32))
    steps = list(known.engine((small_mlp(),), dataset, known.params.parse({"size": 6, "runs": 2, "samples": 16})))
    for step in (steps[0], steps[-1]):
        above, below = draw("zonnscan_watermark", step.result).axes
    assert "its watermarked copy: 12 values" in above.get_legend().get_texts()[1].get_text()
    assert below.get_ylabel() == "under the other"
