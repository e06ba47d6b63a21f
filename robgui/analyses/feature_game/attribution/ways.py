"""The ways to tell what a model looks at: covering parts, integrated gradients, Grad-CAM.

Covering needs nothing but answers; integrated gradients are captum's, which is an extra.
"""

from __future__ import annotations

import importlib.util
from collections.abc import Iterator
from itertools import product

import torch
from torch import Tensor
from torch.nn import functional

from robgui.analyses.feature_game.attribution.params import square_starts
from robgui.core.model.backend import first_line
from robgui.core.model.classifier import Classifier

OCCLUSION, GRADIENTS, GRAD_CAM = "covering", "integrated gradients", "Grad-CAM"
#: Covered pictures that are asked about together.
TOGETHER = 32
_NEEDS_CAPTUM = (
    "Integrated gradients need captum; install it with: pip install 'robgui[attribution]'."
)


def possible(classifier: Classifier, x: Tensor) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The ways that can be taken, and why others cannot, one sentence each."""
    if not classifier.capabilities.gradients:
        reason = classifier.capabilities.reason.rstrip(".")
        return (OCCLUSION,), (f"Only covering: {classifier.name} gives no gradients: {reason}.",)
    found, lacking = [OCCLUSION], []
    if importlib.util.find_spec("captum") is None:
        lacking.append(_NEEDS_CAPTUM)
    else:
        found.append(GRADIENTS)
    if why := _unwatched(classifier, x):
        lacking.append(f"No Grad-CAM: {why}.")
    else:
        found.append(GRAD_CAM)
    return tuple(found), tuple(lacking)


def _unwatched(classifier: Classifier, x: Tensor) -> str:
    """Why Grad-CAM cannot be computed; nothing if it can."""
    try:
        found = _last_map(classifier, x)
        if found is None:
            return f"{classifier.name} has no convolution that can be watched"
        scores, seen = found
        # Any class will do to see whether slopes arrive.
        slopes: tuple[Tensor | None, ...] = torch.autograd.grad(
            scores[0, 0], seen, allow_unused=True
        )
    except Exception as error:  # noqa: BLE001 - foreign layers raise anything; covering goes on
        return f"watching the layers of {classifier.name} fails: {first_line(error)}"
    if slopes[0] is None:
        return f"the layers of {classifier.name} cannot be watched on their way to the answer"
    return ""


def _last_map(classifier: Classifier, x: Tensor) -> tuple[Tensor, Tensor] | None:
    """Scores, and what the last layer that still has the shape of a picture gives ``(1, c, h, w)``.

    Both with their slopes. None if there is no such layer.
    """
    if not classifier.capabilities.activations:
        return None
    with torch.enable_grad():
        scores, layers = classifier.watched(x.detach().clone().requires_grad_(True))
    # After global pooling a map has one place, and Grad-CAM would colour the whole picture alike.
    maps = [one for one in layers.values() if one.dim() == 4 and min(one.shape[2:]) > 1]
    # A layer under no_grad, or of a frozen graph, gives a map that no slope can reach.
    if maps and maps[-1].requires_grad:
        return (scores, maps[-1])
    return None


def covering(
    classifier: Classifier, x: Tensor, cover: Tensor, target: int, patch: int, batch: int
) -> Iterator[Tensor]:
    """How much of a class's probability is lost when a square is covered.

    Averaged over the squares that contain a pixel (Zeiler and Fergus, 2014); yields ``(h, w)`` so
    far.
    """
    height, width = x.shape[2:]
    places = list(product(square_starts(height, patch), square_starts(width, patch)))
    own = classifier.probs(x, batch)[0, target]
    # Squares overlap by half, so a pixel lies in one to four of them.
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
    """Integrated gradients: what each pixel adds to the score, ``(h, w)``.

    Along the straight path from the cover to the picture (Sundararajan et al., 2017); also the
    share of the difference left unexplained.
    """
    from captum.attr import IntegratedGradients

    # Of the logits: a softmax that is sure has
    # hardly a slope, and attributions would vanish.
    found, left = IntegratedGradients(classifier.logits).attribute(
        x, cover, target=target, n_steps=steps, internal_batch_size=TOGETHER,
        return_convergence_delta=True,
    )  # fmt: skip
    # Completeness: attributions less what is left add up to score(picture) - score(cover).
    whole = found.sum() - left[0]
    return found[0].sum(0).detach(), (left[0] / whole.abs().clamp_min(1e-9)).detach().abs()


def grad_cam(classifier: Classifier, x: Tensor, target: int) -> Tensor:
    """Grad-CAM: what the last convolution sees for the class, ``(h, w)``.

    Its output times its gradient, summed over the channels and enlarged to the picture. Selvaraju
    et al. (2017) average the gradients over the picture first, and cut off what speaks against the
    class; place by place (Draelos and Carin, 2020) they do not point to wrong parts.
    """
    found = _last_map(classifier, x)
    assert found is not None, "it was possible a moment ago"
    scores, seen = found
    (slope,) = torch.autograd.grad(scores[0, target], seen)
    coarse = (slope * seen.detach()).sum(1, keepdim=True)
    return functional.interpolate(coarse, x.shape[2:], mode="bilinear")[0, 0]
