"""The wall of findings: what it holds, and how one of them is painted."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import (
    QAbstractListModel,
    QEvent,
    QModelIndex,
    QObject,
    QPersistentModelIndex,
    QPointF,
    QRect,
    QSize,
    Qt,
)
from PySide6.QtGui import QColor, QFontMetrics, QMouseEvent, QPainter, QPen, QPixmap
from PySide6.QtWidgets import QApplication, QStyle, QStyledItemDelegate, QStyleOptionViewItem

from robgui.core.finding import StoredFinding
from robgui.core.finding_groups import Group, input_in_words
from robgui.core.text.words import severity as severity_in_words
from robgui.gui.app.theme import icon, theme
from robgui.gui.docks.thumbnails import Thumbnails, fit
from robgui.gui.pages.findings.painting import draw_severity, wrapped
from robgui.gui.widgets.pair.chips import chip_height, confusion_words, draw_confusion
from robgui.gui.widgets.plain import tip

if TYPE_CHECKING:
    from robgui.core.execution.request import Reference
    from robgui.core.execution.run import Run
    from robgui.gui.state.store import Store

AnyIndex = QModelIndex | QPersistentModelIndex
PAD = 12
#: Width of a card in characters, and height of its picture over its width: two squares and a gap.
_CHARACTERS, _RATIO = 44, 0.48
#: Lines of the title.
_LINES = 2


class WallModel(QAbstractListModel):
    """The findings that pass the filter, in the chosen order.

    Attributes:
        rows: The finding that each card shows.
        groups: Those that each card stands for.
        models: Which models a finding speaks of, by its number.
    """

    def __init__(self, store: Store, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._store = store
        self.rows: list[StoredFinding] = []
        self.groups: list[Group] = []
        self.models: Mapping[int, Sequence[Reference]] = {}

    def show(self, groups: list[Group]) -> None:
        """Shows these; when only notes and stars changed, the cards stay."""
        rows = [group.lead for group in groups]
        # A reset would scroll the wall back to its top at every star.
        if [row.id for row in rows] == [row.id for row in self.rows]:
            self.rows, self.groups = rows, groups
            if rows:
                self.dataChanged.emit(self.index(0, 0), self.index(len(rows) - 1, 0))
            return
        self.beginResetModel()
        self.rows, self.groups = rows, groups
        self.endResetModel()

    def row_of(self, finding: int | None) -> int:
        """Where a finding stands; -1 when it is not shown."""
        return next((row for row, item in enumerate(self.rows) if item.id == finding), -1)

    def rowCount(self, parent: AnyIndex = QModelIndex()) -> int:
        # Qt also asks for the rows within a row; a list has none.
        if parent.isValid():
            return 0
        return len(self.rows)

    @property
    def writable(self) -> bool:
        """Whether notes and stars can be kept."""
        workspace = self._store.history.workspace
        return workspace is not None and not workspace.read_only

    def data(self, index: AnyIndex, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        if not index.isValid():
            return None
        finding, group = self.rows[index.row()], self.groups[index.row()]
        if role == Qt.ItemDataRole.DisplayRole:
            return finding.title
        if role == Qt.ItemDataRole.AccessibleTextRole:
            pair = finding.confusion
            if pair is not None:
                chip = f"{confusion_words(*pair)}. "
            else:
                chip = ""
            if finding.starred:
                star = "Starred. "
            else:
                star = ""
            weight = severity_in_words(group.severity)
            said = f"{star}{chip}{finding.title}. {self.owner(finding)}. Severity {weight}."
            return f"{said} {finding.note}".strip()
        if role == Qt.ItemDataRole.ToolTipRole:
            return tip(self._tip(finding, group))
        return None

    def _tip(self, finding: StoredFinding, group: Group) -> str:
        how = self._store.history.harm.words(finding)
        if group.members[1:]:
            alike = f"\n{len(group.members):,} alike; the worst is shown."
        else:
            alike = ""
        if finding.note:
            note = f"\nNote: {finding.note}"
        else:
            note = ""
        what = f"{finding.title}\n{self.owner(finding)}\n{finding.kind}."
        return f"{what} {how}{self._means(finding)}{alike}{note}"

    def owner(self, finding: StoredFinding) -> str:
        """On which input of which data which model fails; the input first, where it is one."""
        names = ", ".join(one.name for one in self.models.get(finding.id, ()))
        run = self._run(finding)
        if run is None or run.request.dataset is None:
            return names
        if where := input_in_words(finding, run.request):
            return f"{where}: {names}"
        return f"{names} on {run.request.dataset.name}"

    def _means(self, finding: StoredFinding) -> str:
        """How the analysis that found it computes its severity."""
        run = self._run(finding)
        if run is None:
            known = None
        else:
            known = self._store.analyses.get(run.request.analysis)
        if known is not None and known.severity_means:
            return f" {known.severity_means}"
        return ""

    def _run(self, finding: StoredFinding) -> Run | None:
        return next((one for one in self._store.history.runs if one.id == finding.run_id), None)

    def turn_star(self, row: int) -> None:
        """Sets or takes the star; it is seen at once, the workspace follows."""
        if not self.writable:
            return
        finding = self.rows[row]
        # The workspace is written on another thread: waiting for it, a click would seem to do
        # nothing.
        self.rows[row] = replace(finding, starred=not finding.starred)
        self.dataChanged.emit(self.index(row, 0), self.index(row, 0))
        self._store.navigation.change_finding(finding, starred=not finding.starred)


class WallDelegate(QStyledItemDelegate):
    """Paints a card: the pair, who is taken for whom, the title, the severity and the star.

    Attributes:
        width: Of every card; the wall shares its width among the columns.
    """

    def __init__(self, thumbnails: Thumbnails, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._thumbnails = thumbnails
        self.width = self.narrowest()
        self._starred = False

    def star_pressed(self) -> bool:
        """Whether the last click was on a star, which opens nothing; asked once."""
        pressed, self._starred = self._starred, False
        return pressed

    @staticmethod
    def narrowest() -> int:
        """The smallest width of a card; grows with the font."""
        return QFontMetrics(QApplication.font()).averageCharWidth() * _CHARACTERS

    def sizeHint(self, option: QStyleOptionViewItem, index: AnyIndex) -> QSize:
        line = QFontMetrics(QApplication.font()).height()
        chip = round(chip_height(QApplication.font()))
        words = chip + 8 + (_LINES + 1) * line + 8 + line
        return QSize(self.width, self._picture_height() + words + 3 * PAD + 8)

    def _picture_height(self) -> int:
        return round((self.width - 2 * PAD - 8) * _RATIO)

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: AnyIndex) -> None:
        model = index.model()
        if not isinstance(model, WallModel) or index.row() >= len(model.rows):
            return
        finding, group = model.rows[index.row()], model.groups[index.row()]
        card: QRect = option.rect.adjusted(4, 4, -4, -4)
        painter.save()
        painter.setFont(QApplication.font())
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        self._card(painter, card, option)
        inner = card.adjusted(PAD, PAD, -PAD, -PAD)
        picture = QRect(inner.left(), inner.top(), inner.width(), self._picture_height())
        self._picture(painter, picture, finding)
        below = inner.adjusted(0, picture.height() + PAD, 0, 0)
        self._words(painter, below, group, model.owner(finding))
        self._star(painter, star_place(card), finding)
        painter.restore()

    def _card(self, painter: QPainter, card: QRect, option: QStyleOptionViewItem) -> None:
        chosen = bool(option.state & QStyle.StateFlag.State_Selected)
        hover = bool(option.state & QStyle.StateFlag.State_MouseOver)
        if chosen:
            edge = theme.colours.accent
        else:
            edge = theme.colours.line
        painter.setBrush(QColor(theme.colours.raised if hover else theme.colours.surface))
        painter.setPen(QPen(QColor(edge), 2 if chosen else 1))
        painter.drawRoundedRect(card, 8, 8)

    def _picture(self, painter: QPainter, place: QRect, finding: StoredFinding) -> None:
        if finding.has_picture:
            found = self._thumbnails.get(finding.id)
        else:
            found = "no picture"
        if isinstance(found, QPixmap):
            target = fit(found.size(), place)
            smooth = target.width() < found.width()
            painter.setRenderHint(QPainter.RenderHint.SmoothPixmapTransform, smooth)
            painter.drawPixmap(target, found)
            return
        painter.setPen(QColor(theme.colours.quiet))
        if isinstance(found, str):
            words = "no picture"
        else:
            words = "…"
        painter.drawText(place, Qt.AlignmentFlag.AlignCenter, words)

    def _words(self, painter: QPainter, place: QRect, group: Group, owner: str) -> None:
        finding = group.lead
        metrics = painter.fontMetrics()
        line, chip = metrics.height(), round(chip_height(painter.font()))
        pair = finding.confusion
        if pair is not None:
            draw_confusion(painter, QPointF(place.topLeft()), *pair, widest=place.width())
        painter.setPen(QColor(theme.colours.text))
        title = QRect(place.left(), place.top() + chip + 8, place.width(), _LINES * line)
        wrapped(painter, title, finding.title, _LINES)
        painter.setPen(QColor(theme.colours.quiet))
        whose = QRect(place.left(), title.bottom() + 1, place.width(), line)
        shown = metrics.elidedText(owner, Qt.TextElideMode.ElideMiddle, whose.width())
        painter.drawText(whose, Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter, shown)
        foot = QRect(place.left(), whose.bottom() + 8, place.width(), line)
        if len(group.members) > 1:
            many = f", {len(group.members):,} alike"
        else:
            many = ""
        draw_severity(painter, foot, group.severity, f"{finding.kind}{many}")

    def _star(self, painter: QPainter, place: QRect, finding: StoredFinding) -> None:
        painter.setPen(Qt.PenStyle.NoPen)
        ground = QColor(theme.colours.surface)
        # The star lies over the picture, whose colours can be anything.
        ground.setAlphaF(0.85)
        painter.setBrush(ground)
        painter.drawEllipse(place)
        if finding.starred:
            name = "star-filled"
            tint = theme.colours.accent
        else:
            name = "star"
            tint = theme.colours.text
        icon(name, tint).paint(painter, place.adjusted(5, 5, -5, -5))

    def editorEvent(
        self, event: QEvent, model: Any, option: QStyleOptionViewItem, index: AnyIndex
    ) -> bool:
        if isinstance(event, QMouseEvent) and star_place(
            option.rect.adjusted(4, 4, -4, -4)
        ).contains(event.position().toPoint()):
            if event.type() == QEvent.Type.MouseButtonRelease:
                # The view emits clicked all the same; whoever hears it asks star_pressed.
                self._starred = True
                model.turn_star(index.row())
            return True
        return super().editorEvent(event, model, option, index)


def star_place(card: QRect) -> QRect:
    """Where the star of a card is, in its upper right corner."""
    side = QFontMetrics(QApplication.font()).height() + 12
    # Its side grows with the font, so the target does too.
    return QRect(card.right() - side - 4, card.top() + 4, side, side)
