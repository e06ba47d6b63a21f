"""The pictures and the animation of the README, taken of the window as it is.

``python -m tests.look.readme_pictures FOLDER`` opens the demo in a real window, goes through the
story of the README as a user does, runs what the pictures of the methods show, and writes all of
them into FOLDER. It takes some minutes; copy what is good to ``.github``.
"""

from __future__ import annotations

import argparse
import io
import os
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

from PIL import Image
from PySide6.QtCore import QBuffer, QIODevice
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QWidget

from robgui.core.execution.registry import analyses
from robgui.core.view import Film
from robgui.gui.app.app import application, leave, open_window
from robgui.gui.show.presentation import Presentation
from robgui.report.drawing.film import save_film
from tests.look import shown
from tests.look.seen import Seen

SIZE = (1366, 768)
#: The animation: its width, and the milliseconds of a frame of something that moves.
WIDTH, MOVING = 1000, 120
PATIENCE = 900.0
#: Whose panel is the picture of a method, and of which file.
METHODS = {
    "zonnscan": "zonnscan",
    "feature_game": "feature-game",
    "deepinspect": "deepinspect",
    "last_particle": "last-particle",
}
#: What the overview is filled with.
FIRST_LOOK = (
    *("zonnscan", "semantic_map", "deepinspect", "last_particle", "accuracy"),
    *("tolerance", "corruptions", "pipeline_audit"),
)
#: Settings that make the runs of the pictures short.
SHORT: dict[str, dict[str, object]] = {
    **shown.SHORT,
    "zonnscan": {"samples": 128, "radii": (0.02, 0.05, 0.1, 0.15, 0.2, 0.3, 0.4, 0.5, 0.6)},
}
#: The input that the demo opens with.
SCENE = 141


class Filming:
    """A window and the frames taken of it so far.

    Args:
        folder: Where the workspace and the pictures go.
    """

    def __init__(self, folder: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self.folder = folder
        application()
        self.window = open_window(folder / "demo.robgui")
        self.window.resize(*SIZE)
        self.window.show()
        self.frames: list[tuple[Image.Image, int]] = []
        store = self.window.store
        self.wait(lambda: bool(store.analyses) and store.history.workspace is not None)

    def wait(self, until: Callable[[], bool], what: str = "the window") -> None:
        """Runs the event loop until something holds."""
        end = time.monotonic() + PATIENCE
        while not until():
            if time.monotonic() > end:
                raise SystemExit(f"Waited in vain for {what}.")
            QTest.qWait(10)

    def settle(self) -> None:
        """Waits for pictures that are on their way, or asked for by what has just been laid out."""
        store = self.window.store
        for _ in range(shown.STILL):
            QTest.qWait(150)
            self.wait(lambda: not store.busy and not store.pictures.busy)

    def take(self, milliseconds: int, widget: QWidget | None = None) -> None:
        """A frame that stays so long."""
        self.frames.append((self._small(picture_of(widget or self.window)), milliseconds))

    def film(self, seconds: float, widget: QWidget | None = None) -> None:
        """What moves, for so many seconds."""
        for _ in range(round(seconds * 1000 / MOVING)):
            self.take(MOVING, widget)
            QTest.qWait(MOVING)

    def until(self, done: Callable[[], bool], most: int) -> None:
        """What moves until something holds: at most so many frames, evenly over it."""
        taken: list[Image.Image] = []
        pause, began = MOVING, time.monotonic()
        while not done() and time.monotonic() - began < PATIENCE:
            taken.append(self._small(picture_of(self.window)))
            if len(taken) > 2 * most:  # it takes longer: every other frame is enough
                taken, pause = taken[::2], 2 * pause
            QTest.qWait(pause)
        for image in taken[:: max(1, len(taken) // most)][:most]:
            self.frames.append((image, MOVING))

    @staticmethod
    def _small(image: Image.Image) -> Image.Image:
        high = round(WIDTH * SIZE[1] / SIZE[0])
        return image.resize((WIDTH, high), Image.Resampling.LANCZOS)

    def save(self, name: str, widget: QWidget) -> None:
        """A picture of few colours."""
        image = picture_of(widget).quantize(200, dither=Image.Dither.NONE)
        image.save(self.folder / f"{name}.png", optimize=True)


def picture_of(widget: QWidget) -> Image.Image:
    """A widget as it is on the screen."""
    buffer = QBuffer()
    buffer.open(QIODevice.OpenModeFlag.WriteOnly)
    widget.grab().save(buffer, "PNG")
    return Image.open(io.BytesIO(bytes(buffer.data().data()))).convert("RGB")


def story(filming: Filming) -> None:
    """From the first page to the failure, the verdict of all methods, the wall and the slides."""
    window, store = filming.window, filming.window.store
    window.go_to(0)
    filming.settle()
    filming.take(1200)
    window.welcome.button("start_demo").click()
    filming.wait(lambda: window.run_pane.run.isEnabled() and store.selection.input == SCENE)
    filming.settle()
    filming.take(900)
    panel = window.panel("feature_game")
    assert panel is not None
    window.run_pane.run.click()
    filming.until(panel.found.isVisible, most=12)
    filming.wait(lambda: not store.runner.busy, "the game")
    filming.settle()
    filming.take(1000)
    panel.found.click()
    view = window.findings.view
    filming.wait(lambda: view.pair.picture.pair is not None)
    filming.film(2.4)
    window.go_to(1)
    filming.take(500)
    for name in FIRST_LOOK:
        look(filming, name)
    filming.take(1800)
    filming.save("overview", window)
    window.show_findings()
    filming.settle()
    filming.take(1800)
    filming.save("findings", window)
    slides(filming)


def look(filming: Filming, name: str) -> None:
    """What another method says of the same input, shortly; its card comes to life."""
    window, store = filming.window, filming.window.store
    window.show_panel(name)
    store.params_offered.emit(name, SHORT[name])
    filming.wait(lambda: not store.busy)
    window.run_pane.run.click()
    window.go_to(1)
    filming.wait(lambda: store.runner.busy, name)
    filming.until(lambda: not store.runner.busy, most=3)
    filming.settle()
    filming.take(300)


def slides(filming: Filming) -> None:
    """The story as the audience sees it."""
    stage = Presentation(filming.window.store, filming.window)
    stage.toggle()
    stage.showNormal()
    while not stage.slides or stage.width() != SIZE[0]:
        stage.resize(*SIZE)
        QTest.qWait(20)
    for place in range(len(stage.slides)):
        stage.go(place)
        filming.settle()
        if stage.slides[place].slide.pair is not None:
            filming.film(1.2, stage)
        filming.take(1100, stage)
    stage.close()


def methods(filming: Filming) -> None:
    """The panel of each method on its demo, and regions as they grow."""
    window = filming.window
    seen = Seen(filming.folder, window, filming.wait)
    for name in (*METHODS, "semantic_regions"):
        known = analyses()[name]
        assert known.demo is not None
        seen.run(known, replace(known.demo, params={**known.demo.params, **SHORT.get(name, {})}))
        filming.settle()
        panel = window.panel(name)
        assert panel is not None
        if name in METHODS:
            filming.save(METHODS[name], panel)
            continue
        film = next(view for view in panel.views() if isinstance(view, Film))
        save_film(film, filming.folder / "semantic.gif", title=known.title)


def animation(frames: list[tuple[Image.Image, int]]) -> Iterator[tuple[Image.Image, int]]:
    """The frames without those that show the same as the one before, which stays longer."""
    held, shown = frames[0]
    for image, milliseconds in frames[1:]:
        if image.tobytes() == held.tobytes():
            shown += milliseconds
        else:
            yield held, shown
            held, shown = image, milliseconds
    yield held, shown


def main() -> None:
    """Takes every picture."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    folder = parser.parse_args().folder.resolve()
    os.environ["ROBGUI_CONFIG"] = str(folder / "settings.json")
    filming = Filming(folder)
    try:
        story(filming)
        kept = list(animation(filming.frames))
        first, *rest = (image for image, _ in kept)
        first.save(
            folder / "story.webp",
            save_all=True,
            append_images=rest,
            duration=[milliseconds for _, milliseconds in kept],
            quality=70,
            method=4,
            loop=0,
        )
        print(f"story.webp: {sum(shown for _, shown in kept) / 1000:.1f} s, {len(kept)} frames")
        methods(filming)
    finally:
        leave(filming.window, 0)


if __name__ == "__main__":
    main()
