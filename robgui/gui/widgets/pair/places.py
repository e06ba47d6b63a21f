"""Where the pictures of a pair lie: as large as there is room, the close looks beside or below."""

from __future__ import annotations

from dataclasses import dataclass

from PySide6.QtCore import QRectF

#: Pixels between two pictures.
GAP = 8.0
#: The close looks take this share of the height of the picture, each.
_SHARE = 0.5


@dataclass(frozen=True)
class Places:
    """Places on the screen.

    Attributes:
        main: The picture, or both of them side by side.
        close: The two close looks, before and after; empty without them.
    """

    main: tuple[QRectF, ...]
    close: tuple[QRectF, ...]


def places(room: QRectF, ratio: float, many: int, *, close: bool) -> Places:
    """Fits ``many`` pictures and their close looks into ``room``; the larger way wins.

    Args:
        room: The whole widget.
        ratio: Width by height of one picture.
        many: How many pictures stand side by side.
        close: Whether there are close looks.
    """
    # The frame of the focus is drawn around the picture.
    room = room.adjusted(2, 2, -2, -2)
    if not close:
        return _arranged(room, ratio, many, 0.0, 0.0)
    beside = _arranged(room, ratio, many, _SHARE, 0.0)
    below = _arranged(room, ratio, many, 0.0, _SHARE)
    return max(beside, below, key=lambda one: one.main[0].width())


def _arranged(room: QRectF, ratio: float, many: int, beside: float, below: float) -> Places:
    """All in one block in the middle of the room; close looks right of it or below it."""
    gaps = GAP * (many - 1 + (1 if beside else 0))
    height = min(
        (room.width() - gaps) / (ratio * many + beside),
        (room.height() - (GAP if below else 0.0)) / (1 + below),
    )
    height = max(1.0, height)
    width = height * ratio
    whole = many * width + beside * height + gaps
    left = room.left() + max(0.0, (room.width() - whole) / 2)
    top = room.top() + max(
        0.0, (room.height() - height * (1 + below) - (GAP if below else 0.0)) / 2
    )
    main = tuple(QRectF(left + at * (width + GAP), top, width, height) for at in range(many))
    return Places(main, _close(main, height, beside, below))


def _close(
    main: tuple[QRectF, ...], height: float, beside: float, below: float
) -> tuple[QRectF, ...]:
    last, first = main[-1], main[0]
    if beside:
        side = (height - GAP) / 2
        left = last.right() + GAP
        return tuple(QRectF(left, first.top() + at * (side + GAP), side, side) for at in range(2))
    if below:
        side = min(below * height, (last.right() - first.left() - GAP) / 2)
        top = first.bottom() + GAP
        return tuple(QRectF(first.left() + at * (side + GAP), top, side, side) for at in range(2))
    return ()
