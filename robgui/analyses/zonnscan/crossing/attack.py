"""Input gradients, and the fast gradient sign attack (Goodfellow et al., 2015)."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor

from robgui.core.errors import ModelError
from robgui.core.model.classifier import Classifier
from robgui.core.model.foreign import out_of_memory


def fast_gradient(classifier: Classifier, x: Tensor, classes: Tensor, eps: float) -> Tensor:
    """Moves every value of ``x (n, *shape)`` by ``eps`` away from its class, within [0, 1].

    A batch that does not fit into memory is halved.
    """
    if not classifier.capabilities.gradients:
        why = f"which {classifier.name} cannot give: {classifier.capabilities.reason}"
        raise ModelError(
            f"Adversarial twins need gradients, {why}; compare two selections instead."
        )
    try:
        _, gradient = _gradient(
            classifier,
            x,
            # A sum, not a mean: each input's gradient is then its own, whatever the batch.
            lambda scores: torch.nn.functional.cross_entropy(scores, classes, reduction="sum"),
        )
    except (RuntimeError, MemoryError) as error:
        if not out_of_memory(error) or len(x) == 1:
            raise
        half = len(x) // 2
        parts = ((x[:half], classes[:half]), (x[half:], classes[half:]))
        return torch.cat([fast_gradient(classifier, *part, eps) for part in parts])
    if gradient is None:
        raise ModelError(
            f"The scores of {classifier.name} do not depend on its input, so there is nothing to"
            " attack; check that it is the right model."
        )
    # x' = x + eps sign(grad J), the fast gradient sign method,
    # cut to the values an input can have.
    return (x + eps * gradient.sign()).clamp_(0, 1)


def ascent(
    classifier: Classifier, x: Tensor, score: Callable[[Tensor], Tensor]
) -> tuple[Tensor, Tensor | None]:
    """``score (n,)`` of the outputs for inputs ``(n, *shape)`` and its gradient in them.

    The gradient is None if the outputs do not depend on the input. A batch that does not fit into
    memory is halved, so ``score`` must look at each row alone.
    """
    try:
        scores, gradient = _gradient(classifier, x, lambda outputs: score(outputs).sum())
    except (RuntimeError, MemoryError) as error:
        if not out_of_memory(error) or len(x) == 1:
            raise
        half = len(x) // 2
        first, second = (ascent(classifier, part, score) for part in (x[:half], x[half:]))
        if first[1] is None or second[1] is None:
            return torch.cat([first[0], second[0]]), None
        return torch.cat([first[0], second[0]]), torch.cat([first[1], second[1]])
    return score(scores), gradient


def _gradient(
    classifier: Classifier, x: Tensor, loss_of: Callable[[Tensor], Tensor]
) -> tuple[Tensor, Tensor | None]:
    """Outputs ``(n, C)`` and the gradient of the loss; None if the input plays no part."""
    with torch.enable_grad():
        # A copy: inputs made in inference mode cannot be differentiated.
        leaf = x.detach().clone().requires_grad_(True)
        scores = classifier.logits(leaf)
        loss = loss_of(scores)
        if not loss.requires_grad:
            return scores.detach(), None
        gradient = torch.autograd.grad(loss, leaf, allow_unused=True)[0]
    return scores.detach(), gradient
