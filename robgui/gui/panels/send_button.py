"""Send to: the inputs on show in one panel, handed to another analysis."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from PySide6.QtWidgets import QMenu, QPushButton

from robgui.gui.theme import icon, theme

if TYPE_CHECKING:
    from robgui.gui.panels.panel import Panel
    from robgui.gui.sending import Offer, Sending


class SendButton(QPushButton):
    """Opens a menu of what the panel offers, and to whom; hidden while it offers nothing."""

    def __init__(self, panel: Panel) -> None:
        super().__init__("Send to")
        self._panel = panel
        self.setToolTip("Look at what was found here with another analysis")
        menu = QMenu(self)
        menu.aboutToShow.connect(self._fill)
        self.setMenu(menu)
        theme.changed.connect(self._tint)
        self._tint()
        self.hide()

    def refresh(self) -> None:
        """Shows itself when there is something to send."""
        self.setVisible(bool(self._panel.offers()))

    def _fill(self) -> None:
        panel = self._panel
        request = panel.request
        self.menu().clear()
        sending = panel.store.sending
        if request is not None:
            fill(self.menu(), sending, panel.offers(), lambda offer, name: sending.send(offer, name, request, panel.run_id))

    def _tint(self) -> None:
        self.setIcon(icon("forward"))


def fill(menu: QMenu, sending: Sending, offers: Sequence[Offer], send: Callable[[Offer, str], None]) -> None:
    """One entry per analysis; with several offers, one submenu each."""
    targets = sending.targets()
    for offer in offers:
        place = menu if len(offers) == 1 else menu.addMenu(offer.title)
        if len(offers) == 1:
            place.addSection(offer.title)
        for name, title in targets.items():
            place.addAction(title).triggered.connect(lambda _=False, offer=offer, name=name: send(offer, name))
