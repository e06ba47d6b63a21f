"""CountLine: how many inputs are shown, how many are right, and what was left out."""

from __future__ import annotations

from typing import TYPE_CHECKING

from robgui.core.text.words import count, percent
from robgui.gui.widgets.plain import Label, set_tip

if TYPE_CHECKING:
    from robgui.core.dataset import Dataset


class CountLine(Label):
    """Numbers on one line; remarks about the data are in its tool tip."""

    def __init__(self) -> None:
        super().__init__(wordWrap=True)
        self.setProperty("role", "quiet")
        self.setAccessibleName("How many inputs are shown and how many are right")

    def tell(
        self,
        dataset: Dataset | None,
        shown: int,
        unknown: int,
        right: tuple[float, int] | None,
        *,
        counted: bool = True,
    ) -> None:
        """Counts.

        Args:
            dataset: The data in use; None says nothing.
            shown: Inputs that pass the search.
            unknown: Inputs not yet known to pass or fail.
            right: The accuracy so far, and on how many inputs; None if it is not known.
            counted: Whether that is all it will be known of.
        """
        if dataset is None:
            self.clear()
            self.setToolTip("")
            return
        total = len(dataset)
        parts = [count(total, "input") if shown == total else f"{shown:,} of {total:,} shown"]
        if unknown:
            parts.append(f"{unknown:,} not known yet")
        if right is not None and counted:
            parts.append(f"{percent(right[0])} of {right[1]:,} right")
        elif right is not None:
            # Files are often ordered by class: a share of the first ones says nothing yet.
            parts.append(f"{right[1]:,} of {total:,} answered so far")
        if dataset.skipped:
            parts.append(f"{len(dataset.skipped):,} skipped")
        if dataset.notes:
            parts.append(count(len(dataset.notes), "remark"))
        set_tip(self, "\n".join(filter(None, (*dataset.notes, dataset.left_out()))))
        self.setText(" · ".join(parts))
