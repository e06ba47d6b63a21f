"""Encoded images (PNG, JPEG, …), wherever their bytes are; each is decoded on demand."""

from __future__ import annotations

import copy
import hashlib
from abc import abstractmethod
from collections.abc import Sequence
from typing import IO

import numpy as np

from robgui.core.dataset import images
from robgui.core.dataset.framing import SQUASH, Framing
from robgui.core.dataset.source import Shape, Source
from robgui.core.errors import DataError

#: How many images are measured at opening.
_PROBED = 8
#: Most images for which the fingerprint covers each size.
_SIZED = 10_000
#: How many images, and how many bytes of each, the fingerprint reads.
_HASHED, _HASHED_BYTES = 32, 1_000_000


class EncodedImages(Source):
    """Encoded images by name.

    Args:
        keys: What to call each.
    """

    kind = "image"

    def __init__(self, keys: Sequence[str]) -> None:
        super().__init__()
        self._keys = keys
        self._framing = SQUASH
        self.shape = self._probe()

    @abstractmethod
    def open(self, position: int) -> IO[bytes]:
        """The encoded bytes of one image; DataError or OSError if they cannot be read."""

    @abstractmethod
    def where(self, position: int) -> str:
        """The name of one image in an error."""

    @abstractmethod
    def size(self, position: int) -> int:
        """Bytes of one encoded image, -1 if it is gone."""

    def __len__(self) -> int:
        return len(self._keys)

    def key(self, position: int) -> str:
        return self._keys[position]

    def read(self, position: int, shape: Shape) -> np.ndarray:
        pixels = self._pixels(position)
        try:
            return images.fit(pixels, shape, self._framing)
        except DataError as error:
            raise error.at(self.where(position)) from error

    def framed(self, framing: Framing) -> EncodedImages:
        """The same images under another framing."""
        if framing == self._framing:
            return self
        other = copy.copy(self)
        other._framing = framing
        return other

    def thumbnail(self, position: int, size: int) -> np.ndarray:
        return images.thumbnail(self._pixels(position, at_least=size), size)

    def content(self) -> str:
        """Every name, the bytes of a few images and, unless there are too many, every size.

        No dates: a copied folder is the same dataset.
        """
        total = hashlib.blake2b(digest_size=16)
        # File names on Linux are bytes; those that are no UTF-8 come as surrogates.
        total.update("\n".join(self._keys).encode("utf-8", "surrogateescape"))
        if len(self) <= _SIZED:
            total.update(repr([self.size(position) for position in range(len(self))]).encode())
        for position in self._spread(_HASHED):
            total.update(self._bytes(position))
        return total.hexdigest()

    def check(self, where: object) -> None:
        """Refuses a source without a single readable image.

        One bad image among others is left out; bad images alone are no dataset.
        """
        for position in range(len(self)):
            try:
                self._try(position)
            except DataError as error:
                self.skips.add(self.key(position), str(error))
                if len(self) == 1:
                    raise
            else:
                return
        if len(self):
            raise DataError(
                f"{where}: none of its {len(self):,} images can be read, the first is"
                f" {self.key(0)}; choose other images."
            )

    def _pixels(self, position: int, at_least: int = 0) -> np.ndarray:
        with images.decoding(self.where(position)), self.open(position) as file:
            return images.decode_image(file, at_least)

    def _try(self, position: int) -> None:
        """Reads one image; of many only the header, as many broken ones would take minutes."""
        if len(self) <= _PROBED:
            self._pixels(position, at_least=1)
        else:
            self._shape(position)

    def _shape(self, position: int) -> Shape:
        with images.decoding(self.where(position)), self.open(position) as file:
            return images.decode_shape(file)

    def _bytes(self, position: int) -> bytes:
        try:
            with self.open(position) as file:
                return file.read(_HASHED_BYTES)
        except (OSError, DataError):
            # A deleted picture changes the fingerprint; it does not keep the folder from opening.
            return b"gone"

    def _spread(self, count: int) -> list[int]:
        """At most ``count`` positions spread evenly over all."""
        places = np.linspace(0, len(self) - 1, min(count, len(self))).astype(int)
        return [int(place) for place in np.unique(places)]

    def _probe(self) -> Shape | None:
        """The common shape of a few images spread over all of them, if they share one."""
        shapes = set()
        for position in self._spread(_PROBED):
            try:
                shapes.add(self._shape(position))
            except DataError as error:
                self.skips.add(self.key(position), str(error))
        if len(shapes) == 1:
            return shapes.pop()
        return None
