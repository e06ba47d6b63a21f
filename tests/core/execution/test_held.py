"""Data that stay in the worker: the same inputs, pictures and fingerprint as opened here."""

from __future__ import annotations

import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import numpy as np
import pytest
import scipy.io

from robgui.core.dataset import open_dataset as open_here
from robgui.core.dataset.opening import is_foreign
from robgui.core.errors import DataError
from robgui.core.execution.asking.held import HeldSource, open_held
from robgui.core.execution.asking.models import Models
from robgui.core.execution.worker.terms import Terms
from robgui.gui.state.library.opening import open_for_window
from tests.core.dataset.formats.samples import LABELS, PIXELS, write_tree
from tests.core.dataset.formats.test_stores import batch, film


@pytest.fixture(scope="module")
def models():
    made = Models()
    made.start(Terms(keep=True), lambda words: None)
    yield made
    made.close()


def files(folder: Path) -> list[Path]:
    scipy.io.savemat(folder / "a.mat", {"X": PIXELS, "y": LABELS[:, None] + 1})
    film(folder / "a.avi")
    (folder / "test_batch").write_bytes(batch())
    return [folder / name for name in ("a.mat", "a.avi", "test_batch")]


def test_a_worker_gives_what_the_file_holds(tmp_path, models):
    for path in files(tmp_path):
        held, here = open_for_window(path, {}, models), open_here(path)
        assert isinstance(held.source, HeldSource) and held.fingerprint == here.fingerprint
        assert held.keys() == here.keys() and held.shape == here.shape
        np.testing.assert_array_equal(held.array([3, 0]), here.array([3, 0]))
        np.testing.assert_array_equal(held.array(shape=(1, 7, 5)), here.array(shape=(1, 7, 5)))
        np.testing.assert_array_equal(held.thumbnail(2, 8), here.thumbnail(2, 8))
        if here.labels is not None:
            assert held.labels.tolist() == here.labels.tolist()


def test_tables_and_their_columns_are_held_too(tmp_path, models):
    values = np.random.default_rng(0).random((20, 3))
    scipy.io.savemat(tmp_path / "t.mat", {"x": values, "y": np.arange(20) % 2})
    held, here = open_for_window(tmp_path / "t.mat", {}, models), open_here(tmp_path / "t.mat")
    assert held.kind == "table" and held.features == here.features
    picked = (held.features[2], held.features[0])
    np.testing.assert_array_equal(
        held.with_columns(picked).array(), here.with_columns(picked).array()
    )
    for one, other in zip(held.bounds(), here.bounds(), strict=True):
        np.testing.assert_array_equal(one, other)


def test_a_process_that_is_lost_reads_the_file_again(tmp_path):
    import os
    import signal

    scipy.io.savemat(tmp_path / "a.mat", {"X": PIXELS, "y": LABELS})
    models = Models()
    models.start(Terms(keep=True), lambda words: None)
    held = open_held(tmp_path / "a.mat", {}, models.ask)
    os.kill(models.pids[0], signal.SIGKILL)
    with suppress(DataError):  # the question that was under way is told so
        held.array([0])
    np.testing.assert_array_equal(held.array([0]), open_here(tmp_path / "a.mat").array([0]))
    models.close()


def test_what_pillow_and_numpy_read_stays_in_the_window(tmp_path, models):
    folder = write_tree(tmp_path / "pets")
    assert not is_foreign(folder) and not is_foreign(folder / "cat" / "img_0.png")
    assert not isinstance(open_for_window(folder, {}, models).source, HeldSource)


def test_a_window_does_not_import_the_foreign_readers(tmp_path):
    scipy.io.savemat(tmp_path / "a.mat", {"X": PIXELS, "y": LABELS})
    code = f"""
import sys
from pathlib import Path
if __name__ == "__main__":
    from robgui.core.execution.asking.models import Models
    from robgui.core.execution.worker.slot import Terms
    from robgui.gui.state.library.opening import open_for_window
    models = Models()
    models.start(Terms(keep=True), lambda words: None)
    data = open_for_window(Path({str(tmp_path / "a.mat")!r}), {{}}, models)
    data.thumbnail(0, 16)
    print([name for name in ("scipy.io", "pyarrow", "h5py") if name in sys.modules])
    models.close()
"""
    (tmp_path / "alone.py").write_text(code)
    done = subprocess.run(
        [sys.executable, tmp_path / "alone.py"], capture_output=True, text=True, check=False
    )
    assert done.stdout.strip() == "[]", done.stderr
