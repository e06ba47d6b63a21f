"""Corner cases: inputs on which models disagree."""

from __future__ import annotations

import numpy as np
import pytest
from torch import nn

from robgui.analyses.zonnscan import CornerCasesParams, CornerCasesResult
from robgui.core.codec import decode, encode
from robgui.core.dataset import from_arrays
from robgui.core.errors import ModelError
from robgui.core.execution.registry import find
from robgui.core.execution.request import build_request
from robgui.core.execution.step import Step
from robgui.core.model.classifier import Classifier
from tests.analyses.zonnscan.models import exact_index, linear, small_mlp
from tests.guards import no_deviceless_factories
from tests.inline import steps


def corner_steps(
    models: tuple[Classifier, ...],
    x: np.ndarray,
    labels: np.ndarray | None = None,
    **params: object,
) -> list[Step]:
    known = find("zonnscan_corner_cases")
    return list(
        known.engine(
            models, from_arrays(x.astype(np.float32), labels), known.params.parse(dict(params))
        )
    )


@pytest.fixture(scope="module")
def thresholds() -> tuple[Classifier, Classifier, Classifier]:
    """Three models that switch class at 0.4, 0.6 and 0.5 of the first value."""
    return tuple(linear([40.0, 0.0], -40.0 * at) for at in (0.4, 0.6, 0.5))


def test_corner_cases_are_those_between_the_boundaries(thresholds: tuple[Classifier, ...]) -> None:
    x = np.random.default_rng(0).random((300, 2))
    step = corner_steps(thresholds, x, (x[:, 0] > 0.5).astype(int))[-1]
    result: CornerCasesResult = step.result
    between = np.flatnonzero((x[:, 0] > 0.4) & (x[:, 0] < 0.6))
    assert step.done == step.total and result.looked == 300
    assert sorted(result.numbers.tolist()) == between.tolist()
    first, second, middle = x[:, 0] > 0.4, x[:, 0] > 0.6, x[:, 0] > 0.5
    counts = [
        [int((a != b).sum()) for b in (first, second, middle)] for a in (first, second, middle)
    ]
    assert result.pairs.tolist() == counts
    assert np.array_equal(result.truth, (x[result.numbers, 0] > 0.5).astype(int))
    assert np.array_equal(result.classes[0], np.ones(len(between))) and np.array_equal(
        result.classes[1], np.zeros(len(between))
    )


def test_their_index_is_the_integral_over_their_zones_under_the_first_model(
    thresholds: tuple[Classifier, ...],
) -> None:
    x = np.random.default_rng(1).random((60, 2))
    (known,) = corner_steps(thresholds[:2], x, samples=2048, target_half_width=0, radius=0.1)[
        -1
    ].result.populations
    exact = []
    for place in known.numbers:
        point = x[place].astype(np.float32).astype(float)
        exact.append(
            exact_index(
                [40.0, 0.0],
                -16.0,
                list(np.maximum(point - 0.1, 0)),
                list(np.minimum(point + 0.1, 1)),
            )
        )
    assert known.index == pytest.approx(exact, abs=5e-3)
    assert (
        known.names == ("agreeing", "corner-case") and known.second.sum() == (~known.second).sum()
    )
    assert known.means[1] > known.means[0]


def test_the_surest_disagreement_comes_first_and_becomes_a_finding(
    thresholds: tuple[Classifier, ...],
) -> None:
    x = np.random.default_rng(2).random((400, 2))
    result = corner_steps(thresholds[:2], x, most=5, samples=32)[-1].result
    least = result.confidence.min(0)
    assert (np.diff(least) <= 1e-12).all()
    findings = find("zonnscan_corner_cases").findings(result, CornerCasesParams())
    assert len(findings) == 20 and findings[0].severity == pytest.approx(least[0])
    assert (
        np.allclose(findings[0].input, x[result.numbers[0]], atol=1e-6)
        and findings[0].picture is not None
    )
    assert len(result.populations[0].index) == 10, "inputs bounds how many are compared"


def test_models_that_name_their_classes_in_another_order_agree_all_the_same() -> None:
    net, swapped = nn.Linear(2, 2), nn.Linear(2, 2)
    swapped.weight.data, swapped.bias.data = net.weight.data.flip(0), net.bias.data.flip(0)
    models = (
        Classifier.from_module(net, (2,), ("cat", "dog")),
        Classifier.from_module(swapped, (2,), ("Dog", "Cat")),
    )
    result = corner_steps(models, np.random.default_rng(0).random((50, 2)))[-1].result
    assert len(result.numbers) == 0 and result.populations == ()


def test_one_model_or_other_classes_are_refused_in_one_sentence(
    thresholds: tuple[Classifier, ...],
) -> None:
    x = np.full((3, 2), 0.5)
    with pytest.raises(ModelError, match="load at least two models"):
        corner_steps(thresholds[:1], x)
    with pytest.raises(ModelError, match="compare models that know the same classes"):
        corner_steps((thresholds[0], Classifier.from_module(nn.Linear(2, 3), (2,))), x)


def test_every_step_is_complete_and_survives_the_workspace() -> None:
    models = (small_mlp(seed=0), small_mlp(seed=1), small_mlp(seed=2))
    x = np.random.default_rng(0).random((40, 1, 6, 6))
    with no_deviceless_factories():
        steps = corner_steps(models, x, most=4, samples=32)
    for step in steps:
        again = decode(CornerCasesResult, *encode(step.result))
        assert np.array_equal(again.classes, step.result.classes) and find(
            "zonnscan_corner_cases"
        ).verdict(again, CornerCasesParams())
    assert steps[-1].result.thumbnails.shape[0] == len(steps[-1].result.numbers)


def test_the_batch_size_never_changes_the_corner_cases() -> None:
    models, x = (
        (small_mlp(seed=0), small_mlp(seed=1)),
        np.random.default_rng(0).random((40, 1, 6, 6)),
    )
    whole, small = (
        corner_steps(models, x, most=3, samples=32, batch=batch)[-1].result for batch in (0, 7)
    )
    assert np.array_equal(whole.numbers, small.numbers) and np.allclose(
        whole.populations[0].index, small.populations[0].index, atol=1e-6
    )


def test_a_request_carries_all_models() -> None:
    models, dataset = (
        [small_mlp(seed=0), small_mlp(seed=1)],
        from_arrays(np.random.default_rng(0).random((30, 1, 6, 6), dtype=np.float32)),
    )
    going = steps(
        build_request("zonnscan_corner_cases", models, dataset, {"most": 3, "samples": 32}),
        None,
        models,
        dataset,
    )
    assert list(going)[-1].result.looked == 30 and len(going.execution.findings) <= 20
