"""The ways to tell what a model looks at: covering parts, integrated gradients, Grad-CAM.

The last two are captum's, which is an extra; covering needs nothing but answers.
"""

from __future__ import annotations

import importlib.util
from collections.abc import Iterator
from itertools import product

import torch
from torch import Tensor, nn
from torch.nn import functional

from robgui.analyses.feature_game.attribution.params import square_starts
from robgui.core.model.classifier import Classifier

OCCLUSION, GRADIENTS, GRAD_CAM = "covering", "integrated gradients", "Grad-CAM"
#: Covered pictures that are asked about together.
TOGETHER = 32
_NEEDS_CAPTUM = (
    "Integrated gradients and Grad-CAM need captum; install it with: pip install"
    " 'robgui[attribution]'."
)


def possible(classifier: Classifier) -> tuple[str, ...]:
    """The ways that can be taken."""
    gradients = classifier.capabilities.gradients
    if not gradients or importlib.util.find_spec("captum") is None:
        return (OCCLUSION,)
    if last_convolution(classifier) is None:
        return OCCLUSION, GRADIENTS
    return OCCLUSION, GRADIENTS, GRAD_CAM


def missing(classifier: Classifier) -> tuple[str, ...]:
    """Why ways beside covering cannot be taken, one sentence each; empty where all can."""
    if not classifier.capabilities.gradients:
        reason = classifier.capabilities.reason.rstrip(".")
        return (f"Only covering: {classifier.name} gives no gradients: {reason}.",)
    if importlib.util.find_spec("captum") is None:
        return (_NEEDS_CAPTUM,)
    if last_convolution(classifier) is None:
        return (f"No Grad-CAM: no convolution can be seen in {classifier.name}.",)
    return ()


def last_convolution(classifier: Classifier) -> nn.Module | None:
    """The last two-dimensional convolution of a network whose layers can be seen."""
    module = getattr(classifier.backend, "module", None)
    if not isinstance(module, nn.Module):
        return None
    found = [one for one in module.modules() if isinstance(one, nn.Conv2d)]
    return found[-1] if found else None


def covering(
    classifier: Classifier, x: Tensor, cover: Tensor, target: int, patch: int, batch: int
) -> Iterator[Tensor]:
    """How much of the probability of a class is lost when a square is covered, averaged over the
    squares that hold a pixel (Zeiler and Fergus, 2014); yields ``(h, w)`` so far.
    """
    height, width = x.shape[2:]
    places = list(product(square_starts(height, patch), square_starts(width, patch)))
    own = classifier.probs(x, batch)[0, target]
    total, count = torch.zeros_like(x[0, 0]), torch.zeros_like(x[0, 0])
    for start in range(0, len(places), TOGETHER):
        some = places[start : start + TOGETHER]
        covered = x.repeat(len(some), 1, 1, 1)
        for row, (top, left) in enumerate(some):
            square = slice(top, top + patch), slice(left, left + patch)
            covered[row, :, *square] = cover[0, :, *square]
        lost = own - classifier.probs(covered, batch)[:, target]
        for row, (top, left) in enumerate(some):
            total[top : top + patch, left : left + patch] += lost[row]
            count[top : top + patch, left : left + patch] += 1
        yield total / count.clamp_min(1)


def integrated_gradients(
    classifier: Classifier, x: Tensor, cover: Tensor, target: int, steps: int
) -> tuple[Tensor, Tensor]:
    """Sundararajan and others, 2017: ``(h, w)`` what each pixel adds to the score on the straight
    way from the cover to the picture; and the share of the difference that is left unexplained.
    """
    from captum.attr import IntegratedGradients

    found, left = IntegratedGradients(classifier.logits).attribute(
        x, cover, target=target, n_steps=steps, internal_batch_size=TOGETHER,
        return_convergence_delta=True,
    )  # fmt: skip
    whole = found.sum() - left[0]
    return found[0].sum(0).detach(), (left[0] / whole.abs().clamp_min(1e-9)).detach().abs()


def grad_cam(classifier: Classifier, x: Tensor, layer: nn.Module, target: int) -> Tensor:
    """Selvaraju and others, 2017: ``(h, w)`` what the last convolution sees for the class, weighted
    by its gradients and enlarged to the picture.
    """
    from captum.attr import LayerGradCam

    coarse = LayerGradCam(classifier.logits, layer).attribute(
        x, target=target, relu_attributions=True
    )
    grown = functional.interpolate(coarse.detach(), x.shape[2:], mode="bilinear")
    return grown[0].sum(0)
