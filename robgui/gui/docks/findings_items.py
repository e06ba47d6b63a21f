"""The list of findings: model and painting."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import (
    QAbstractTableModel,
    QEvent,
    QModelIndex,
    QObject,
    QPersistentModelIndex,
    QRect,
    Qt,
)
from PySide6.QtGui import QColor, QPainter, QPixmap
from PySide6.QtWidgets import QLineEdit, QStyle, QStyledItemDelegate, QStyleOptionViewItem, QWidget

from robgui.core.finding import StoredFinding
from robgui.core.finding_groups import Group
from robgui.core.text.words import severity as severity_in_words
from robgui.gui.app.theme import icon, theme
from robgui.gui.docks.runs_items import track_colour
from robgui.gui.docks.thumbnails import Thumbnails, fit
from robgui.gui.widgets.plain import tip

if TYPE_CHECKING:
    from robgui.gui.state.store import Store

AnyIndex = QModelIndex | QPersistentModelIndex
COLUMNS = ("Star", "Picture", "Finding", "Severity", "Note")
STAR, PICTURE, TITLE, SEVERITY, NOTE = range(len(COLUMNS))


class FindingsModel(QAbstractTableModel):
    """The findings that pass the filter, in the chosen order."""

    def __init__(self, store: Store, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._store = store
        self.rows: list[StoredFinding] = []
        self.groups: list[Group] = []

    def show(self, rows: list[StoredFinding], groups: list[Group]) -> None:
        """Shows these, each leading its group; when only notes and stars changed, the rows
        stay.
        """
        self.groups = groups
        if [row.id for row in rows] == [row.id for row in self.rows]:
            self.rows = rows
            self.touch(0, len(rows) - 1)
            return
        self.beginResetModel()
        self.rows = rows
        self.endResetModel()

    def touch(self, first: int, last: int) -> None:
        """Says that these rows look different now."""
        if last >= first:
            self.dataChanged.emit(self.index(first, 0), self.index(last, len(COLUMNS) - 1))

    def row_of(self, finding: int | None) -> int:
        """Where a finding stands; -1 when it is not shown."""
        return next((row for row, item in enumerate(self.rows) if item.id == finding), -1)

    def rowCount(self, parent: AnyIndex = QModelIndex()) -> int:
        return 0 if parent.isValid() else len(self.rows)

    def columnCount(self, parent: AnyIndex = QModelIndex()) -> int:
        return 0 if parent.isValid() else len(COLUMNS)

    def headerData(
        self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole
    ) -> Any:
        if orientation is Qt.Orientation.Horizontal and role == Qt.ItemDataRole.DisplayRole:
            return "" if section in (STAR, PICTURE) else COLUMNS[section]
        return None

    def flags(self, index: AnyIndex) -> Qt.ItemFlag:
        flags = Qt.ItemFlag.ItemIsEnabled | Qt.ItemFlag.ItemIsSelectable
        editable = index.column() == NOTE and self.writable
        return flags | Qt.ItemFlag.ItemIsEditable if editable else flags

    @property
    def writable(self) -> bool:
        """Whether notes and stars can be kept."""
        workspace = self._store.history.workspace
        return workspace is not None and not workspace.read_only

    def data(self, index: AnyIndex, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        if not index.isValid():
            return None
        finding, column = self.rows[index.row()], index.column()
        words = (
            "starred" if finding.starred else "not starred",
            finding.kind,
            finding.title,
            severity_in_words(self.groups[index.row()].severity),
            finding.note,
        )
        if role == Qt.ItemDataRole.EditRole:
            return words[column]
        if role == Qt.ItemDataRole.DisplayRole:
            return words[column] if column in (TITLE, SEVERITY, NOTE) else ""
        if role == Qt.ItemDataRole.AccessibleTextRole:
            return f"{COLUMNS[column]}: {words[column]}"
        if role == Qt.ItemDataRole.ToolTipRole:
            return tip(self._tip(index.row(), column))
        return None

    def _tip(self, row: int, column: int) -> str:
        finding, group = self.rows[row], self.groups[row]
        if column == STAR:
            return "Starred; click to take the star" if finding.starred else "Click to star"
        if column == NOTE:
            return finding.note or "Double-click or press F2 to write a note"
        how = self._store.history.harm.words(finding)
        means = self._means(finding)
        alike = f"\n{len(group.members):,} alike; the worst is shown." if group.members[1:] else ""
        return f"{finding.title}\n{finding.kind}. {how}{means}{alike}"

    def _means(self, finding: StoredFinding) -> str:
        """How the analysis that found it comes to its severity."""
        run = next((one for one in self._store.history.runs if one.id == finding.run_id), None)
        known = None if run is None else self._store.analyses.get(run.request.analysis)
        return f" {known.severity_means}" if known is not None and known.severity_means else ""

    def setData(self, index: AnyIndex, value: Any, role: int = Qt.ItemDataRole.EditRole) -> bool:
        if role != Qt.ItemDataRole.EditRole or index.column() != NOTE:
            return False
        finding, note = self.rows[index.row()], str(value).strip()
        if note != finding.note:
            self._replace(index.row(), replace(finding, note=note))
            self._store.navigation.change_finding(finding, note=note)
        return True

    def turn_star(self, row: int) -> None:
        """Sets or takes the star."""
        finding = self.rows[row]
        if self.writable:
            self._replace(row, replace(finding, starred=not finding.starred))
            self._store.navigation.change_finding(finding, starred=not finding.starred)

    def _replace(self, row: int, finding: StoredFinding) -> None:
        """Shows the change at once; the workspace follows."""
        self.rows[row] = finding
        self.touch(row, row)


class FindingsDelegate(QStyledItemDelegate):
    """Paints star, picture, title with kind, and severity as bar and number."""

    def __init__(self, thumbnails: Thumbnails, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._thumbnails = thumbnails

    def createEditor(
        self, parent: QWidget, option: QStyleOptionViewItem, index: AnyIndex
    ) -> QWidget:
        editor = QLineEdit(parent)
        editor.setAccessibleName("Note")
        editor.setMaxLength(2_000)
        return editor

    def updateEditorGeometry(
        self, editor: QWidget, option: QStyleOptionViewItem, index: AnyIndex
    ) -> None:
        height = editor.sizeHint().height()
        cell: QRect = option.rect
        editor.setGeometry(cell.left(), cell.center().y() - height // 2, cell.width(), height)

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: AnyIndex) -> None:
        model = index.model()
        assert isinstance(model, FindingsModel)
        finding, group = model.rows[index.row()], model.groups[index.row()]
        self.initStyleOption(option, index)
        words, option.text = option.text, ""
        chosen = bool(option.state & QStyle.StateFlag.State_Selected)
        option.widget.style().drawControl(
            QStyle.ControlElement.CE_ItemViewItem, option, painter, option.widget
        )
        colour = QColor(theme.colours.on_accent if chosen else theme.colours.text)
        cell: QRect = option.rect.adjusted(8, 4, -8, -4)
        painter.save()
        painter.setPen(colour)
        match index.column():
            case 0:
                self._star(painter, cell, finding, colour)
            case 1:
                self._picture(painter, cell, finding)
            case 2:
                self._title(painter, cell, group, chosen)
            case 3:
                self._severity(painter, cell, group.severity, colour, chosen)
            case _:
                self._note(painter, cell, words, chosen)
        painter.restore()

    def _star(self, painter: QPainter, cell: QRect, finding: StoredFinding, colour: QColor) -> None:
        size = painter.fontMetrics().height()
        spot = QRect(cell.center().x() - size // 2, cell.center().y() - size // 2, size, size)
        icon("star-filled" if finding.starred else "star", colour.name()).paint(painter, spot)

    def _note(self, painter: QPainter, cell: QRect, words: str, chosen: bool) -> None:
        if not words and not chosen:
            painter.setPen(QColor(theme.colours.quiet))
        painter.drawText(
            cell, Qt.AlignmentFlag.AlignVCenter | Qt.TextFlag.TextWordWrap, words or "add a note"
        )

    def _picture(self, painter: QPainter, cell: QRect, finding: StoredFinding) -> None:
        found = self._thumbnails.get(finding.id) if finding.has_picture else "no picture"
        if isinstance(found, QPixmap):
            target = fit(found.size(), cell)
            painter.setRenderHint(
                QPainter.RenderHint.SmoothPixmapTransform, target.width() < found.width()
            )
            painter.drawPixmap(target, found)
            return
        painter.setPen(QColor(theme.colours.quiet))
        painter.drawText(
            cell,
            Qt.AlignmentFlag.AlignCenter | Qt.TextFlag.TextWordWrap,
            "no picture" if isinstance(found, str) else "…",
        )

    def _title(self, painter: QPainter, cell: QRect, group: Group, chosen: bool) -> None:
        finding = group.lead
        line = painter.fontMetrics().height()
        room = cell.adjusted(0, 0, 0, -line)
        painter.drawText(
            room, Qt.AlignmentFlag.AlignVCenter | Qt.TextFlag.TextWordWrap, finding.title
        )
        painter.setPen(QColor(theme.colours.on_accent if chosen else theme.colours.quiet))
        many = f", {len(group.members):,} alike" if len(group.members) > 1 else ""
        painter.drawText(cell, Qt.AlignmentFlag.AlignBottom, f"{finding.kind}{many}")

    def _severity(
        self, painter: QPainter, cell: QRect, severity: float, colour: QColor, chosen: bool
    ) -> None:
        line = painter.fontMetrics().height()
        top = cell.center().y() - line
        painter.drawText(
            QRect(cell.left(), top, cell.width(), line),
            Qt.AlignmentFlag.AlignLeft,
            severity_in_words(severity),
        )
        bar = QRect(cell.left(), top + line + 4, cell.width(), 6)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(track_colour(chosen))
        painter.drawRoundedRect(bar, 3, 3)
        bar.setWidth(max(6, round(bar.width() * min(1.0, max(0.0, severity)))))
        painter.setBrush(colour if chosen else QColor(theme.colours.accent))
        painter.drawRoundedRect(bar, 3, 3)

    def editorEvent(
        self, event: QEvent, model: Any, option: QStyleOptionViewItem, index: AnyIndex
    ) -> bool:
        if index.column() == STAR and event.type() == QEvent.Type.MouseButtonRelease:
            model.turn_star(index.row())
            return True
        return super().editorEvent(event, model, option, index)
