"""The saliency of pixels: a mixture of Gaussians around the keypoints that changes during play.

Section 2 of the paper writes a product over the components; a weighted sum is meant, of products of
one Gaussian in x and one in y.
"""

from __future__ import annotations

import numpy as np

#: Smallest σ in pixels: a keypoint smaller than that would be all or nothing.
SMALLEST_SIGMA = 0.5
#: Weight of the keypoints' responses, counted in rewards of 1.
PRIOR_REWARDS = 4.0


class Mixture:
    """Sum of φ_i N(x; x_i, σ_i) N(y; y_i, σ_i) on the pixel grid, renormalised inside the image.

    Attributes:
        keypoints: ``(K, 4)`` x, y, size, response.
        weights: ``(K,)`` φ, which sums to 1; the responses at first, later also the rewards.
    """

    def __init__(self, keypoints: np.ndarray, height: int, width: int, spread: float = 1.0) -> None:
        self.keypoints = keypoints
        self.shape = (height, width)
        self.prior = keypoints[:, 3] / keypoints[:, 3].sum()
        self._rewards = np.zeros(len(keypoints))
        # Section 2 takes the size of a keypoint for the σ of its Gaussian; ``spread`` widens all.
        sigma = np.maximum(SMALLEST_SIGMA, keypoints[:, 2] * spread)[:, None]
        self._x = _gaussian(np.arange(width)[None], keypoints[:, 0, None], sigma)
        self._y = _gaussian(np.arange(height)[None], keypoints[:, 1, None], sigma)

    @property
    def weights(self) -> np.ndarray:
        """How much each keypoint counts now."""
        return np.asarray(
            # The responses count like four rewards, so a few games outweigh SIFT and one does not.
            (PRIOR_REWARDS * self.prior + self._rewards) / (PRIOR_REWARDS + self._rewards.sum())
        )

    def saliency(self, weights: np.ndarray | None = None) -> np.ndarray:
        """The mixture ``(h, w)``, which sums to 1."""
        if weights is None:
            chosen = self.weights
        else:
            chosen = weights
        # A sum of products, component by component: the product of two sums, one in x and one in y,
        # would put ghosts where the row of one keypoint meets the column of another.
        density = (self._y * chosen[:, None]).T @ self._x
        # What falls outside the image is shared out over it; clamping would pile it up at the
        # border.
        total = density.sum()
        if total > 0:
            return np.asarray(density / total)
        return np.full(self.shape, 1 / density.size)

    def reward(self, keypoints: np.ndarray, reward: float) -> None:
        """Gives the keypoints of a path its reward, an equal part to each move."""
        if len(keypoints):
            np.add.at(self._rewards, keypoints, reward / len(keypoints))

    def owners(self) -> np.ndarray:
        """``(h, w)`` the keypoint that is most responsible for each pixel, by the first weights."""
        # Far from a keypoint its Gaussian is 0 in double precision;
        # its log is -inf, which never wins.
        with np.errstate(divide="ignore"):
            x, y, weight = np.log(self._x), np.log(self._y), np.log(self.prior)
        best = np.full(self.shape, -np.inf)
        owners = np.zeros(self.shape, dtype=np.int64)
        for k in range(len(self.keypoints)):
            density = weight[k] + y[k][:, None] + x[k][None]
            closer = density > best
            owners[closer], best[closer] = k, density[closer]
        return owners

    def within(self, keypoint: int) -> np.ndarray:
        """``(h, w)`` one keypoint's distribution over pixels, renormalised inside the image."""
        density = np.outer(self._y[keypoint], self._x[keypoint])
        return np.asarray(density / density.sum())


def _gaussian(at: np.ndarray, mean: np.ndarray, sigma: np.ndarray) -> np.ndarray:
    # Equation 1.
    return np.asarray(np.exp(-((at - mean) ** 2) / (2 * sigma**2)) / np.sqrt(2 * np.pi * sigma**2))
