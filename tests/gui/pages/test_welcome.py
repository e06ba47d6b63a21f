"""The welcome page is whole at every size, with and without recent work."""

from __future__ import annotations

from pathlib import Path

import pytest
from PySide6.QtCore import QPoint
from PySide6.QtWidgets import QApplication

from robgui import resources
from robgui.core.execution.method import methods
from robgui.gui.app.app import application
from robgui.gui.app.theme import theme
from robgui.gui.app.work_pictures import picture_path
from robgui.gui.pages.start.welcome import Welcome
from robgui.gui.pages.start.work_card import WorkCard
from robgui.gui.widgets.elided import ElidedLink

#: What a window of 1366 × 768 and of 2560 × 1440 leaves to its page, and the size of the text.
SIZES = {
    "1366": (1254, 690, 1.0),
    "2560": (2450, 1340, 1.0),
    "150%": (1750, 960, 1.5),
    "200%": (2350, 1310, 2.0),
}


@pytest.fixture
def large():
    """Sets the size of all text; it is as usual afterwards."""
    application()
    usual = QApplication.font()

    def set_size(factor: float) -> None:
        font = QApplication.font()
        font.setPointSizeF(usual.pointSizeF() * factor)
        QApplication.setFont(font)
        theme.apply(theme.dark)

    yield set_size
    QApplication.setFont(usual)
    theme.apply(False)


@pytest.fixture
def page(qtbot):
    application()
    made = Welcome()
    qtbot.addWidget(made)
    return made


@pytest.fixture
def work(tmp_path, monkeypatch):
    """Workspaces worked with lately, each with a picture; the first is open."""
    monkeypatch.setenv("ROBGUI_CONFIG", str(tmp_path / "settings.json"))
    paths = [tmp_path / f"work{number}.robgui" for number in range(4)]
    for path in paths:
        picture = picture_path(path)
        picture.parent.mkdir(exist_ok=True)
        picture.write_bytes(resources.path("welcome", "after.png").read_bytes())
        picture.with_suffix(".txt").write_text("3 runs, 2 findings")
    return tuple(map(str, paths))


def lowest(page) -> float:
    """How far down the page its last words are."""
    labels = [page.steps, page.lately, page.questions]
    ends = [w.mapTo(page, QPoint(0, w.height())).y() for w in labels if w.isVisible()]
    return max(ends) / page.height()


@pytest.mark.parametrize("recent", [False, True], ids=["first start", "recent work"])
@pytest.mark.parametrize("size", SIZES)
def test_the_page_is_whole_and_no_third_of_it_is_empty(
    qtbot, page, large, work, tmp_path, size, recent
):
    width, height, text = SIZES[size]
    large(text)
    page.resize(width, height)
    if recent:
        page.show_work(work)
        page.show_recent((str(tmp_path / "net.onnx"),))
    with qtbot.waitExposed(page):
        page.show()
    qtbot.waitUntil(lambda: page.widget().height() == page.viewport().height(), timeout=5_000)
    assert 0.85 < lowest(page) <= 1, "the lower third says something"
    assert page.picture.height() > page.height() / 3
    assert page.lately.isVisible() == recent
    if not recent:
        assert page.questions.isVisible()


def test_recent_work_and_long_folders_never_widen_the_page(qtbot, page, large, work):
    large(2.0)
    page.resize(1250, 700)
    page.show_work(work)
    page.show_recent((f"/{'a folder with a long name/' * 6}net.onnx",))
    with qtbot.waitExposed(page):
        page.show()
    (link,) = page.lately.findChildren(ElidedLink)
    qtbot.waitUntil(lambda: "net.onnx" in link.text())
    assert not page.horizontalScrollBar().maximum() and link.toolTip().count("folder") == 6


def test_words_are_larger_in_a_large_window(qtbot, page):
    sizes = []
    page.show()
    for width, height, _ in (SIZES["1366"], SIZES["2560"]):
        page.resize(width, height)
        sizes.append(page.button("start_demo").font().pointSizeF())
    assert sizes[1] > 1.3 * sizes[0]


def test_each_question_leads_to_its_method(qtbot, page):
    names = [button.text() for _, button, _ in page.questions.cells]
    assert names == [method.title for method in methods()]
    with qtbot.waitSignal(page.wants_method) as asked:
        page.questions.cells[2][1].click()
    assert asked.args == [2]


@pytest.mark.parametrize("text", [1.0, 1.5, 2.0])
def test_the_picture_of_recent_work_grows_with_the_text(qtbot, large, work, tmp_path, text):
    large(text)
    card = WorkCard(Path(work[0]))
    qtbot.addWidget(card)
    card.resize(card.sizeHint())
    image = card.grab().toImage()
    sky = [
        y
        for y in range(image.height())
        if image.pixelColor(image.width() // 2, y).saturation() > 40
    ]
    assert max(sky) - min(sky) > 80 * text
