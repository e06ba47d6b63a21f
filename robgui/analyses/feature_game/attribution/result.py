"""How much each pixel speaks for a class."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True, slots=True)
class AttributionResult:
    """What speaks for a class in one picture, or in two that belong together.

    Attributes:
        names: What the n pictures are called.
        pictures: ``(n, h, w, 3)`` uint8.
        predicted: ``(n,)`` the model's answers.
        confidence: ``(n,)`` probability of the class in question.
        target: The class in question.
        labels: Class names.
        ways: What the k ways are called.
        heat: ``(k, n, h, w)`` how much each pixel speaks for the class, negative where against it;
            0 where a way has not come yet, see ``has``.
        missing: Why a way was left out, one sentence each.
        unexplained: ``(n,)`` what integrated gradients leave of the difference between picture and
            cover, as a share of it; nan without them.
        patch: Side of the square that covered a part.
        model_calls: Inputs the model has seen.
        covered: Squares that were covered so far, of all pictures.
        squares: Squares to cover; 0 in results stored before they were counted.
        explained: ``(k,)`` pictures that each way has begun with; empty in such results.
    """

    names: tuple[str, ...]
    pictures: np.ndarray
    predicted: np.ndarray
    confidence: np.ndarray
    target: int
    labels: tuple[str, ...]
    ways: tuple[str, ...]
    heat: np.ndarray
    missing: tuple[str, ...]
    unexplained: np.ndarray
    patch: int
    model_calls: int
    covered: int = 0
    squares: int = 0
    explained: tuple[int, ...] = ()

    @property
    def complete(self) -> bool:
        """Whether every square was covered."""
        return self.covered >= self.squares

    def has(self, way: int, picture: int) -> bool:
        """Whether a way has come to a picture."""
        return not self.explained or picture < self.explained[way]

    def strongest(self, way: int, picture: int, share: float = 0.1) -> float:
        """How much of all that speaks for the class lies in the strongest ``share`` of the pixels.

        Nan where nothing speaks for it.
        """
        # What speaks against the class is no part of what speaks for it.
        heat = np.sort(self.heat[way, picture].clip(min=0).ravel())[::-1]
        total = float(heat.sum())
        most = max(1, round(share * len(heat)))
        if total > 0:
            return float(heat[:most].sum()) / total
        return np.nan
