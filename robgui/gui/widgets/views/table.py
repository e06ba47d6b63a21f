"""Table on the screen: typed columns as wide as their contents, to sort and point at."""

from __future__ import annotations

from robgui.core.view import Table
from robgui.gui.widgets.sheets.sheet import Sheet
from robgui.gui.widgets.views.widget import ViewWidget


class TableView(ViewWidget):
    """Draws a Table; ``chosen`` gives the number of the row clicked, as the view has it."""

    kind = Table

    def build(self) -> None:
        """A table."""
        self.sheet = Sheet("Table", "Nothing to show yet.")
        self.put(self.sheet)
        self.sheet.pointed.connect(self.chosen.emit)

    def draw(self, view: Table) -> None:
        """Takes the new cells; the user's order and choice stay."""
        self.sheet.setAccessibleName(view.title)
        self.sheet.show_table(view)
