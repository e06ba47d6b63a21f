"""The partial game tree as a table that unfolds: visits, reward and best severity of every move."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from PySide6.QtCore import QAbstractItemModel, QModelIndex, QPersistentModelIndex, QSignalBlocker, Qt, Signal
from PySide6.QtWidgets import QAbstractItemView, QHeaderView, QTreeView

from robgui.core.text.words import number
from robgui.gui.widgets.plain import tip

if TYPE_CHECKING:
    from robgui.analyses.feature_game import Tree

AnyIndex = QModelIndex | QPersistentModelIndex
COLUMNS = ("Move", "Visits", "Reward", "Severity")
#: A move is known by what it does: keypoint, pixel, value.
Move = tuple[int, ...]


class GameTree(QTreeView):
    """First moves at the top, most visited first; each unfolds into the answers that were tried.

    Signals:
        pointed: ``(column, row)`` of the pixel that the chosen move changes, or of its keypoint.
    """

    pointed = Signal(int, int)

    def __init__(self) -> None:
        super().__init__()
        self._model = TreeModel()
        self._unfolded: set[tuple[Move, ...]] = set()
        self.setModel(self._model)
        self.setAccessibleName("Game tree: visits and reward of each move")
        self.setUniformRowHeights(True)
        self.setAlternatingRowColors(True)
        self.setSelectionMode(QAbstractItemView.SelectionMode.SingleSelection)
        self.setVerticalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        self.header().setSectionResizeMode(QHeaderView.ResizeMode.ResizeToContents)
        self.header().setStretchLastSection(False)
        self.header().setSectionResizeMode(0, QHeaderView.ResizeMode.Stretch)
        self.expanded.connect(lambda index: self._unfolded.add(self._model.path(index.internalId())))
        self.collapsed.connect(lambda index: self._unfolded.discard(self._model.path(index.internalId())))
        self.selectionModel().currentRowChanged.connect(self._chosen)

    def show_tree(self, tree: Tree, keypoints: np.ndarray) -> None:
        """Shows another tree; what is unfolded and chosen stays so."""
        if tree is self._model.tree:
            return
        chosen = self._model.path(self.currentIndex().internalId()) if self.currentIndex().isValid() else None
        place = self.verticalScrollBar().value()
        with QSignalBlocker(self.selectionModel()):
            self._model.show(tree, keypoints)
            for path in sorted(self._unfolded, key=len):
                if (index := self._model.find(path)).isValid():
                    self.expand(index)
            if chosen is not None and (index := self._model.find(chosen)).isValid():
                self.setCurrentIndex(index)
        self.verticalScrollBar().setValue(place)

    def forget(self) -> None:
        """Another game begins: nothing is unfolded."""
        self._unfolded.clear()

    def _chosen(self, index: QModelIndex) -> None:
        if index.isValid() and (pixel := self._model.pixel(index.internalId())) is not None:
            self.pointed.emit(*pixel)


class TreeModel(QAbstractItemModel):
    """Rows of a Tree; the children of a node are looked up when it is unfolded, not before."""

    def __init__(self) -> None:
        super().__init__()
        self.tree: Tree | None = None
        self._keypoints = np.zeros((0, 4))
        self._children: dict[int, list[int]] = {}

    def show(self, tree: Tree, keypoints: np.ndarray) -> None:
        """Shows this tree."""
        self.beginResetModel()
        self.tree, self._keypoints, self._children = tree, keypoints, {}
        self.endResetModel()

    def children_of(self, node: int) -> list[int]:
        """Rows of the children of a node, most visited first."""
        if self.tree is None:
            return []
        if node not in self._children:
            rows = np.flatnonzero(self.tree.parent == node)
            self._children[node] = rows[np.argsort(-self.tree.visits[rows], kind="stable")].tolist()
        return self._children[node]

    def path(self, node: int) -> tuple[Move, ...]:
        """The moves from the root to a node, which name it in every later tree too."""
        moves: list[Move] = []
        while self.tree is not None and node > 0:
            moves.append(self._move(node))
            node = int(self.tree.parent[node])
        return tuple(reversed(moves))

    def find(self, path: Sequence[Move]) -> QModelIndex:
        """The node that these moves lead to; an invalid index when the tree does not have it."""
        node, row = 0, -1
        for move in path:
            rows = self.children_of(node)
            row = next((place for place, child in enumerate(rows) if self._move(child) == move), -1)
            if row < 0:
                return QModelIndex()
            node = rows[row]
        return self.createIndex(row, 0, node) if path else QModelIndex()

    def pixel(self, node: int) -> tuple[int, int] | None:
        """The pixel of a move, or the middle of its keypoint."""
        tree = self.tree
        if tree is None or not 0 < node < len(tree.parent):
            return None
        if tree.pixel[node, 0] >= 0:
            return int(tree.pixel[node, 0]), int(tree.pixel[node, 1])
        x, y = self._keypoints[tree.keypoint[node], :2]
        return round(float(x)), round(float(y))

    def index(self, row: int, column: int, parent: AnyIndex = QModelIndex()) -> QModelIndex:
        rows = self.children_of(self._node(parent))
        return self.createIndex(row, column, rows[row]) if 0 <= row < len(rows) and 0 <= column < len(COLUMNS) else QModelIndex()

    def parent(self, index: AnyIndex) -> QModelIndex:  # type: ignore[override]  # QObject.parent() has no argument
        node = self._node(index)
        above = int(self.tree.parent[node]) if self.tree is not None and 0 < node < len(self.tree.parent) else 0
        if self.tree is None or above <= 0:
            return QModelIndex()
        return self.createIndex(self.children_of(int(self.tree.parent[above])).index(above), 0, above)

    def rowCount(self, parent: AnyIndex = QModelIndex()) -> int:
        return 0 if parent.column() > 0 else len(self.children_of(self._node(parent)))

    def hasChildren(self, parent: AnyIndex = QModelIndex()) -> bool:
        return self.rowCount(parent) > 0

    def columnCount(self, parent: AnyIndex = QModelIndex()) -> int:
        return len(COLUMNS)

    def headerData(self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        if orientation is Qt.Orientation.Horizontal and role == Qt.ItemDataRole.DisplayRole:
            return COLUMNS[section]
        if role == Qt.ItemDataRole.TextAlignmentRole and section:
            return Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter
        return None

    def data(self, index: AnyIndex, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        tree, node, column = self.tree, self._node(index), index.column()
        if tree is None or not 0 < node < len(tree.parent):
            return None
        if role == Qt.ItemDataRole.TextAlignmentRole and column:
            return Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter
        if role not in (Qt.ItemDataRole.DisplayRole, Qt.ItemDataRole.ToolTipRole):
            return None
        values = (self._words(node), f"{int(tree.visits[node]):,}", number(float(tree.reward[node])), number(float(tree.best[node])))
        return tip(values[column]) if role == Qt.ItemDataRole.ToolTipRole else values[column]

    def _words(self, node: int) -> str:
        assert self.tree is not None
        x, y = self.tree.pixel[node]
        if x >= 0:
            value = self.tree.value[node]
            return f"pixel {x}, {y} becomes {_value_words(value)}"
        keypoint = int(self.tree.keypoint[node])
        a, b, size, _ = self._keypoints[keypoint]
        return f"keypoint {keypoint + 1} at {a:.0f}, {b:.0f}, {size:.1f} px wide"

    def _move(self, node: int) -> Move:
        assert self.tree is not None
        return (int(self.tree.keypoint[node]), *self.tree.pixel[node].tolist(), *self.tree.value[node].tolist())

    @staticmethod
    def _node(index: AnyIndex) -> int:
        return index.internalId() if index.isValid() else 0


def _value_words(value: np.ndarray) -> str:
    """``white``, ``black``, a grey value, or red, green and blue."""
    if (value == value[0]).all():
        return {0: "black", 255: "white"}.get(int(value[0]), f"grey {int(value[0])}")
    return "#" + "".join(f"{int(part):02x}" for part in value)
