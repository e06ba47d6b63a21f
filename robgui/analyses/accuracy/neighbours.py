"""Compares inputs by the model's features: a map, labels to check, near-duplicates."""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor

from robgui.core.errors import ParamsError

#: Neighbours consulted about a label, and how many of them must contradict it.
ASKED, AGREEING = 10, 8
#: Two pictures are near-duplicates if their reduced pixels differ by less than this (root mean
#: square); rows of a table only if they are equal.
#: 0.01 is two and a half of 255 levels.
ALIKE = {"image": 0.01, "table": 1e-6, "sequence": 1e-6}
#: Side of the reduced pictures.
SIDE = 16
#: Inputs compared with all others at once; the similarity table then fits into memory.
#: With 50,000 inputs 200 MB in double precision.
_ROWS = 512


def reduced(x: Tensor, kind: str) -> Tensor:
    """Inputs reduced to a few numbers, ``(n, k)``, for finding near-duplicates."""
    if kind == "image" and max(x.shape[2:]) > SIDE:
        x = torch.nn.functional.adaptive_avg_pool2d(x, (SIDE, SIDE))
    return x.flatten(1)


def nearest(features: Tensor) -> Tensor:
    """``(k, a)`` rows of the nearest others by angle between features, nearest first."""
    # Centred, since features after a ReLU all point into one corner and every angle is small.
    # Double precision keeps the order of near ties.
    unit = torch.nn.functional.normalize(features.double() - features.double().mean(0), dim=1)
    asked = min(ASKED, len(unit) - 1)
    found = []
    for start in range(0, len(unit), _ROWS):
        likeness = unit[start : start + _ROWS] @ unit.T
        own = torch.arange(start, min(start + _ROWS, len(unit)), device=unit.device)
        # Below every cosine, so no input is its own neighbour.
        likeness.scatter_(1, own[:, None], -2.0)
        found.append(likeness.topk(asked, dim=1).indices)
    return torch.cat(found)


def doubtful(near: np.ndarray, truth: np.ndarray, predicted: np.ndarray) -> np.ndarray:
    """``(k,)`` whether model and neighbours agree on a class other than the label."""
    around = truth[near]
    for_model = (around == predicted[:, None]).sum(1)
    for_label = (around == truth[:, None]).sum(1)
    # One neighbour may share the label by chance, or by the same mistake.
    return np.asarray((predicted != truth) & (for_model >= AGREEING) & (for_label <= 1))


def alike(near: Tensor, small: Tensor, kind: str) -> Tensor:
    """``(k, a)`` whether the nearest others are nearly the same."""
    found = []
    for start in range(0, len(near), _ROWS):
        # (rows, a, k).
        others = small[near[start : start + _ROWS]]
        gaps = (others - small[start : start + _ROWS, None]).pow(2).mean(-1).sqrt()
        found.append(gaps < ALIKE[kind])
    return torch.cat(found)


def twins(near: np.ndarray, same: np.ndarray) -> np.ndarray:
    """``(t, 2)`` pairs that are nearly the same, each once, the lower row first."""
    # Both of a pair find each other; a set keeps it once.
    pairs = set()
    for row, column in np.argwhere(same).tolist():
        pair = row, int(near[row, column])
        pairs.add((min(pair), max(pair)))
    return np.array(sorted(pairs), dtype=np.int64).reshape(-1, 2)


def main_parts(features: Tensor) -> Tensor:
    """``(k, at most 50)`` features along the directions in which they differ most."""
    centred = (features - features.mean(0)).double()
    if len(centred) < 3:
        return centred[:, :0]
    # (directions, features), the widest first.
    _, _, axes = torch.linalg.svd(centred, full_matrices=False)
    first = axes[: min(50, len(axes))]
    # The sign of a singular vector is arbitrary: its largest component is made positive.
    signs = first.gather(1, first.abs().argmax(1, keepdim=True)).sign()
    return torch.matmul(centred, (first * signs).T)


def laid_out(main: np.ndarray, layout: str, seed: int) -> np.ndarray:
    """``(k, 2)`` positions of inputs on the map, from ``main_parts``."""
    if not main.shape[1]:
        return np.zeros((len(main), 2), dtype=np.float32)
    if layout == "tsne":
        return _neighbour_map(main, seed)
    flat = np.zeros((len(main), 2))
    flat[:, : min(2, main.shape[1])] = main[:, :2]
    return flat.astype(np.float32)


def check_layout(layout: str) -> None:
    """Raises if the library of a layout is missing, before anything is computed."""
    from importlib.util import find_spec

    if layout == "tsne" and find_spec("sklearn") is None:
        raise ParamsError(
            "The neighbour map needs scikit-learn, which is not installed; choose the map pca, or"
            ' install it with pip install "robgui[sklearn]".'
        )


def _neighbour_map(main: np.ndarray, seed: int) -> np.ndarray:
    from sklearn.manifold import TSNE

    # scikit-learn's default of 30, and less for few inputs: it must stay below their number.
    perplexity = min(30.0, (len(main) - 1) / 3)
    # From pca, so the map does not turn from run to run; numpy takes seeds of 32 bits only.
    map_of = TSNE(2, perplexity=perplexity, init="pca", random_state=seed % 2**32)
    return np.asarray(map_of.fit_transform(main), dtype=np.float32)
