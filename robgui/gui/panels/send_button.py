"""Send to: the inputs on show in one panel, handed to another analysis."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtWidgets import QMenu, QPushButton

from robgui.gui.app.theme import icon, theme
from robgui.gui.widgets.plain import set_tip

if TYPE_CHECKING:
    from robgui.core.offer import Offer
    from robgui.gui.panels.panel import Panel
    from robgui.gui.state.sending import Sending, SendTarget

MANY_AT_ONCE = "Analyses of many inputs"
ONE_BY_ONE = "Analyses of one of them"


class SendButton(QPushButton):
    """Opens a menu of what the panel offers, and to whom; hidden while it offers nothing."""

    def __init__(self, panel: Panel) -> None:
        super().__init__("Send to")
        self._panel = panel
        self.setToolTip("Look at what was found here with another analysis")
        menu = QMenu(self)
        # Filled when it opens: targets depend on the models and data that are open by then.
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
        if request is not None:
            sending = panel.store.sending
            fill(
                self.menu(),
                sending,
                panel.offers(),
                panel.analysis.name,
                lambda it, name: sending.send(it, name, request, panel.run_id),
            )

    def _tint(self) -> None:
        self.setIcon(icon("forward"))


def fill(
    menu: QMenu,
    sending: Sending,
    offers: Sequence[Offer],
    analysis: str,
    send: Callable[[Offer, str], None],
) -> None:
    """The analyses that what ``analysis`` offers can be sent to.

    With several offers, one submenu each.

    An input of the data goes anywhere but back to the analysis that shows it.
    """
    for offer in offers:
        if len(offers) == 1:
            place = menu
        else:
            place = menu.addMenu(offer.title)
        if len(offers) == 1:
            place.addSection(offer.title)
        known = offer.inputs is None and len(offer.names) == 1
        targets = [
            target
            for target in sending.targets(len(offer.names))
            if not known or target.name != analysis
        ]
        list_targets(place, targets, partial(send, offer))


def list_targets(menu: QMenu, targets: Sequence[SendTarget], send: Callable[[str], None]) -> None:
    """First those that suit the number of inputs, then the others in a submenu.

    What cannot be done is grey and says why.
    """
    # Qt hides the tooltips of menus unless asked, and here they carry the reason of a grey entry.
    menu.setToolTipsVisible(True)
    for target in targets:
        if target.suits:
            _add(menu, target, send)
    others = [target for target in targets if not target.suits]
    if others:
        more = menu.addMenu(
            ONE_BY_ONE if any(not target.reason for target in others) else MANY_AT_ONCE
        )
        more.setToolTipsVisible(True)
        for target in others:
            _add(more, target, send)


def _add(menu: QMenu, target: SendTarget, send: Callable[[str], None]) -> None:
    action = menu.addAction(target.title)
    action.setEnabled(not target.reason)
    set_tip(action, target.reason or target.question)
    action.triggered.connect(lambda: send(target.name))
