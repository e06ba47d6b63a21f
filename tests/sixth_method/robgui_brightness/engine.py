"""The engine: a generator of complete results."""

from collections.abc import Iterator

import numpy as np
import torch

from robgui.core.dataset import Dataset, inputs
from robgui.core.execution.analysis import Pace, Step
from robgui.core.model.classifier import Classifier
from robgui_brightness.method import BrightnessParams, BrightnessResult


def brightness(
    classifier: Classifier, dataset: Dataset, params: BrightnessParams
) -> Iterator[Step[BrightnessResult]]:
    """Asks the model about the input at every shift, the small ones first."""
    x = classifier.tensor(inputs(classifier, dataset, [0]))
    predicted = int(classifier.infer(x).argmax())
    shift = np.linspace(-params.reach, params.reach, params.steps)
    seen, confidence = np.full(len(shift), -1), np.full(len(shift), np.nan)
    pace = Pace()
    for done, place in enumerate(np.argsort(np.abs(shift), kind="stable"), 1):
        scores = (
            torch.softmax(classifier.infer((x + float(shift[place])).clamp(0, 1)), 1)[0]
            .cpu()
            .numpy()
        )
        seen[place], confidence[place] = int(scores.argmax()), float(scores[predicted])
        if pace.due() or done == len(shift):
            names = tuple(classifier.labels)
            result = BrightnessResult(
                shift,
                seen.copy(),
                confidence.copy(),
                x[0].cpu().numpy(),
                predicted,
                names,
                done + 1,
            )
            yield Step(done, len(shift), result)
