"""The figures of DeepInspect: drawn from the result alone, with and without labels, few classes and many."""

from __future__ import annotations

import numpy as np
import pytest

from robgui.report.figures import draw, save
from tests.analyses.deepinspect.nets import images, inspect, run, small_cnn, told


@pytest.mark.parametrize("dark", [False, True])
def test_with_labels_it_shows_both_matrices_the_correlation_and_the_cost_curves(dark: bool):
    result = inspect(small_cnn(), images())
    figure = draw("deepinspect", result, dark=dark)
    titles = [axes.get_title(loc="left") for axes in figure.axes]
    assert any(title.startswith("Spearman") for title in titles) and "average bias" in titles
    labels = [text.get_text() for axes in figure.axes if axes.get_legend() for text in axes.get_legend().get_texts()]
    assert {"reported", "random 0.5"} <= set(labels) and any(label.startswith("weights (MODE)") for label in labels)
    assert save(figure).startswith(b"<?xml")


def test_without_labels_it_shows_the_distances_and_the_nearest_pairs():
    figure = draw("deepinspect", inspect(small_cnn(), images(labels=False)))
    assert "pairs" in [axes.get_ylabel() for axes in figure.axes] and not any(axes.get_legend() for axes in figure.axes)


def test_one_class_and_fifty_classes_can_be_drawn():
    classifier, dataset = told(np.tile([0.9, 0.1, 0.2], (5, 1)), 3)
    assert save(draw("deepinspect", inspect(classifier, dataset))).startswith(b"<?xml")
    classifier, dataset = told(np.random.default_rng(0).random((400, 60)), 50, np.arange(400) % 50)
    figure = draw("deepinspect", inspect(classifier, dataset))
    assert "50 classes" in figure.axes[0].get_xlabel()


@pytest.mark.parametrize("labels", [True, False])
def test_thresholds_show_one_line_per_figure_of_merit(labels: bool):
    figure = draw("deepinspect_thresholds", run("deepinspect_thresholds", small_cnn(), images(labels=labels))[-1].result)
    assert len(figure.axes[0].lines) == (5 if labels else 1) and figure.axes[1].get_xlabel() == "activation threshold"


def test_coverage_shows_classes_and_criteria():
    figure = draw("deepinspect_coverage", run("deepinspect_coverage", small_cnn(), images())[-1].result)
    assert [text.get_text() for text in figure.axes[1].get_xticklabels()][:2] == ["neuron", "100-multisection"]
