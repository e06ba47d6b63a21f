"""The fast gradient sign attack (Goodfellow and others, 2015), which makes the paper's adversarial inputs."""

from __future__ import annotations

import torch
from torch import Tensor

from robgui.core.errors import ModelError
from robgui.core.model.classifier import Classifier, out_of_memory


def fast_gradient(classifier: Classifier, x: Tensor, classes: Tensor, eps: float) -> Tensor:
    """Moves every value of the inputs ``(n, *shape)`` by ``eps`` away from their classes ``(n,)``, within [0, 1].

    A batch that does not fit into memory is halved.
    """
    if not classifier.capabilities.gradients:
        why = f"which {classifier.name} cannot give: {classifier.capabilities.reason}"
        raise ModelError(f"Adversarial twins need gradients, {why}; compare two selections instead.")
    try:
        return (x + eps * _gradient(classifier, x, classes).sign()).clamp_(0, 1)
    except (RuntimeError, MemoryError) as error:
        if not out_of_memory(error) or len(x) == 1:
            raise
    half = len(x) // 2
    return torch.cat([fast_gradient(classifier, x[:half], classes[:half], eps), fast_gradient(classifier, x[half:], classes[half:], eps)])


def _gradient(classifier: Classifier, x: Tensor, classes: Tensor) -> Tensor:
    with torch.enable_grad():
        leaf = x.detach().clone().requires_grad_(True)
        loss = torch.nn.functional.cross_entropy(classifier.logits(leaf), classes, reduction="sum")
        gradient = torch.autograd.grad(loss, leaf, allow_unused=True)[0] if loss.requires_grad else None
    if gradient is None:
        raise ModelError(
            f"The scores of {classifier.name} do not depend on its input, so there is nothing to attack; check that it is the right model."
        )
    return gradient
