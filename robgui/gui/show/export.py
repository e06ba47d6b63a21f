"""Pictures, animations and numbers out of a panel: PNG, SVG, PDF, clipboard, GIF, MP4, CSV, NPZ."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from PySide6.QtCore import QMarginsF, QPoint, QRectF, QSize, QSizeF
from PySide6.QtGui import QImage, QPageSize, QPainter, QPdfWriter
from PySide6.QtSvg import QSvgGenerator
from PySide6.QtWidgets import QGraphicsView, QWidget

from robgui.core.errors import RobguiError

PICTURE_ENDINGS = (".png", ".svg", ".pdf")
TABLE_ENDINGS = (".csv", ".npz")
FILM_ENDINGS = (".gif", ".mp4")


def to_image(widget: QWidget, scale: float = 2.0) -> QImage:
    """The widget as it looks, ``scale`` times as large."""
    image = QImage(QSize(round(widget.width() * scale), round(widget.height() * scale)), QImage.Format.Format_ARGB32_Premultiplied)
    image.fill(widget.palette().window().color())
    painter = QPainter(image)
    painter.setRenderHints(QPainter.RenderHint.Antialiasing | QPainter.RenderHint.SmoothPixmapTransform)
    painter.scale(scale, scale)
    _render(widget, painter)
    painter.end()
    return image


def save_picture(widget: QWidget, path: Path, scale: float = 2.0) -> None:
    """Writes PNG, SVG or PDF by the ending of ``path``."""
    ending = path.suffix.lower()
    if ending == ".png":
        written = to_image(widget, scale).save(str(path))
    elif ending == ".svg":
        written = _save_svg(widget, path)
    elif ending == ".pdf":
        written = _save_pdf(widget, path)
    else:
        raise RobguiError(f"{path.name}: a picture is written as {', '.join(PICTURE_ENDINGS)}; choose one of these endings.")
    if not written or not path.exists():
        raise RobguiError(f"{path} cannot be written; choose a folder you may write to.")


def frame_of(widget: QWidget, scale: float = 1.0) -> np.ndarray:
    """The widget as it looks, as uint8 ``(h, w, 3)``: one frame of an animation."""
    image = to_image(widget, scale).convertToFormat(QImage.Format.Format_RGB888)
    pixels = np.frombuffer(image.constBits(), np.uint8).reshape(image.height(), image.bytesPerLine())
    return pixels[:, : 3 * image.width()].reshape(image.height(), image.width(), 3).copy()


def save_animation(frames: Sequence[np.ndarray], path: Path, frames_per_second: float = 15) -> None:
    """Writes uint8 ``(h, w, 3)`` frames of one size as GIF or MP4, by the ending of ``path``; not on the GUI thread."""
    if not frames:
        raise RobguiError("There is nothing to animate yet; run the analysis first.")
    ending = path.suffix.lower()
    try:
        if ending == ".gif":
            _save_gif(frames, path, frames_per_second)
        elif ending == ".mp4":
            _save_mp4(frames, path, frames_per_second)
        else:
            raise RobguiError(f"{path.name}: an animation is written as {', '.join(FILM_ENDINGS)}; choose one of these endings.")
    except OSError as error:
        raise RobguiError(f"{path} cannot be written ({error.strerror}); choose a folder you may write to.") from error


def _save_gif(frames: Sequence[np.ndarray], path: Path, frames_per_second: float) -> None:
    from PIL import Image

    first, *others = [Image.fromarray(frame).quantize(128, dither=Image.Dither.NONE) for frame in frames]
    pause = round(1000 / frames_per_second)
    durations = [pause] * len(others) + [2000]
    first.save(path, save_all=True, append_images=others, duration=durations, loop=0, optimize=False)


def _save_mp4(frames: Sequence[np.ndarray], path: Path, frames_per_second: float) -> None:
    import cv2

    height, width = (side - side % 2 for side in frames[0].shape[:2])  # the format knows even sizes only
    writer = cv2.VideoWriter(str(path), cv2.VideoWriter.fourcc(*"mp4v"), frames_per_second, (width, height))
    if not writer.isOpened():
        raise RobguiError(f"{path} cannot be written as MP4 here; choose another folder, or write a GIF.")
    for frame in frames:
        writer.write(cv2.cvtColor(frame[:height, :width], cv2.COLOR_RGB2BGR))
    writer.release()


def save_table(columns: dict[str, np.ndarray], path: Path) -> None:
    """Writes columns of equal length as CSV, or any arrays as NPZ."""
    try:
        if path.suffix.lower() == ".npz":
            np.savez_compressed(path, allow_pickle=False, **columns)
        elif path.suffix.lower() == ".csv":
            with path.open("w", newline="", encoding="utf-8") as file:
                writer = csv.writer(file)
                writer.writerow(columns)
                writer.writerows(zip(*(column.tolist() for column in columns.values()), strict=True))
        else:
            raise RobguiError(f"{path.name}: numbers are written as {', '.join(TABLE_ENDINGS)}; choose one of these endings.")
    except OSError as error:
        raise RobguiError(f"{path} cannot be written ({error.strerror}); choose a folder you may write to.") from error


def _save_svg(widget: QWidget, path: Path) -> bool:
    generator = QSvgGenerator()
    generator.setFileName(str(path))
    generator.setSize(widget.size())
    generator.setViewBox(widget.rect())
    return _paint_on(generator, widget)


def _save_pdf(widget: QWidget, path: Path) -> bool:
    writer = QPdfWriter(str(path))
    writer.setResolution(96)
    points = QSizeF(widget.width() * 0.75, widget.height() * 0.75)
    writer.setPageSize(QPageSize(points, QPageSize.Unit.Point, "picture", QPageSize.SizeMatchPolicy.ExactMatch))
    writer.setPageMargins(QMarginsF(0, 0, 0, 0))
    return _paint_on(writer, widget)


def _paint_on(device: QSvgGenerator | QPdfWriter, widget: QWidget) -> bool:
    painter = QPainter()
    if not painter.begin(device):
        return False
    _render(widget, painter)
    return painter.end()


def _render(widget: QWidget, painter: QPainter) -> None:
    """Plots are drawn by their scene, so that lines stay lines; other widgets paint themselves."""
    if isinstance(widget, QGraphicsView):
        painter.fillRect(widget.rect(), widget.backgroundBrush())
        widget.render(painter, QRectF(widget.rect()), widget.viewport().rect())
    else:
        widget.render(painter, QPoint())
