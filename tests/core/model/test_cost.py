"""Work per input and the batch size that follows from it."""

from __future__ import annotations

import subprocess
import sys

import pytest
import torch
from torch import nn

from robgui import resources
from robgui.core.model.classifier import Classifier
from robgui.core.model.timing.cost import Counter, batch_size

CPU, CUDA = torch.device("cpu"), torch.device("cuda")


@pytest.mark.parametrize(
    ("module", "shape", "operations"),
    [
        (nn.Linear(20, 30), (20,), 2 * 20 * 30),
        (nn.Conv2d(3, 8, 3, padding=1), (3, 10, 10), 2 * 8 * 100 * 27),
        (nn.Conv2d(8, 8, 3, groups=8, padding=1), (8, 10, 10), 2 * 8 * 100 * 9),
        (nn.GRU(5, 7, batch_first=True), (11, 5), 2 * 11 * 3 * 7 * (5 + 7)),
        (nn.LSTM(5, 7, batch_first=True, bidirectional=True), (11, 5), 4 * 11 * 4 * 7 * (5 + 7)),
        (nn.RNN(5, 7, num_layers=2, batch_first=True), (11, 5), 2 * 11 * 7 * (5 + 7 + 7 + 7)),
    ],
)
def test_operations_are_counted_as_on_paper(module, shape, operations):
    counter = Counter()
    with torch.inference_mode(), counter:
        module(torch.zeros(2, *shape))
    assert counter.total == 2 * operations


def test_a_heavier_model_gets_smaller_batches_and_a_graphics_card_larger_ones():
    light, heavy = batch_size((1, 28, 28), 1e5, CPU), batch_size((1, 28, 28), 1e7, CPU)
    assert light == 4096 > heavy
    assert batch_size((1, 28, 28), 1e7, CUDA) > heavy
    assert heavy.bit_count() == 1, "a power of two"


def test_the_largest_images_still_go_a_few_at_a_time():
    assert batch_size((3, 2000, 2000), 1e12, CPU) == 1
    assert batch_size((3, 224, 224), 1e12, CPU) == 4


def test_the_batch_never_changes_the_answer():
    torch.manual_seed(0)
    classifier = Classifier.from_module(
        nn.Sequential(nn.Flatten(), nn.Linear(784, 64), nn.ReLU(), nn.Linear(64, 10)), (1, 28, 28)
    )
    x = torch.rand(333, 1, 28, 28)
    assert classifier.batch() == 4096
    assert torch.allclose(classifier.infer(x), classifier.infer(x, batch=7), atol=1e-6)


def test_counting_the_work_of_a_model_imports_no_compiler():
    """It would take a second, in every worker."""
    code = (
        "import sys; from robgui.core.loading import load; load(sys.argv[1], device='cpu');"
        "print([name for name in ('torch._dynamo', 'sympy') if name in sys.modules])"
    )
    model = resources.path("demo", "fashion_cnn.safetensors")
    done = subprocess.run(
        [sys.executable, "-c", code, str(model)], capture_output=True, text=True, check=True
    )
    assert done.stdout == "[]\n"
