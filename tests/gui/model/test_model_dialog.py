from __future__ import annotations

import sys
import time

import numpy as np
import pytest
import torch
from PySide6.QtCore import Qt, QTimer
from PySide6.QtGui import QFontDatabase
from PySide6.QtWidgets import QApplication, QFileDialog, QLabel
from torch import nn

from robgui.core.dataset import from_arrays
from robgui.core.errors import ParamsError
from robgui.core.loading import load
from robgui.core.model.card import card_of
from robgui.core.model.classifier import Classifier
from robgui.core.model.remembered import remember
from robgui.core.model.settings import read_side_file
from robgui.core.trust import Code, SourceFile
from robgui.gui.app.theme import theme
from robgui.gui.model.architecture_dialog import ArchitectureDialog
from robgui.gui.model.model_check import spread
from robgui.gui.model.model_dialog import ModelDialog
from robgui.gui.model.trust_dialog import TrustDialog, ask_trust, safer_than, what_code_can
from robgui.gui.state.store import Store
from tests.patience import Stopwatch

NAMES = ("dark", "middle", "bright")


class Brightness(nn.Module):
    """Class by mean brightness: below 0.3, between, above 0.6; as logits."""

    def forward(self, x):
        mean = x.flatten(1).mean(1, keepdim=True)
        return -20 * (mean - torch.tensor([[0.1, 0.45, 0.9]])).abs()


class Sleepy(Brightness):
    """Takes a second for an answer, once it is sleepy."""

    seconds = 0.0

    def forward(self, x):
        time.sleep(self.seconds)
        return super().forward(x)


@pytest.fixture
def store(qtbot):
    theme.apply(False)
    made = Store()
    yield made
    assert made.shutdown()


@pytest.fixture
def dataset():
    labels = np.arange(90) % 3
    images = np.asarray([25, 115, 230], np.uint8)[labels][:, None, None].repeat(4, 1).repeat(4, 2)
    return from_arrays(images, labels, names=NAMES, name="greys")


@pytest.fixture
def open_dialog(qtbot, store, dataset):
    def make(classifier, data=dataset, wait=True):
        if data is not None:
            store.library.add_dataset(data)
        dialog = ModelDialog(store, store.answers.hold(classifier))
        qtbot.addWidget(dialog)
        with qtbot.waitExposed(dialog):
            dialog.show()
        if wait:
            settle(qtbot, dialog)
        return dialog

    return make


def brightness(**settings):
    return Classifier.from_module(Brightness(), (1, 4, 4), NAMES, name="brightness", **settings)


def settle(qtbot, dialog):
    qtbot.waitUntil(lambda: dialog.settled)


def type_in(qtbot, dialog, name, text):
    line = dialog.form.lines[name]
    line.selectAll()
    qtbot.keyClicks(line, text) if text else qtbot.keyClick(line, Qt.Key.Key_Delete)
    settle(qtbot, dialog)


def predictions(dialog):
    return [card.guess.top[0][0] for card in dialog.cards.cards if card.guess is not None]


def test_eight_predictions_and_the_accuracy_are_there_at_once(open_dialog):
    dialog = open_dialog(brightness())
    assert len(predictions(dialog)) == 8
    assert all(card.guess.right for card in dialog.cards.cards)
    assert dialog.verdict.text() == "100 % right on 90 inputs"
    assert "1 × 4 × 4" in dialog.report.facts.text()
    assert "No activations: it has no Conv2d or Linear layer." in dialog.report.facts.text()
    assert "right" in dialog.cards.cards[0].accessibleName()


def test_changing_the_mean_changes_the_predictions_shown(qtbot, open_dialog):
    dialog = open_dialog(brightness())
    before = predictions(dialog)
    type_in(qtbot, dialog, "mean", "0.4")
    assert predictions(dialog) != before
    assert dialog.verdict.text() != "100 % right on 90 inputs"
    assert dialog.candidate.settings.mean == (0.4,)


def test_reset_goes_back_to_the_settings_at_the_start(qtbot, open_dialog):
    dialog = open_dialog(brightness())
    type_in(qtbot, dialog, "mean", "0.4")
    qtbot.mouseClick(dialog.reset, Qt.MouseButton.LeftButton)
    settle(qtbot, dialog)
    assert dialog.candidate.settings == dialog.classifier.settings


def test_all_predictions_alike_are_said_in_words(qtbot, open_dialog):
    dialog = open_dialog(brightness())
    type_in(qtbot, dialog, "mean", "5")
    assert "All 90 inputs are predicted as dark" in dialog.warnings.text()
    assert "hardly better than guessing" in dialog.warnings.text()


def test_a_model_that_gives_nan_is_said_in_words(open_dialog):
    class Broken(nn.Module):
        def forward(self, x):
            return torch.full((len(x), 3), float("nan"))

    dialog = open_dialog(Classifier.from_module(Broken(), (1, 4, 4), name="broken"))
    assert "not finite" in dialog.problem.text()
    assert dialog.problem.isVisible()
    assert dialog.verdict.text() == "The model gives no predictions."


def test_a_wrong_shape_is_said_in_words_and_cannot_be_used(qtbot, open_dialog):
    dialog = open_dialog(
        Classifier.from_module(nn.Sequential(nn.Flatten(), nn.Linear(16, 3)), (1, 4, 4))
    )
    type_in(qtbot, dialog, "shape", "3x5x5")
    assert "does not take inputs of shape 3 × 5 × 5" in dialog.problem.text()
    assert not dialog.use.isEnabled()
    type_in(qtbot, dialog, "shape", "five")
    assert "shape" in dialog.problem.text()
    type_in(qtbot, dialog, "shape", "1, 4, 4")
    assert dialog.use.isEnabled()
    assert not dialog.problem.isVisible()


def test_a_wrong_number_of_labels_is_said_in_words(qtbot, open_dialog):
    dialog = open_dialog(brightness())
    dialog.form.labels.setPlainText("dark\nbright")
    settle(qtbot, dialog)
    assert "3 classes but has 2 labels" in dialog.problem.text()


def test_other_classes_than_those_of_the_data_are_said_in_words(open_dialog):
    data = from_arrays(
        np.zeros((20, 4, 4), np.uint8), np.arange(20) % 5, names=tuple("abcde"), name="five"
    )
    dialog = open_dialog(brightness(), data)
    assert "The classes of five (a, b, c and 2 more) are not those of" in dialog.warnings.text()
    assert len(predictions(dialog)) == 8


def test_probabilities_read_as_logits_are_noticed_and_the_other_way_round(qtbot, open_dialog):
    class Soft(Brightness):
        def forward(self, x):
            return super().forward(x).softmax(1)

    dialog = open_dialog(Classifier.from_module(Soft(), (1, 4, 4), NAMES, output="logits"))
    assert "look like probabilities" in dialog.warnings.text()
    dialog.form.choices["output"].setCurrentText("probabilities")
    settle(qtbot, dialog)
    assert not dialog.warnings.isVisible()
    other = open_dialog(brightness(output="probabilities"), None)
    assert "read as probabilities but are not" in other.warnings.text()


def test_a_preset_fills_the_fields_and_typing_leaves_it(qtbot, open_dialog):
    dialog = open_dialog(brightness())
    assert dialog.form.preset.currentText() == "none"
    dialog.form.preset.setCurrentText("0–255")
    dialog.form.preset.textActivated.emit("0–255")
    settle(qtbot, dialog)
    assert dialog.candidate.settings.high == (255.0,)
    type_in(qtbot, dialog, "mean", "3")
    assert dialog.form.preset.currentText() == "custom"


def test_mean_and_std_can_be_taken_from_the_data(qtbot, open_dialog, dataset):
    dialog = open_dialog(brightness())
    dialog.form.preset.textActivated.emit("from data")
    qtbot.waitUntil(lambda: dialog.form.lines["mean"].text() != "0")
    settle(qtbot, dialog)
    pixels = dataset.array()
    assert dialog.candidate.settings.mean == pytest.approx((pixels.mean(),), rel=1e-3)
    assert dialog.candidate.settings.std == pytest.approx((pixels.std(),), rel=1e-3)


def test_labels_can_be_read_from_a_file(qtbot, open_dialog, tmp_path):
    (tmp_path / "labels.txt").write_text("a\nb\n\nc\n", encoding="utf-8")
    dialog = open_dialog(brightness())
    dialog.form.labels_wanted.emit(tmp_path / "labels.txt")
    qtbot.waitUntil(lambda: dialog.form.labels.toPlainText() == "a\nb\nc")
    settle(qtbot, dialog)
    assert dialog.candidate.labels == ("a", "b", "c")
    assert "The classes of greys (dark, middle, bright) are not those of" in dialog.warnings.text()


def test_labels_that_differ_from_the_data_are_named_by_the_first_that_differs(
    qtbot, open_dialog, dataset
):
    dialog = open_dialog(brightness())
    first, second, *_ = dataset.names
    dialog.form.labels.setPlainText("\n".join((first, "another", *dataset.names[2:])))
    settle(qtbot, dialog)
    assert f"“{second}” is taken for “another”" in dialog.notes.text()


def test_labels_can_be_read_from_json_and_a_bad_file_is_said_in_one_sentence(
    qtbot, open_dialog, tmp_path, monkeypatch
):
    (tmp_path / "names.json").write_text(
        '{"0": ["n1", "a"], "1": ["n2", "b"], "2": ["n3", "c"]}', encoding="utf-8"
    )
    (tmp_path / "bad.json").write_text("[1, 2", encoding="utf-8")
    dialog = open_dialog(brightness())
    monkeypatch.setattr(
        QFileDialog, "getOpenFileName", lambda *_: (str(tmp_path / "names.json"), "")
    )
    qtbot.mouseClick(dialog.form.open_labels, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: dialog.form.labels.toPlainText() == "a\nb\nc")
    settle(qtbot, dialog)
    monkeypatch.setattr(QFileDialog, "getOpenFileName", lambda *_: (str(tmp_path / "bad.json"), ""))
    qtbot.mouseClick(dialog.form.open_labels, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(dialog.problem.isVisible)
    assert "bad.json: the class names cannot be read" in dialog.problem.text()
    assert dialog.form.labels.toPlainText() == "a\nb\nc"


class Two(nn.Module):
    """Two tables of scores: of three classes, and of two."""

    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(16, 3)

    def forward(self, x):
        logits = self.layer(x.flatten(1))
        return {"coarse": logits[:, :2] - 3, "logits": logits}


def test_which_of_several_outputs_holds_the_scores_can_be_chosen(
    qtbot, open_dialog, store, tmp_path
):
    torch.manual_seed(0)
    batch = {"dynamic_shapes": ({0: torch.export.Dim("n")},)}
    torch.export.save(
        torch.export.export(Two().eval(), (torch.rand(2, 1, 4, 4),), **batch), tmp_path / "two.pt2"
    )
    original = load(tmp_path / "two.pt2", device="cpu", labels=NAMES)
    store.library.add_model(store.answers.hold(original))
    dialog = open_dialog(original)
    assert dialog.form.scores.isVisible() and dialog.form.scores.toolTip()
    dialog.form.labels.setPlainText("")
    dialog.form.scores.setFocus()
    qtbot.keyClicks(dialog.form.scores, "coarse")
    settle(qtbot, dialog)
    assert dialog.candidate.classes == 2
    assert "are not those of" in dialog.warnings.text()
    qtbot.keyClicks(dialog.form.scores, "st")
    settle(qtbot, dialog)
    assert dialog.candidate is None
    assert "its outputs are: coarse, logits" in dialog.problem.text()
    qtbot.mouseClick(dialog.reset, Qt.MouseButton.LeftButton)
    settle(qtbot, dialog)
    assert dialog.candidate.classes == 3
    dialog.form.labels.setPlainText("")
    qtbot.keyClicks(dialog.form.scores, "0")
    settle(qtbot, dialog)
    qtbot.mouseClick(dialog.use, Qt.MouseButton.LeftButton)
    assert store.library.model.settings.scores == "0"
    assert store.library.model.classes == 2


def test_a_model_with_one_output_is_not_asked_which_one(open_dialog):
    assert not open_dialog(brightness()).form.scores.isVisible()


def test_use_model_puts_the_corrected_model_into_the_store(qtbot, open_dialog, store):
    original = brightness()
    store.library.add_model(store.answers.hold(original))
    dialog = open_dialog(original)
    type_in(qtbot, dialog, "std", "2")
    qtbot.mouseClick(dialog.use, Qt.MouseButton.LeftButton)
    assert not dialog.isVisible()
    assert store.library.model.settings.std == (2.0,)


def test_cancel_changes_nothing(qtbot, open_dialog, store):
    original = brightness()
    store.library.add_model(store.answers.hold(original))
    dialog = open_dialog(original)
    type_in(qtbot, dialog, "std", "2")
    qtbot.mouseClick(dialog.cancel, Qt.MouseButton.LeftButton)
    assert store.library.models == [card_of(original)]


def test_the_side_file_is_written_beside_the_model(qtbot, open_dialog, store, tmp_path):
    classifier = brightness()
    classifier.path = tmp_path / "net.pt2"
    dialog = open_dialog(classifier)
    type_in(qtbot, dialog, "mean", "0.25")
    with qtbot.waitSignal(store.said) as said:
        qtbot.mouseClick(dialog.save, Qt.MouseButton.LeftButton)
    assert "net.pt2.toml" in said.args[1]
    assert read_side_file(classifier.path)["mean"] == [0.25]


def test_a_model_in_memory_has_no_side_file(open_dialog):
    dialog = open_dialog(brightness())
    assert not dialog.save.isEnabled()
    assert dialog.save.toolTip() == "This model is not from a file."


def test_without_data_the_dialog_asks_for_some_and_follows_when_they_come(
    qtbot, open_dialog, store, dataset
):
    dialog = open_dialog(brightness(), None)
    assert predictions(dialog) == []
    assert "Open some inputs" in dialog.cards.empty.text()
    assert dialog.use.isEnabled()
    store.library.add_dataset(dataset)
    settle(qtbot, dialog)
    assert len(predictions(dialog)) == 8


def test_a_model_that_sleeps_never_stops_the_window_and_only_the_newest_answer_shows(
    qtbot, open_dialog
):
    module = Sleepy()
    sleepy = Classifier.from_module(module, (1, 4, 4), NAMES)
    assert sleepy.times.known, "a model is timed where it is opened, which is not here"
    module.seconds = 1.0
    gaps, last = [], [0.0]

    def beat():
        gaps.append(time.perf_counter() - last[0])
        last[0] = time.perf_counter()

    timer = QTimer(interval=5)
    timer.timeout.connect(beat)
    last[0] = time.perf_counter()
    timer.start()
    dialog = open_dialog(sleepy, wait=False)
    qtbot.wait(300)
    dialog.form.lines["mean"].selectAll()
    qtbot.keyClicks(dialog.form.lines["mean"], "9")
    qtbot.wait(300)
    dialog.form.lines["mean"].selectAll()
    qtbot.keyClicks(dialog.form.lines["mean"], "0")
    assert not dialog.use.isEnabled()
    seen = []
    qtbot.waitUntil(lambda: bool(seen.append(predictions(dialog)) or predictions(dialog)))
    timer.stop()
    assert max(gaps) < 0.8, "the model sleeps for 1 s; the window must not"
    assert set(predictions(dialog)) == set(NAMES)
    with Stopwatch() as closing:
        dialog.reject()
    assert closing.seconds < 0.8


def test_the_eight_inputs_are_of_as_many_classes_as_possible():
    labels = np.asarray([0] * 50 + [1] * 50 + [2, 3])
    chosen = spread(from_arrays(np.zeros((102, 2, 2), np.uint8), labels))
    assert len(chosen) == 8
    assert set(labels[chosen]) == {0, 1, 2, 3}


def test_the_architecture_dialog_gives_what_was_filled_in(qtbot, tmp_path):
    dialog = ArchitectureDialog(tmp_path / "net.pth", "net.pth holds weights only.")
    qtbot.addWidget(dialog)
    dialog.show()
    assert not dialog.open_button.isEnabled()
    qtbot.keyClicks(dialog.architecture, "nets.py:")
    assert not dialog.open_button.isEnabled()
    assert "After the colon" in dialog.problem.text()
    qtbot.keyClicks(dialog.architecture, "small")
    qtbot.keyClicks(dialog.shape, "3x32x32")
    dialog.labels.setPlainText("a\nb")
    assert dialog.overrides() == {
        "architecture": "nets.py:small",
        "shape": (3, 32, 32),
        "labels": ("a", "b"),
    }
    with qtbot.waitSignal(dialog.accepted):
        qtbot.mouseClick(dialog.open_button, Qt.MouseButton.LeftButton)


def test_a_shape_that_is_no_shape_keeps_the_architecture_dialog_closed(qtbot, tmp_path):
    dialog = ArchitectureDialog(tmp_path / "net.pth", "net.pth holds weights only.")
    qtbot.addWidget(dialog)
    qtbot.keyClicks(dialog.shape, "large")
    assert not dialog.open_button.isEnabled()
    with pytest.raises(ParamsError):
        dialog.overrides()


NETS = """
raise SystemExit("must not run before it is trusted")
class Other(nn.Module):
    def __init__(self):
        self.head = nn.Linear(2, 2)
class Mine(nn.Module):
    def __init__(self, classes):
        self.fc = nn.Linear(2, classes)
"""


def test_the_networks_of_the_python_file_beside_the_weights_are_offered(qtbot, tmp_path):
    torch.save({"fc.weight": torch.zeros(2, 2), "fc.bias": torch.zeros(2)}, tmp_path / "net.pth")
    (tmp_path / "nets.py").write_text(NETS, encoding="utf-8")
    dialog = ArchitectureDialog(tmp_path / "net.pth", "net.pth holds weights only.")
    qtbot.addWidget(dialog)
    dialog.show()
    words = [dialog.offered.itemText(place) for place in range(dialog.offered.count())]
    assert words == ["nets.py:Other", "nets.py:Mine"]
    assert dialog.offered.currentText() == dialog.architecture.text() == "nets.py:Mine"
    assert "Mine needs values: write them in brackets, Mine(classes=…)" in dialog.problem.text()
    assert not dialog.open_button.isEnabled()
    dialog.architecture.setText("nets.py:Mine(classes=2)")
    assert dialog.open_button.isEnabled() and not dialog.problem.text()


def test_of_two_networks_that_fit_the_one_in_the_file_called_like_the_weights_is_filled_in(
    qtbot, tmp_path
):
    torch.save({"fc.weight": torch.zeros(2, 2), "fc.bias": torch.zeros(2)}, tmp_path / "net.pth")
    for name in ("alike.py", "net.py", "train.py"):
        (tmp_path / name).write_text(NETS, encoding="utf-8")
    dialog = ArchitectureDialog(tmp_path / "net.pth", "net.pth holds weights only.")
    qtbot.addWidget(dialog)
    assert dialog.architecture.text() == "net.py:Mine"


def test_a_python_file_that_is_chosen_offers_its_networks(qtbot, tmp_path, monkeypatch):
    torch.save({"head.weight": torch.zeros(2, 2)}, tmp_path / "net.pth")
    (tmp_path / "code").mkdir()
    (tmp_path / "code" / "nets.py").write_text(NETS, encoding="utf-8")
    dialog = ArchitectureDialog(tmp_path / "net.pth", "net.pth holds weights only.")
    qtbot.addWidget(dialog)
    dialog.show()
    assert dialog.offered.count() == 0, "there is none beside the weights"
    file = str(tmp_path / "code" / "nets.py")
    monkeypatch.setattr(QFileDialog, "getOpenFileName", lambda *_: (file, ""))
    qtbot.mouseClick(dialog.browse, Qt.MouseButton.LeftButton)
    assert dialog.offered.count() == 2 and dialog.architecture.text() == f"{file}:Other"
    dialog.offered.textActivated.emit(f"{file}:Mine")
    assert dialog.architecture.text() == f"{file}:Mine"


def test_the_one_function_of_a_chosen_file_is_filled_in_and_there_is_one_field(
    qtbot, tmp_path, monkeypatch
):
    torch.save({"0.weight": torch.zeros(2, 2)}, tmp_path / "net.pth")
    (tmp_path / "signs.py").write_text("def build():\n    return make(3)\n", encoding="utf-8")
    (tmp_path / "train.py").write_text(NETS, encoding="utf-8")
    dialog = ArchitectureDialog(tmp_path / "net.pth", "net.pth holds weights only.")
    qtbot.addWidget(dialog)
    dialog.show()
    words = [dialog.offered.itemText(place) for place in range(dialog.offered.count())]
    assert words == ["signs.py:build", "train.py:Other", "train.py:Mine"]
    assert dialog.architecture.text() == "" and dialog.architecture is dialog.offered.lineEdit()
    file = str(tmp_path / "signs.py")
    monkeypatch.setattr(QFileDialog, "getOpenFileName", lambda *_: (file, ""))
    qtbot.mouseClick(dialog.browse, Qt.MouseButton.LeftButton)
    assert dialog.architecture.text() == "signs.py:build" and dialog.open_button.isEnabled()


@pytest.mark.parametrize(
    ("key", "answer"), [(Qt.Key.Key_Return, False), (Qt.Key.Key_Escape, False), (None, True)]
)
def test_trust_is_never_given_by_default(qtbot, tmp_path, key, answer):
    def press():
        dialog = QApplication.activeModalWidget()
        assert isinstance(dialog, TrustDialog)
        if key is not None:
            qtbot.keyClick(dialog.focusWidget(), key)
        else:
            dialog.trust.click()

    QTimer.singleShot(100, press)
    assert ask_trust(Code("0" * 64, tmp_path / "evil.pt"), "evil.pt is a pickle.") is answer


def test_the_question_of_trust_shows_the_call_the_code_and_what_a_pickle_calls_letter_by_letter(
    qtbot, tmp_path
):
    source = SourceFile(tmp_path / "nets.py", "import os\nos.system('<b>')\n")
    names = (
        "<h1>Checked: plain weights only</h1>",
        "os.system\n\nNothing else runs.",
        "a\u202egnp.exe",
    )
    code = Code(
        "0" * 64,
        tmp_path / "<b>evil</b>.pt",
        "nets.py:build(depth=20, path='/x')",
        (source,),
        names,
    )
    dialog = TrustDialog(code, "<h1>Checked</h1> evil.pt is a pickle.")
    qtbot.addWidget(dialog)
    shown = dialog.what.toPlainText().splitlines()
    assert f"Model file: {tmp_path}/<b>evil</b>.pt" in shown
    assert "Call: nets.py:build(depth=20, path='/x')" in shown
    assert f"Code: {tmp_path / 'nets.py'}" in shown and "    os.system('<b>')" in shown
    assert "    <h1>Checked: plain weights only</h1>" in shown
    assert "    os.system\\n\\nNothing else runs." in shown and "    a\\u202egnp.exe" in shown
    assert all(
        label.textFormat() is Qt.TextFormat.PlainText for label in dialog.findChildren(QLabel)
    )
    assert "b>.pt is a Python pickle" in dialog.said.text()
    assert "os.system\\n\\nNothing else runs.: can start programs" in dialog.alarming.text()
    assert "read your files" in dialog.warning.text() or "read, change" in dialog.warning.text()
    fixed = QFontDatabase.systemFont(QFontDatabase.SystemFont.FixedFont)
    assert dialog.what.font().family() == fixed.family()


@pytest.mark.parametrize(
    ("system", "inline", "said"),
    [
        ("linux", "", "uses no network"),
        ("linux", "1", "read, change and send your files"),
        ("darwin", "", "read, change and send your files"),
        ("win32", "", "read, change and send your files"),
    ],
)
def test_the_question_of_trust_says_what_code_can_do_on_this_system(
    monkeypatch, system, inline, said
):
    monkeypatch.setattr(sys, "platform", system)
    monkeypatch.setenv("ROBGUI_INLINE", inline)
    assert said in what_code_can() and "go on only if" in what_code_can()


def test_a_safer_form_of_a_model_needs_no_python_that_builds_it(tmp_path):
    path = tmp_path / "m.pth"
    assert ".safetensors" in safer_than(Code("0" * 64, path, imports=("torch.Tensor",)))
    built = safer_than(Code("0" * 64, path, "net.py:Net"))
    assert ".safetensors" not in built and ".onnx" in built


def test_the_question_of_trust_names_the_safer_formats_before_what_would_run(qtbot, tmp_path):
    code = Code("0" * 64, tmp_path / "m.pkl", imports=("os.system", "sklearn.svm.SVC"))
    dialog = TrustDialog(code, "m.pkl is not loaded.")
    qtbot.addWidget(dialog)
    words = [label.text() for label in dialog.findChildren(QLabel)]
    safer = next(place for place, text in enumerate(words) if "as .skops" in text)
    assert safer < words.index(dialog.alarming.text()) < words.index(dialog.runs.text())
    assert "scikit-learn: SVC" in dialog.runs.text()
    assert dialog.cancel.isDefault() and not dialog.trust.autoDefault()


def test_a_refusal_without_calls_is_told_in_its_own_words(qtbot, tmp_path):
    dialog = TrustDialog(Code("0" * 64, tmp_path / "m.keras"), "m.keras holds a Lambda layer.")
    qtbot.addWidget(dialog)
    assert dialog.said.text() == "m.keras holds a Lambda layer."


class Centred(nn.Module):
    """Dark or bright, if it is given (x - 0.5) / 0.5 and not x itself."""

    def forward(self, x):
        mean = x.flatten(1).mean(1, keepdim=True)
        return torch.cat([-20 * mean, torch.full_like(mean, 4.0), 20 * mean], 1)


def centred(**settings):
    return Classifier.from_module(Centred(), (1, 4, 4), NAMES, name="centred", **settings)


def test_guess_tries_the_usual_ways_and_a_click_takes_the_best(qtbot, open_dialog):
    dialog = open_dialog(centred())
    assert dialog.verdict.text().startswith("33.3 %")
    dialog.form.guess.click()
    qtbot.waitUntil(lambda: "labelled inputs" in dialog.ways.said.text())
    known = {tried.name: tried.accuracy for tried in dialog.ways.tried}
    assert known["as it is"] == pytest.approx(1 / 3) and known["0.5/0.5"] == 1
    assert "right on 100 % of 90 labelled inputs; 2 other ways" in dialog.ways.said.text()
    table = dialog.ways.table
    qtbot.mouseClick(
        table.viewport(),
        Qt.MouseButton.LeftButton,
        pos=table.visualRect(table.model().index(0, 0)).center(),
    )
    settle(qtbot, dialog)
    assert dialog.form.preset.currentText() in ("Inception", "0.5/0.5", "custom")
    assert dialog.verdict.text().startswith("100 %")
    assert dialog.candidate.settings.mean == pytest.approx((0.5,), abs=0.05)


def test_guess_without_labels_is_one_sentence(qtbot, open_dialog):
    dialog = open_dialog(centred(), from_arrays(np.zeros((20, 4, 4), np.uint8), name="bare"))
    dialog.form.guess.click()
    qtbot.waitUntil(lambda: "no labels" in dialog.ways.said.text())
    assert not dialog.ways.tried


def test_a_second_model_takes_the_settings_and_names_of_one_that_is_open(qtbot, open_dialog, store):
    first = centred(mean=(0.5,), std=(0.5,), channels="rgb")
    store.library.add_model(store.answers.hold(first))
    second = Classifier.from_module(nn.Sequential(Centred()), (1, 4, 4), name="second")
    dialog = open_dialog(second)
    dialog.form.preset.setCurrentText("same as centred")
    dialog.form.preset.textActivated.emit("same as centred")
    settle(qtbot, dialog)
    assert dialog.candidate.settings.mean == (0.5,) and dialog.candidate.labels == NAMES
    assert dialog.form.preset.currentText() in ("0.5/0.5", "same as centred")


def test_models_that_were_corrected_lately_are_offered_too(qtbot, open_dialog, tmp_path):
    (tmp_path / "older.onnx").write_bytes(b"weights")
    remember(tmp_path / "older.onnx", centred(mean=(0.25,), std=(0.125,)).settings)
    dialog = open_dialog(centred())
    words = [dialog.form.preset.itemText(i) for i in range(dialog.form.preset.count())]
    assert "same as older.onnx" in words
    dialog.form.preset.textActivated.emit("same as older.onnx")
    settle(qtbot, dialog)
    assert dialog.candidate.settings.mean == (0.25,)
    assert dialog.form.preset.currentText() == "same as older.onnx"


class Blurred(Brightness):
    """Right on a given share of the inputs: what it sees is shifted for the others."""

    def __init__(self, share):
        super().__init__()
        self.share = share

    def forward(self, x):
        scores = super().forward(x)
        noise = (1e4 * x.flatten(1)[:, 0] + 7.3 * x.flatten(1)[:, 1] * 1e3).frac().abs()
        return torch.where((noise < self.share)[:, None], scores, scores.roll(1, 1))


def speckled(many=300):
    """Three greys whose first pixels differ from input to input."""
    labels = np.arange(many) % 3
    images = np.asarray([25, 115, 230], np.uint8)[labels][:, None, None].repeat(4, 1).repeat(4, 2)
    images[:, 0, :2] = np.random.default_rng(0).integers(0, 255, (many, 2))
    return from_arrays(images, labels, names=NAMES, name="speckled")


def test_a_model_that_is_right_on_half_of_the_inputs_is_doubted_and_leads_to_guess(
    qtbot, open_dialog
):
    model = Classifier.from_module(Blurred(0.5), (1, 4, 4), NAMES, name="half")
    dialog = open_dialog(model, speckled())
    said = dialog.warnings.text() + dialog.notes.text()
    assert "are right, guessing gives 33.3 %" in said and "usual ways of feeding it" in said
    qtbot.mouseClick(dialog.report.guess, Qt.MouseButton.LeftButton)
    assert dialog.ways is not None and dialog.ways.isVisible()


def test_a_model_that_is_right_on_nine_of_ten_inputs_is_not_doubted(open_dialog):
    model = Classifier.from_module(Blurred(0.9), (1, 4, 4), NAMES, name="nine")
    dialog = open_dialog(model, speckled())
    assert not dialog.warnings.isVisible() and not dialog.report.guess.isVisible()


def test_a_preset_that_does_better_is_named_in_the_warning(open_dialog):
    dialog = open_dialog(centred())
    assert "gets 100 % of 90 inputs right" in dialog.warnings.text()
    assert dialog.report.guess.isVisible()


def reordered(labels):
    """A model whose outputs are dark, middle, bright, but whose names say otherwise."""
    return Classifier.from_module(Brightness(), (1, 4, 4), labels, name="reordered")


def test_class_names_in_another_order_are_noticed_and_put_right_by_a_click(qtbot, open_dialog):
    dialog = open_dialog(reordered(("middle", "bright", "dark")))
    assert "Class names seem to be in another order" in dialog.warnings.text()
    assert "re-ordered 100 % are right, now 0 %" in dialog.warnings.text()
    assert dialog.candidate.labels == ("middle", "bright", "dark"), "never without a click"
    qtbot.mouseClick(dialog.report.guess, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: "another order" in dialog.ways.said.text())
    row = next(i for i, each in enumerate(dialog.ways.tried) if "re-ordered" in each.name)
    dialog.ways.table.pointed.emit(row)
    settle(qtbot, dialog)
    assert dialog.candidate.labels == NAMES
    assert dialog.verdict.text().startswith("100 %")
    assert not dialog.warnings.isVisible() and not dialog.report.guess.isVisible()


def test_the_order_of_numbered_classes_is_said_to_be_a_matter_of_the_data(open_dialog):
    labels = (np.arange(90) + 1) % 3
    images = np.asarray([25, 115, 230], np.uint8)[np.arange(90) % 3]
    data = from_arrays(images[:, None, None].repeat(4, 1).repeat(4, 2), labels, name="numbers")
    dialog = open_dialog(brightness(), data)
    assert "another order" in dialog.warnings.text()
    assert "in the settings of the data" in dialog.warnings.text()
