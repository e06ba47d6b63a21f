"""Videos: each frame is an image, decoded on demand."""

from __future__ import annotations

import copy
import os
import threading
from pathlib import Path

import cv2
import numpy as np

from robgui.core.dataset import images
from robgui.core.dataset.dataset import Dataset
from robgui.core.dataset.framing import SQUASH, Framing
from robgui.core.dataset.limits import digest, reading
from robgui.core.dataset.options import Options
from robgui.core.dataset.source import Shape, Source
from robgui.core.errors import DataError
from robgui.core.regular import open_regular

#: Most frames of a video: four days at 30 frames a second.
_MOST = 10_000_000
#: What the decoder may open: this file, in these formats. A video may contain a playlist, and a
#: playlist may name any other file.
_ONLY = "protocol_whitelist;file|format_whitelist;mov,mp4,avi,matroska,webm,mpeg,mpegts,mpegvideo"
_SETTING = "OPENCV_FFMPEG_CAPTURE_OPTIONS"
_opening = threading.Lock()


def open_video(path: Path, options: Options) -> Dataset:
    """Opens a video, keeping one frame in ``every``."""
    return Dataset(
        Frames(path, options.every),
        name=path.name,
        path=path,
        names=options.names,
        options=options.told(),
    )


class Frames(Source):
    """The frames of a video, one in ``every``."""

    kind = "image"

    def __init__(self, path: Path, every: int) -> None:
        super().__init__()
        self._path, self._every = path, every
        self._framing = SQUASH
        self._decoder = _Decoder(path)
        # Rounded up: frame 0 always counts.
        self._count = -(-self._decoder.count // every)
        self.shape = self._decoder.read(0).transpose(2, 0, 1).shape

    def __len__(self) -> int:
        return self._count

    def key(self, position: int) -> str:
        return f"frame {position * self._every}"

    def read(self, position: int, shape: Shape) -> np.ndarray:
        return images.fit(self._decoder.read(position * self._every), shape, self._framing)

    def thumbnail(self, position: int, size: int) -> np.ndarray:
        return images.thumbnail(self._decoder.read(position * self._every), size)

    def framed(self, framing: Framing) -> Frames:
        """The same frames under another framing."""
        if framing == self._framing:
            return self
        other = copy.copy(self)
        other._framing = framing
        return other

    def content(self) -> str:
        return f"{digest(self._path)}|{self._every}"


class _Decoder:
    """Decodes frames in sequence or by number; may be used from any thread."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._lock = threading.Lock()
        # The decoder opens the path itself; this refuses pipes and devices, on which it would wait.
        with reading(path), open_regular(path):
            pass
        self._capture = _capture(path)
        self._next = 0
        width, height = (
            int(self._capture.get(each))
            for each in (cv2.CAP_PROP_FRAME_WIDTH, cv2.CAP_PROP_FRAME_HEIGHT)
        )
        self.count = int(self._capture.get(cv2.CAP_PROP_FRAME_COUNT))
        if not 0 < width * height <= images.LARGEST_PIXELS or not 0 < self.count <= _MOST:
            raise DataError(
                f"{path}: the video has {self.count:,} frames of {width} × {height} pixels, which"
                " is not read; convert it to MP4."
            )

    def read(self, number: int) -> np.ndarray:
        """One frame as ``(h, w, 3)`` uint8, red first."""
        with self._lock:
            # Seeking decodes again from the last key frame, so reading in order never seeks.
            if number != self._next:
                self._capture.set(cv2.CAP_PROP_POS_FRAMES, number)
            good, frame = self._capture.read()
            self._next = number + 1
        if not good or frame.ndim != 3:
            raise DataError(f"{self._path}: frame {number} cannot be read; convert it to MP4.")
        # OpenCV has blue first.
        return np.ascontiguousarray(frame[:, :, ::-1])


def _capture(path: Path) -> cv2.VideoCapture:
    # The variable belongs to the whole process: two threads would restore each other's value.
    with _opening:
        before = os.environ.get(_SETTING)
        os.environ[_SETTING] = _ONLY
        try:
            capture = cv2.VideoCapture(str(path.absolute()), cv2.CAP_FFMPEG)
        finally:
            if before is None:
                del os.environ[_SETTING]
            else:
                os.environ[_SETTING] = before
    if not capture.isOpened():
        raise DataError(f"{path}: the video cannot be read; convert it to MP4.")
    return capture
