"""The game: states are sets of changed pixels, and a move changes one pixel (Section 3).

All values are 8-bit, so an example stays what it is when saved as a PNG file and read back.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from robgui.analyses.feature_game.params import Norm
from robgui.analyses.feature_game.result import Severity

#: Options in rising order, at most one per pixel.
State = tuple[int, ...]
#: The unmodified image.
EMPTY: State = ()


@dataclass(frozen=True)
class Goal:
    """What ends the game: the target class, or any class but the original.

    Attributes:
        original: Class of the unmodified image.
        target: Class to reach; -1: any other.
    """

    original: int
    target: int = -1

    def margins(self, scores: np.ndarray) -> np.ndarray:
        """How far scores ``(..., C)`` are beyond the change of class.

        Positive when the game is won.
        """
        if self.target < 0:
            kept = self.original
        else:
            kept = self.target
        # Logits, not probabilities: softmax saturates at 1 and would blind the search.
        rest = np.delete(scores, kept, axis=-1).max(-1)
        return np.asarray(rest - scores[..., kept] if self.target < 0 else scores[..., kept] - rest)

    def reached(self, classes: np.ndarray) -> np.ndarray:
        """Whether each class wins the game."""
        return np.asarray(classes != self.original if self.target < 0 else classes == self.target)


class Game:
    """The options of every pixel and what a set of them does to the image.

    Under L0 an option paints a pixel black, white or a colour; under the other norms it lifts or
    lowers it by a multiple of the step, and the next multiple is one more move.

    Attributes:
        image: ``(h * w, c)`` uint8.
        pixel: ``(M,)`` the pixel of each option.
        value: ``(M, c)`` uint8, what it becomes.
        level: ``(M,)`` how many steps away it is, 1 under L0.
        weaker: ``(M,)`` the option one step back, or -1.
        stronger: ``(M,)`` the option one step on, or -1.
    """

    def __init__(
        self, image: np.ndarray, norm: Norm, tau: float = 1.0, colours: Sequence[str] = ()
    ) -> None:
        self.shape = image.shape
        self.norm = norm
        # One row per pixel: all channels of a pixel change together.
        self.image = np.ascontiguousarray(image.reshape(image.shape[0], -1).T)
        if norm == "l0":
            self.pixel, self.value, self.level, self.weaker = _paints(self.image, colours)
        else:
            self.pixel, self.value, self.level, self.weaker = _steps(self.image, tau)
        self.stronger = np.full(len(self.pixel), -1, dtype=np.int64)
        has = self.weaker >= 0
        self.stronger[self.weaker[has]] = np.flatnonzero(has)
        self._pixels: list[int] = self.pixel.tolist()
        self._costs = _costs(self.image, self.pixel, self.value)
        self._base: Tensor | None = None
        self._values: Tensor | None = None

    @property
    def first(self) -> np.ndarray:
        """The options that one move from the unmodified image reaches."""
        return np.flatnonzero(self.weaker < 0)

    def play(self, state: State, option: int) -> State:
        """The state after the option is chosen for its pixel."""
        pixels = self._pixels
        pixel = pixels[option]
        # Sorted: the same changes in another order are the same state, asked only once.
        return tuple(sorted([other for other in state if pixels[other] != pixel] + [int(option)]))

    def moves(self, state: State) -> np.ndarray:
        """``(M,)`` bool: the options that one move from the state reaches."""
        # A pixel is changed once; after that it only goes further along its own chain.
        used = np.zeros(len(self.image), dtype=bool)
        used[self.pixel[list(state)]] = True
        allowed = (self.weaker < 0) & ~used[self.pixel]
        further = self.stronger[list(state)]
        allowed[further[further >= 0]] = True
        return np.asarray(allowed)

    def severity(self, state: State) -> float:
        """Distance of the state from the image in the norm of the game."""
        return self.severities(state).by(self.norm)

    def severities(self, state: State) -> Severity:
        """Distance of the state from the image in every norm."""
        dims, l1, squares, linf = self._costs[:, list(state)]
        return Severity(
            float(len(state)),
            float(dims.sum()),
            float(l1.sum()),
            float(np.sqrt(squares.sum())),
            float(linf.max(initial=0.0)),
        )

    def distances(self, picture: np.ndarray) -> Severity:
        """Distance of a uint8 picture ``(h * w, c)`` from the image in every norm."""
        change = np.abs(picture.astype(np.float64) - self.image) / 255
        return Severity(
            float((change > 0).any(1).sum()),
            float((change > 0).sum()),
            float(change.sum()),
            float(np.sqrt((change**2).sum())),
            float(change.max(initial=0.0)),
        )

    def difference(self, picture: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """``(P, 2)`` x and y of the pixels in which a picture differs, ``(P, c)`` its values."""
        pixels = np.flatnonzero((picture != self.image).any(1))
        return np.stack([pixels % self.shape[2], pixels // self.shape[2]], 1), picture[pixels]

    def picture_of(self, state: State) -> np.ndarray:
        """The state as a uint8 picture ``(h * w, c)``."""
        picture = self.image.copy()
        options = np.array(state, dtype=np.int64)
        picture[self.pixel[options]] = self.value[options]
        return picture

    def l1(self, states: Sequence[State]) -> np.ndarray:
        """``(n,)`` the L1 distance of each state from the image."""
        return np.array([self._costs[1, list(state)].sum() for state in states])

    def changed(self, state: State) -> tuple[np.ndarray, np.ndarray]:
        """``(P, 2)`` x and y of the changed pixels and ``(P, c)`` their values."""
        options = np.array(state, dtype=np.int64)
        pixels = self.pixel[options]
        return np.stack([pixels % self.shape[2], pixels // self.shape[2]], 1), self.value[options]

    def picture(self, state: State) -> np.ndarray:
        """The state as an image ``(c, h, w)`` in [0, 1]."""
        image = self.picture_of(state)
        return np.ascontiguousarray(image.T.reshape(self.shape)).astype(np.float32) / np.float32(
            255
        )

    def by_colour(self) -> np.ndarray:
        """``(h * w, colours)`` the option that gives a pixel a colour; -1 where it has it already.

        Under L0 only: elsewhere several options may give the same value.
        """
        colours = np.unique(self.value, axis=0, return_inverse=True)[1].ravel()
        table = np.full((len(self.image), int(colours.max()) + 1), -1)
        table[self.pixel, colours] = np.arange(len(self.pixel))
        return table

    def farthest(self) -> np.ndarray:
        """``(h * w,)`` the option of each pixel that changes it most."""
        change = np.abs(self.value.astype(np.int64) - self.image[self.pixel]).sum(1)
        rising = np.lexsort((change, self.pixel))
        far = np.zeros(len(self.image), dtype=np.int64)
        # Of repeated pixels the last write stays, which is the largest change.
        far[self.pixel[rising]] = rising
        return far

    def render(self, states: Sequence[State], device: torch.device) -> Tensor:
        """The states as images ``(n, c, h, w)`` in [0, 1] on the device."""
        if self._base is None or self._values is None:
            self._base = torch.from_numpy(self.image.T.astype(np.float32) / np.float32(255)).to(
                device
            )
            self._values = torch.from_numpy(self.value.astype(np.float32) / np.float32(255)).to(
                device
            )
        # (n, c, h w); all changes of all states in one scatter.
        x = self._base.repeat(len(states), 1, 1)
        options = np.fromiter((option for state in states for option in state), dtype=np.int64)
        if len(options):
            rows = np.repeat(np.arange(len(states)), [len(state) for state in states])
            where = torch.from_numpy(np.stack([rows, self.pixel[options], options])).to(device)
            x[where[0], :, where[1]] = self._values[where[2]]
        return x.reshape(len(states), *self.shape)


def _paints(
    image: np.ndarray, colours: Sequence[str]
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    channels = image.shape[1]
    paints = [
        np.full(channels, 255),
        np.full(channels, 0),
        *(_colour(colour, channels) for colour in colours),
    ]
    palette = np.unique(np.array(paints, dtype=np.uint8), axis=0)
    pixel, paint = np.nonzero((image[:, None, :] != palette[None]).any(2))
    return (
        pixel,
        palette[paint],
        np.ones(len(pixel), dtype=np.int64),
        np.full(len(pixel), -1, dtype=np.int64),
    )


def _colour(colour: str, channels: int) -> np.ndarray:
    rgb = np.array([int(colour[i : i + 2], 16) for i in (1, 3, 5)])
    if channels == 3:
        return rgb
    # Luma of ITU-R BT.601, the usual way from a colour to grey.
    return np.full(channels, round(float(rgb @ (0.299, 0.587, 0.114))))


def _steps(image: np.ndarray, tau: float) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Every multiple of the step up and down that changes a pixel further than the one before."""
    size = max(1, round(255 * tau))
    pixels, values, levels, weaker = [], [], [], []
    count = 0
    # Rising and falling steps are separate chains; a pixel goes along one of them.
    for sign in (1, -1):
        before, place = image.astype(np.int64), np.full(len(image), -1, dtype=np.int64)
        for level in range(1, -(-255 // size) + 1):
            after = np.clip(image.astype(np.int64) + sign * level * size, 0, 255)
            moved = np.flatnonzero((after != before).any(1))
            pixels.append(moved)
            values.append(after[moved].astype(np.uint8))
            levels.append(np.full(len(moved), level))
            weaker.append(place[moved])
            place = place.copy()
            place[moved] = count + np.arange(len(moved))
            count += len(moved)
            before = after
    return (
        np.concatenate(pixels),
        np.concatenate(values),
        np.concatenate(levels),
        np.concatenate(weaker),
    )


def _costs(image: np.ndarray, pixel: np.ndarray, value: np.ndarray) -> np.ndarray:
    """``(4, M)`` changed numbers, L1, squared L2 and Linf of each option."""
    change = np.abs(value.astype(np.float64) - image[pixel]) / 255
    return np.stack(
        [(change > 0).sum(1), change.sum(1), (change**2).sum(1), change.max(1, initial=0.0)]
    )
