"""Tree on the screen: every node a box, its height the share of the work, its colour the worth."""

from __future__ import annotations

import math

import numpy as np
from PySide6.QtCore import QEvent, QRectF, QSize, Qt
from PySide6.QtGui import QColor, QMouseEvent, QPainter, QPaintEvent, QPen, QResizeEvent
from PySide6.QtWidgets import QHBoxLayout, QScrollArea, QWidget

from robgui.core.view import Axis, Tree, colour_map
from robgui.gui.app.theme import theme
from robgui.gui.widgets.heat import Scale, lookup
from robgui.gui.widgets.views.widget import ViewWidget

#: A level is at least this many characters wide.
LEVEL = 11
#: A box lower than this, in pixels, is not drawn.
LOWEST = 1.5


class TreeView(ViewWidget):
    """Draws a Tree, the root on the left; ``chosen`` gives the number of the node clicked."""

    kind = Tree

    def build(self) -> None:
        """The nodes with their scale of colours."""
        self.page = TreePage(self)
        self.area = QScrollArea(widgetResizable=True, frameShape=QScrollArea.Shape.NoFrame)
        self.area.setWidget(self.page)
        # Heights are shares of the room there is; only levels can be too many for it.
        self.area.setVerticalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.bar = Scale(Axis(""), lookup("magma"))
        self.bar.setVisible(not self.mini)
        box = QWidget()
        row = QHBoxLayout(box)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(0)
        row.addWidget(self.area, 1)
        row.addWidget(self.bar)
        self.put(box)

    def draw(self, view: Tree) -> None:
        """Lays the nodes out anew; a tree only grows, so what was there keeps its order."""
        worst = {"high": "low", "low": "high"}.get(view.scale.better, "neither")
        table = lookup(*colour_map(worst, theme.dark))
        self.bar.set_axis(view.scale)
        self.bar.set_levels(levels(view))
        self.bar.set_table(table)
        self.page.show_tree(view, table)

    def words(self, node: int) -> str:
        """A node in words: its name, its worth, what went through it."""
        view: Tree = self.view
        value, weight = float(view.value[node]), float(view.weight[node])
        if node in view.path:
            best = ", on the best line"
        else:
            best = ""
        worth = f"{view.scale.name} {view.scale.words(value)}"
        return f"{view.names[node]}: {worth}, {view.size.name} {view.size.words(weight)}{best}"


class TreePage(QWidget):
    """Paints the boxes; of ten thousand nodes only those that can be seen."""

    def __init__(self, owner: TreeView) -> None:
        super().__init__()
        self._owner = owner
        self._view: Tree | None = None
        self._table = np.zeros((256, 4), np.uint8)
        self.boxes: list[tuple[int, QRectF]] = []
        self.setMouseTracking(not owner.mini)
        self.setMinimumHeight(80)

    def show_tree(self, view: Tree, table: np.ndarray) -> None:
        """Takes another tree."""
        self._view, self._table = view, table
        depth = int(depths(view.parent).max(initial=0)) + 1
        if self._owner.mini:
            level = 0
        else:
            level = LEVEL * self.fontMetrics().averageCharWidth()
        self.setMinimumWidth(depth * level)
        self._lay_out()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._lay_out()

    def sizeHint(self) -> QSize:
        return QSize(max(320, self.minimumWidth()), 240)

    def paintEvent(self, event: QPaintEvent) -> None:
        view = self._view
        if view is None:
            return
        painter = QPainter(self)
        painter.fillRect(self.rect(), QColor(theme.colours.surface))
        low, high = levels(view)
        shares = (np.nan_to_num(view.value, nan=low) - low) / ((high - low) or 1.0)
        colours = self._table[np.clip(shares * 255, 0, 255).astype(int)]
        known = np.isfinite(view.value)
        for node, box in self.boxes:
            ground = QColor(theme.colours.raised)
            if known[node]:
                ground = QColor(*colours[node].tolist())
            painter.fillRect(box, ground)
            painter.setPen(QPen(QColor(theme.colours.surface), 1))
            painter.drawRect(box)
            self._write(painter, view.names[node], box, ground)
        # After all boxes: the next one drawn would cover half of a frame.
        on_path = set(view.path)
        painter.setPen(QPen(QColor(theme.colours.text), 2.5))
        for node, box in self.boxes:
            if node in on_path:
                painter.drawRect(box.adjusted(1, 1, -1, -1))

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        node = self._node(event)
        self._owner.tell("" if node is None else self._owner.words(node))

    def mousePressEvent(self, event: QMouseEvent) -> None:
        node = self._node(event)
        if node is not None and event.button() == Qt.MouseButton.LeftButton:
            self._owner.chosen.emit(node)

    def leaveEvent(self, event: QEvent) -> None:
        super().leaveEvent(event)
        self._owner.tell("")

    def _node(self, event: QMouseEvent) -> int | None:
        place = event.position()
        return next((node for node, box in self.boxes if box.contains(place)), None)

    def _write(self, painter: QPainter, name: str, box: QRectF, ground: QColor) -> None:
        """The name where there is room for it, dark on bright and bright on dark."""
        metrics = self.fontMetrics()
        if box.height() < metrics.height() or box.width() < 3 * metrics.averageCharWidth():
            return
        painter.setPen(QColor("#000000" if ground.lightnessF() > 0.45 else "#FFFFFF"))
        room = box.adjusted(4, 0, -4, 0)
        words = metrics.elidedText(name, Qt.TextElideMode.ElideMiddle, int(room.width()))
        flags = Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter
        painter.drawText(room, int(flags), words)

    def _lay_out(self) -> None:
        if self._view is not None:
            self.boxes = lay_out(self._view, float(self.width()), float(self.height()))
            self.update()


def depths(parent: np.ndarray) -> np.ndarray:
    """How far each node is from the root."""
    depth = np.zeros(len(parent), int)
    # Parents come before their children, so one pass is enough.
    for node, above in enumerate(parent.tolist()):
        if above >= 0:
            depth[node] = depth[above] + 1
        else:
            depth[node] = 0
    return depth


def lay_out(view: Tree, width: float, height: float) -> list[tuple[int, QRectF]]:
    """Boxes of the nodes that can be seen: a column for each level, children beside their parent.

    The children of a node share its height by their weights, the heaviest first.
    """
    count = len(view.parent)
    if not count:
        return []
    depth = depths(view.parent)
    column = width / (int(depth.max()) + 1)
    children: list[list[int]] = [[] for _ in range(count)]
    roots: list[int] = []
    for node, above in enumerate(view.parent.tolist()):
        (children[above] if above >= 0 else roots).append(node)
    weight = np.nan_to_num(view.weight).astype(float)
    boxes: list[tuple[int, QRectF]] = []
    waiting = [(roots, 0.0, height, sum(weight[roots]))]
    while waiting:
        nodes, top, room, whole = waiting.pop()
        # The children may have less work than their parent did: the rest of its height stays empty.
        total = max(whole, float(weight[nodes].sum())) or 1.0
        for node in sorted(nodes, key=lambda one: -weight[one]):
            tall = room * weight[node] / total
            # The heaviest came first: those behind it are lower still.
            if tall < LOWEST:
                break
            boxes.append((node, QRectF(depth[node] * column, top, column, tall)))
            if children[node]:
                waiting.append((children[node], top, tall, weight[node]))
            top += tall
    return boxes


def levels(view: Tree) -> tuple[float, float]:
    """The values of the first and the last colour: those of the scale, else of the nodes."""
    known = view.value[np.isfinite(view.value)]
    low, high = float(known.min(initial=0.0)), float(known.max(initial=0.0))
    if math.isfinite(view.scale.low):
        low = view.scale.low
    if math.isfinite(view.scale.high):
        high = view.scale.high
    if high > low:
        return (low, high)
    return (low, low + 1.0)
