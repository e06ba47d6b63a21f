"""A scene's controls: which mesh or input, what varies, where the rest stands, a preview."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QSignalBlocker, QSize
from PySide6.QtGui import QAction, QResizeEvent, QShowEvent
from PySide6.QtWidgets import (
    QBoxLayout,
    QComboBox,
    QFileDialog,
    QHBoxLayout,
    QMenu,
    QPushButton,
    QToolButton,
    QVBoxLayout,
    QWidget,
)

from robgui.analyses.semantic.params import IMAGE
from robgui.analyses.semantic.scene.axes import ranges_of
from robgui.core.text.words import percent
from robgui.gui.panels.semantic.axis_grid import AxisGrid
from robgui.gui.panels.semantic.known_scenes import KnownScenes, scene_words
from robgui.gui.panels.semantic.preview import Looker, Where
from robgui.gui.panels.semantic.seen import ScenePicture
from robgui.gui.panels.semantic.slider import AxisRow, SliderColumn
from robgui.gui.panels.semantic.stage import ElidedLine
from robgui.gui.widgets.plain import set_tip

if TYPE_CHECKING:
    from robgui.analyses.semantic import SceneAxis
    from robgui.analyses.semantic.params import SpaceParams
    from robgui.gui.panels.semantic.preview import PoseView
    from robgui.gui.state.store import Store

#: Everything that means something on one kind of scene only.
_OF_ONE_KIND: dict[str, Any] = {"axes": (), "ranges": {}, "fixed": {}, "step": {}, "starts": ()}


class SceneControls(QWidget):
    """Chooses the scene of one analysis; every change goes into its form.

    Args:
        store: The store.
        analysis: Whose form is written to.
        most: Parameters that may vary at once.
        several: Whether the analysis takes several scenes.
    """

    def __init__(self, store: Store, analysis: str, most: int, several: bool) -> None:
        super().__init__()
        self.store, self.analysis = store, analysis
        self._most, self._several = most, several
        self._params: SpaceParams | None = None
        self._axes: tuple[SceneAxis, ...] = ()
        self._usual: tuple[str, ...] = ()
        self._looker = Looker(store, f"{analysis} scene")
        self._known = KnownScenes()
        self._make()
        for signal in (
            store.params_changed,
            store.selection_changed,
            store.library.models_changed,
            store.library.datasets_changed,
        ):
            signal.connect(self._changed)

    # --- parts ------------------------------------------------------------------------------------

    def _make(self) -> None:
        self.scene_box = QComboBox()
        self.scene_box.setAccessibleName("Scene")
        self.scene_box.setToolTip("What is looked at: the input chosen in the gallery, or a mesh")
        self.scene_box.setMinimumContentsLength(10)
        self.scene_box.setSizeAdjustPolicy(
            QComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon
        )
        self.scene_box.activated.connect(lambda _: self._choose(str(self.scene_box.currentData())))
        self.file = QPushButton(
            "Mesh file …", toolTip="Opens a mesh: OBJ, PLY, STL, OFF, GLB or glTF"
        )
        self.file.clicked.connect(self.ask_file)
        self.more = QToolButton(
            text="Several", popupMode=QToolButton.ToolButtonPopupMode.InstantPopup
        )
        self.more.setToolTip("Maps several meshes in one run, and their mean")
        self._menu = QMenu(self.more)
        self._menu.aboutToShow.connect(self._fill_menu)
        self.more.setMenu(self._menu)
        self.more.setVisible(self._several)
        self.usual = QPushButton("Usual values", toolTip="Every slider back to where it was")
        self.usual.setProperty("role", "link")
        self.usual.clicked.connect(lambda: self._offer(fixed={}))
        self.picture = ScenePicture("The scene as it stands")
        self.caption, self.hint = ElidedLine(), ElidedLine()
        self.hint.set_words(f"Tick what varies (up to {self._most})")
        for label in (self.caption, self.hint):
            label.setProperty("role", "quiet")
        self._sliders = AxisGrid()
        self._sliders.moved.connect(self._moved)
        self._sliders.ticked.connect(self._ticked)
        self._arrange()

    def _arrange(self) -> None:
        buttons = QHBoxLayout()
        buttons.addWidget(self.more)
        buttons.addWidget(self.file, 1)
        self._choose_row = QBoxLayout(QBoxLayout.Direction.LeftToRight)
        self._choose_row.setSpacing(4)
        self._choose_row.addWidget(self.scene_box, 1)
        self._choose_row.addLayout(buttons)
        view = QVBoxLayout()
        view.addWidget(self.picture, 1)
        view.addWidget(self.caption)
        view.addStretch()
        scroll = self._scroll = SliderColumn(self._sliders)
        scroll.setMinimumHeight(self.fontMetrics().height() * 4)
        below = QHBoxLayout()
        below.addWidget(self.hint, 1)
        below.addWidget(self.usual)
        sliders = QVBoxLayout()
        sliders.addLayout(below)
        sliders.addWidget(scroll, 1)
        self._body = QBoxLayout(QBoxLayout.Direction.LeftToRight)
        self._body.setSpacing(16)
        self._body.addLayout(view)
        self._body.addLayout(sliders)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.addLayout(self._choose_row)
        layout.addLayout(self._body, 1)

    def minimumSizeHint(self) -> QSize:
        """Narrow: it arranges itself by the room there is."""
        return QSize(self.fontMetrics().averageCharWidth() * 32, self.fontMetrics().height() * 8)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """In a narrow place the picture stands above the sliders.

        In a wide one they take two columns.
        """
        super().resizeEvent(event)
        wide = event.size().width() > self.fontMetrics().averageCharWidth() * 64
        if wide:
            direction = QBoxLayout.Direction.LeftToRight
        else:
            direction = QBoxLayout.Direction.TopToBottom
        for box in (self._body, self._choose_row):
            box.setDirection(direction)
        self._body.setSpacing(16 if wide else 4)
        self._body.setStretch(0, 2 if wide else 1)
        self._body.setStretch(1, 3 if wide else 2)
        self._place_rows()

    def showEvent(self, event: QShowEvent) -> None:
        """Renders again; nothing is rendered while hidden."""
        super().showEvent(event)
        self._changed()

    # --- what the form says -----------------------------------------------------------------------

    def _changed(self, *what: object) -> None:
        if what and isinstance(what[0], str) and what[0] != self.analysis:
            return
        params: Any = self.store.next_run.params.get(self.analysis)
        if params is not None:
            self._params = params
        if not self.isVisible():
            return
        self._fill_scenes()
        self._show_values()
        self._look()

    @property
    def rows(self) -> dict[str, AxisRow]:
        """The sliders, by the name of their parameter."""
        return self._sliders.rows

    @property
    def scenes(self) -> tuple[str, ...]:
        """The scenes that the form names."""
        params: Any = self._params
        if params is None:
            return ()
        return tuple(params.scenes)

    @property
    def varied(self) -> tuple[str, ...]:
        """Names of the parameters that vary."""
        return (self._params.axes if self._params is not None else ()) or self._usual

    def _fill_scenes(self) -> None:
        scenes = self.scenes
        self._known.add(scenes)
        with QSignalBlocker(self.scene_box):
            self.scene_box.clear()
            for spec, words in self._known.words().items():
                self.scene_box.addItem(words, spec)
            if len(scenes) > 1:
                self.scene_box.addItem(
                    f"{len(scenes)} scenes: {', '.join(scene_words(s) for s in scenes)}", ""
                )
                self.scene_box.setCurrentIndex(self.scene_box.count() - 1)
            elif scenes:
                self.scene_box.setCurrentIndex(self.scene_box.findData(scenes[0]))
        set_tip(self.scene_box, "\n".join(scene_words(s) for s in scenes))

    def _show_values(self) -> None:
        """Ticks and sliders as the form has them."""
        fixed: dict[str, float] = {}
        ranges: dict[str, tuple[float, float]] = {}
        if self._params is not None:
            fixed, ranges = self._params.fixed, ranges_of(self._params, self.scenes[0])
        for name, row in self.rows.items():
            row.show_state(name in self.varied, fixed.get(name, row.axis.default), ranges.get(name))
        self._place_rows()

    # --- the picture ------------------------------------------------------------------------------

    def _look(self) -> None:
        where = self._where()
        if isinstance(where, str):
            self._looker.drop()
            self._refused(where)
            return
        self._looker.look(where, self._looked, self._refused)

    def _where(self) -> Where | str:
        library, scenes = self.store.library, self.scenes
        model = library.model
        if model is None:
            return "Open a model for images; then its scene stands here."
        if model.kind != "image":
            return f"{model.name} takes no images; choose a network for images."
        spec = scenes[0] if scenes else IMAGE
        index = self.store.selection.input
        if spec == IMAGE and (library.dataset is None or index is None):
            return "Open some inputs and choose one in the gallery, or choose a mesh."
        if spec == IMAGE and library.mismatch:
            return library.mismatch
        if self._params is not None:
            fixed = dict(self._params.fixed)
            seed, up = (self._params.seed, self._params.up)
        else:
            fixed = {}
            seed, up = (0, "auto")
        return Where(
            model, spec, library.dataset if spec == IMAGE else None, index or 0, fixed, seed, up
        )

    def _looked(self, look: PoseView) -> None:
        self.picture.show_picture(look.picture, look.name)
        self.caption.set_words(
            " ".join((f"{look.name}: “{look.names[0]}” {percent(look.shares[0])}.", *look.notes))
        )
        if look.axes != self._axes:
            self._axes = look.axes
            self._sliders.set_axes(look.axes)
            self._place_rows()
        self._usual = look.usual
        self._show_values()

    def _refused(self, sentence: str, details: str = "") -> None:
        self.picture.show_picture(None, sentence)
        self.caption.set_words("")

    def _place_rows(self) -> None:
        bar = self._scroll.verticalScrollBar().sizeHint().width()
        self._sliders.place(self._room() - bar)
        self._scroll.updateGeometry()

    def _room(self) -> int:
        """How wide the sliders may be; beside them the picture keeps some of the width."""
        beside = self._body.direction() == QBoxLayout.Direction.LeftToRight
        if beside:
            return self.width() * 7 // 10 - self._body.spacing()
        return self.width()

    # --- what the user does -----------------------------------------------------------------------

    def ask_file(self) -> None:
        """Asks for a mesh file."""
        from robgui.analyses.semantic.scene.meshes.file import FORMATS

        kinds = f"Meshes ({' '.join('*' + ending for ending in FORMATS)});;All files (*)"
        chosen, _ = QFileDialog.getOpenFileName(self, "Open a mesh", "", kinds)
        if chosen:
            self.use_file(Path(chosen))

    def use_file(self, path: Path) -> None:
        """Looks at the mesh in ``path``."""
        if self._several and "," in str(path):
            self.store.say(
                "warning",
                f"{path}: a path with a comma cannot stand in a list of scenes; rename it.",
            )
            return
        self._known.add([str(path)])
        self._choose(str(path))

    def _choose(self, spec: str) -> None:
        if spec:
            self._use((spec,))

    def _use(self, scenes: tuple[str, ...]) -> None:
        other_kind = (IMAGE in scenes) != (IMAGE in (self.scenes or (IMAGE,)))
        self._offer(
            scene=scenes if self._several else scenes[0], **(_OF_ONE_KIND if other_kind else {})
        )

    def _fill_menu(self) -> None:
        self._menu.clear()
        for spec, words in self._known.words().items():
            if spec != IMAGE:
                action = QAction(words, self._menu, checkable=True, checked=spec in self.scenes)
                action.toggled.connect(lambda on, spec=spec: self._also(spec, on))
                self._menu.addAction(action)

    def _also(self, spec: str, on: bool) -> None:
        others = tuple(s for s in self.scenes if s not in (spec, IMAGE))
        self._use((*others, spec) if on else others or (IMAGE,))

    def _moved(self, name: str, value: float) -> None:
        if self._params is not None:
            # A copy: the settings that the form has must not change under it.
            fixed = dict(self._params.fixed)
        else:
            fixed = {}
        fixed.pop(name, None)
        if value != self.rows[name].axis.default:
            fixed[name] = value
        self._offer(fixed=fixed)

    def _ticked(self, name: str, on: bool) -> None:
        others = tuple(other for other in self.varied if other != name)
        if on:
            # Of too many the one that was ticked first gives way.
            axes = (*others, name)[-self._most :]
        else:
            axes = others
        if axes:
            self._offer(axes=axes, starts=())
        self._show_values()

    def _offer(self, **values: Any) -> None:
        self.store.params_offered.emit(self.analysis, values)
