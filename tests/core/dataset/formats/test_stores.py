"""Data as other libraries store them: equal pixels and labels for files that those libraries
write, one sentence for hostile ones.
"""

from __future__ import annotations

import io
import json
import os
import pickle
import struct
from pathlib import Path

import cv2
import numpy as np
import pytest
import scipy.io

from robgui.core.dataset import open_dataset
from robgui.core.errors import DataError
from robgui.core.identify import DataFormat, identify
from tests.core.dataset.formats.samples import LABELS, NAMES, PIXELS, UNIT, png
from tests.core.dataset.formats.test_archives import same

SMALL = np.random.default_rng(1).integers(0, 256, (20, 3, 32, 32), dtype=np.uint8)
TEN = np.arange(20) % 10


# ---------------------------------------------------------------- CIFAR


def batch(labels: str = "labels", protocol: int = 2, **more: object) -> bytes:
    content = {
        b"batch_label": b"testing batch 1 of 1",
        labels.encode(): TEN.tolist(),
        b"data": SMALL.reshape(20, -1),
        b"filenames": [b"a.png"] * 20,
        **{key.encode(): value for key, value in more.items()},
    }
    return pickle.dumps(content, protocol)


def same_cifar(dataset, rows=SMALL) -> None:
    np.testing.assert_array_equal(dataset.array(), (rows / np.float32(255)).astype(np.float32))
    assert dataset.shape == (3, 32, 32) and dataset.labels is not None


@pytest.mark.parametrize("protocol", [2, 3, 4, 5])
def test_a_python_batch_of_cifar_10(tmp_path, protocol):
    (tmp_path / "test_batch").write_bytes(batch(protocol=protocol))
    assert identify(tmp_path / "test_batch").data is DataFormat.CIFAR
    dataset = open_dataset(tmp_path / "test_batch")
    same_cifar(dataset)
    assert dataset.labels.tolist() == TEN.tolist()


def test_the_folder_of_cifar_10_has_two_parts_and_its_names(tmp_path):
    names = [f"class {number}".encode() for number in range(10)]
    (tmp_path / "batches.meta").write_bytes(pickle.dumps({b"label_names": names}, 2))
    for name in ("data_batch_1", "data_batch_2", "test_batch"):
        (tmp_path / name).write_bytes(batch())
    test = open_dataset(tmp_path)
    same_cifar(test)
    assert test.names[3] == "class 3" and test.parts == ("train", "test")
    train = open_dataset(tmp_path, split="train")
    same_cifar(train, np.concatenate([SMALL, SMALL]))
    assert train.labels.tolist() == [*TEN, *TEN]


def test_cifar_100_has_fine_and_coarse_labels(tmp_path):
    names = {
        b"fine_label_names": [f"fine {number}".encode() for number in range(100)],
        b"coarse_label_names": [f"coarse {number}".encode() for number in range(20)],
    }
    (tmp_path / "meta").write_bytes(pickle.dumps(names, 2))
    (tmp_path / "test").write_bytes(batch("fine_labels", coarse_labels=[7] * 20))
    fine = open_dataset(tmp_path)
    same_cifar(fine)
    assert fine.names[5] == "fine 5" and fine.labels.tolist() == TEN.tolist()
    coarse = open_dataset(tmp_path, label="coarse")
    assert coarse.names[5] == "coarse 5" and coarse.labels.tolist() == [7] * 20


def test_the_binary_files_of_cifar_10_and_100(tmp_path):
    rows = np.concatenate([TEN[:, None].astype(np.uint8), SMALL.reshape(20, -1)], axis=1)
    for name in ("data_batch_1.bin", "data_batch_2.bin", "test_batch.bin"):
        (tmp_path / name).write_bytes(rows.tobytes())
    (tmp_path / "batches.meta.txt").write_text("\n".join(f"class {n}" for n in range(10)))
    assert identify(tmp_path / "test_batch.bin").data is DataFormat.CIFAR
    test, train = open_dataset(tmp_path), open_dataset(tmp_path, split="train")
    same_cifar(test)
    same_cifar(train, np.concatenate([SMALL, SMALL]))
    assert test.labels.tolist() == TEN.tolist() and test.names[9] == "class 9"
    both = np.concatenate([np.full((20, 1), 4, np.uint8), rows], axis=1)
    (tmp_path / "hundred").mkdir()
    path = tmp_path / "hundred" / "test.bin"
    path.write_bytes(both.tobytes())
    assert open_dataset(path).labels.tolist() == TEN.tolist()
    assert open_dataset(path, label="coarse").labels.tolist() == [4] * 20
    same_cifar(open_dataset(path))


class Evil:
    def __reduce__(self):
        return os.system, ("touch /tmp/robgui-was-here",)


def test_a_pickle_that_wants_to_run_something_is_refused_and_does_not(tmp_path):
    path = tmp_path / "test_batch"
    Path("/tmp/robgui-was-here").unlink(missing_ok=True)
    path.write_bytes(pickle.dumps({b"batch_label": b"x", b"data": Evil(), b"labels": [0]}, 2))
    with pytest.raises(DataError, match="is refused: this pickle would import"):
        open_dataset(path)
    assert not Path("/tmp/robgui-was-here").exists()


@pytest.mark.parametrize(
    "code",
    [
        b"cbuiltins\neval\n(S'1'\ntR",
        b"cnumpy.core.multiarray\n_reconstruct\n(cnumpy\nndarray\n(I9999999999\ntS'b'\ntR",
        b"cnumpy\ndtype\n(S'O8'\nI0\nI1\ntR",
        b"cnumpy\nload\n(S'/etc/passwd'\ntR",
        b"cnumpy\nndarray\n)\x81",
    ],
)
def test_pickles_made_by_hand_are_one_sentence(tmp_path, code):
    path = tmp_path / "test_batch"
    path.write_bytes(b"\x80\x02}(U\x0bbatch_labelU\x01xU\x04data" + code + b"u.")
    with pytest.raises(DataError) as error:
        open_dataset(path)
    assert "\n" not in str(error.value) and str(path) in str(error.value)


def test_an_array_of_objects_or_with_a_false_shape_is_refused(tmp_path):
    path = tmp_path / "test_batch"
    objects = np.array([{"a": 1}], dtype=object)
    path.write_bytes(pickle.dumps({b"batch_label": b"x", b"data": objects}, 2))
    with pytest.raises(DataError):
        open_dataset(path)
    content = batch().replace(struct.pack("<h", 3072), struct.pack("<h", 3073), 1)
    path.write_bytes(content)
    with pytest.raises(DataError):
        open_dataset(path)


# ---------------------------------------------------------------- Parquet and Arrow


def table(kind: str):
    pa = pytest.importorskip("pyarrow")
    images = [{"bytes": png(number), "path": f"{number}.png"} for number in range(6)]
    if kind == "bytes":
        images = [png(number) for number in range(6)]
    if kind == "arrays":
        images = PIXELS.tolist()
    type_ = pa.list_(pa.list_(pa.list_(pa.uint8()))) if kind == "arrays" else None
    found = pa.table({"image": pa.array(images, type_), "label": pa.array(LABELS)})
    about = {"info": {"features": {"label": {"names": list(NAMES), "_type": "ClassLabel"}}}}
    return found.replace_schema_metadata({"huggingface": json.dumps(about)})


def write(path: Path, found) -> Path:
    import pyarrow as pa
    import pyarrow.feather
    import pyarrow.parquet

    match path.suffix:
        case ".parquet":
            pa.parquet.write_table(found, path, row_group_size=2)
        case ".feather":
            pa.feather.write_feather(found, path, chunksize=2)
        case _:
            with pa.OSFile(str(path), "wb") as file, pa.ipc.new_stream(file, found.schema) as out:
                out.write_table(found, max_chunksize=2)
    return path


@pytest.mark.parametrize("suffix", [".parquet", ".feather", ".arrow"])
@pytest.mark.parametrize("kind", ["struct", "bytes", "arrays"])
def test_a_table_of_images_of_any_kind(tmp_path, suffix, kind):
    path = write(tmp_path / f"a{suffix}", table(kind))
    assert identify(path).data in (DataFormat.PARQUET, DataFormat.ARROW)
    dataset = open_dataset(path)
    same(dataset)
    np.testing.assert_array_equal(dataset.array([5, 0, 3]), UNIT[[5, 0, 3]])
    assert dataset.fingerprint == open_dataset(path).fingerprint


def test_a_hugging_face_folder_of_parquet_files_has_parts(tmp_path):
    (tmp_path / "data").mkdir()
    found = table("struct")
    write(tmp_path / "data" / "train-00000-of-00002.parquet", found.slice(0, 3))
    write(tmp_path / "data" / "train-00001-of-00002.parquet", found.slice(3))
    write(tmp_path / "data" / "test-00000-of-00001.parquet", found.slice(0, 1))
    same(open_dataset(tmp_path, split="train"))
    assert len(open_dataset(tmp_path)) == 1


def test_a_parquet_table_of_numbers_is_a_table(tmp_path):
    pa = pytest.importorskip("pyarrow")
    found = pa.table({"a": [1.0, 2.0, 3.0], "b": [4, 5, 6], "species": ["x", "y", "x"]})
    dataset = open_dataset(write(tmp_path / "a.parquet", found))
    assert dataset.kind == "table" and dataset.features == ("a", "b")
    np.testing.assert_array_equal(dataset.array(), [[1, 4], [2, 5], [3, 6]])
    assert dataset.labels.tolist() == [0, 1, 0] and dataset.names == ("x", "y")


def test_a_table_cut_short_is_one_sentence(tmp_path):
    path = write(tmp_path / "a.parquet", table("struct"))
    path.write_bytes(path.read_bytes()[:-100])
    with pytest.raises(DataError, match="cannot be read"):
        open_dataset(path)


def test_without_the_library_the_sentence_names_the_extra(tmp_path, monkeypatch):
    import sys

    from robgui.core.errors import MissingExtraError

    monkeypatch.setitem(sys.modules, "pyarrow", None)
    monkeypatch.setitem(sys.modules, "h5py", None)
    (tmp_path / "a.parquet").write_bytes(b"PAR1" + bytes(100))
    (tmp_path / "a.h5").write_bytes(b"\x89HDF\r\n\x1a\n" + bytes(100))
    with pytest.raises(MissingExtraError, match=r"robgui\[tables\]"):
        open_dataset(tmp_path / "a.parquet")
    with pytest.raises(MissingExtraError, match=r"robgui\[hdf5\]"):
        open_dataset(tmp_path / "a.h5")


# ---------------------------------------------------------------- HDF5 and MATLAB


@pytest.mark.parametrize("compression", [None, "gzip"])
@pytest.mark.parametrize("names", [("images", "labels"), ("x_test", "y_test"), ("set/x", "set/y")])
def test_an_hdf5_file(tmp_path, compression, names):
    h5py = pytest.importorskip("h5py")
    with h5py.File(tmp_path / "a.h5", "w") as file:
        file.create_dataset(names[0], data=PIXELS, compression=compression)
        file.create_dataset(names[1], data=LABELS)
        file.create_dataset("class_names", data=list(NAMES))
    assert identify(tmp_path / "a.h5").data is DataFormat.HDF5
    dataset = open_dataset(tmp_path / "a.h5")
    same(dataset)
    np.testing.assert_array_equal(dataset.array([5, 0]), UNIT[[5, 0]])


def test_the_arrays_of_an_hdf5_file_can_be_named(tmp_path):
    h5py = pytest.importorskip("h5py")
    with h5py.File(tmp_path / "a.h5", "w") as file:
        file["x"] = np.zeros((3, 8, 8), np.uint8)
        file["pets"], file["which"] = PIXELS, LABELS
    same(open_dataset(tmp_path / "a.h5", inputs="pets", label="which", names=NAMES))


def test_an_hdf5_file_that_leads_to_other_files_is_refused(tmp_path):
    h5py = pytest.importorskip("h5py")
    secret = tmp_path / "secret"
    secret.write_bytes(bytes(range(192)))
    with h5py.File(tmp_path / "a.h5", "w") as file:
        file.create_dataset(
            "images", (3, 8, 8), np.uint8, external=[(str(secret), 0, h5py.h5f.UNLIMITED)]
        )
    with pytest.raises(DataError, match=r"is refused.*other files"):
        open_dataset(tmp_path / "a.h5")
    with h5py.File(tmp_path / "b.h5", "w") as file:
        layout = h5py.VirtualLayout((3, 8, 8), np.uint8)
        layout[:] = h5py.VirtualSource(str(tmp_path / "c.h5"), "x", (3, 8, 8))
        file.create_virtual_dataset("images", layout)
        file["link"] = h5py.ExternalLink(str(tmp_path / "a.h5"), "images")
    with pytest.raises(DataError, match=r"is refused.*other files"):
        open_dataset(tmp_path / "b.h5")


def test_a_keras_file_is_no_data(tmp_path):
    h5py = pytest.importorskip("h5py")
    with h5py.File(tmp_path / "a.h5", "w") as file:
        file.attrs["keras_version"] = "2.15.0"
        file["model_weights/dense/kernel"] = np.zeros((3, 3))
    assert identify(tmp_path / "a.h5").data is None


@pytest.mark.parametrize("last", [True, False])
@pytest.mark.parametrize("compressed", [True, False])
def test_a_matlab_file_with_the_items_first_or_last(tmp_path, last, compressed):
    values = np.moveaxis(PIXELS, 0, -1) if last else PIXELS
    y = (LABELS + 1)[:, None].astype(np.uint8)
    scipy.io.savemat(tmp_path / "a.mat", {"X": values, "y": y}, do_compression=compressed)
    assert identify(tmp_path / "a.mat").data is DataFormat.MATLAB
    same(open_dataset(tmp_path / "a.mat", names=NAMES))


@pytest.mark.parametrize("last", [True, False])
def test_a_matlab_7_3_file(tmp_path, last):
    h5py = pytest.importorskip("h5py")
    values = np.moveaxis(PIXELS, 0, -1) if last else PIXELS
    with h5py.File(tmp_path / "a.mat", "w", userblock_size=512) as file:
        file["X"] = values.T  # MATLAB stores columns first
        file["y"] = (LABELS + 1)[None].astype(np.float64)
    head = b"MATLAB 7.3 MAT-file, Platform: GLNXA64".ljust(512, b" ")
    content = head + (tmp_path / "a.mat").read_bytes()[512:]
    (tmp_path / "a.mat").write_bytes(content)
    assert identify(tmp_path / "a.mat").data is DataFormat.MATLAB
    same(open_dataset(tmp_path / "a.mat", names=NAMES))


def test_a_matlab_file_that_is_cut_off_is_one_sentence(tmp_path):
    scipy.io.savemat(tmp_path / "a.mat", {"X": PIXELS, "y": LABELS})
    (tmp_path / "a.mat").write_bytes((tmp_path / "a.mat").read_bytes()[:700])
    with pytest.raises(DataError, match="cannot be read"):
        open_dataset(tmp_path / "a.mat")


# ---------------------------------------------------------------- video


def film(path: Path, frames: int = 30) -> np.ndarray:
    """A video, and its frames as the library reads them in order."""
    code = cv2.VideoWriter.fourcc(*("MJPG" if path.suffix == ".avi" else "mp4v"))
    writer = cv2.VideoWriter(str(path), code, 10, (32, 24))
    for number in range(frames):
        picture = np.full((24, 32, 3), (number * 8, 128, 255 - number * 8), np.uint8)
        picture[number % 24, :] = 255
        writer.write(picture)
    writer.release()
    capture, found = cv2.VideoCapture(str(path)), []
    while True:
        good, picture = capture.read()
        if not good:
            return np.array(found)[..., ::-1]
        found.append(picture)


@pytest.mark.parametrize("suffix", [".avi", ".mp4"])
def test_the_frames_of_a_video_in_any_order(tmp_path, suffix):
    frames = film(tmp_path / f"a{suffix}")
    assert identify(tmp_path / f"a{suffix}").data is DataFormat.VIDEO
    dataset = open_dataset(tmp_path / f"a{suffix}")
    assert len(dataset) == 30 and dataset.shape == (3, 24, 32)
    wanted = frames.transpose(0, 3, 1, 2) / np.float32(255)
    np.testing.assert_allclose(dataset.array([17, 3, 4, 29, 0]), wanted[[17, 3, 4, 29, 0]])
    every = open_dataset(tmp_path / f"a{suffix}", every=10)
    assert every.keys() == ["frame 0", "frame 10", "frame 20"]
    np.testing.assert_allclose(every.array(), wanted[::10])


def test_a_playlist_called_a_video_opens_no_other_file(tmp_path):
    film(tmp_path / "real.avi")
    playlist = f"#EXTM3U\n#EXT-X-TARGETDURATION:10\n#EXTINF:10.0,\n{tmp_path}/real.avi\n"
    (tmp_path / "a.mp4").write_text(playlist)
    with pytest.raises(DataError):
        open_dataset(tmp_path / "a.mp4")


def test_a_video_that_is_none_is_one_sentence(tmp_path):
    (tmp_path / "a.mp4").write_bytes(bytes(4) + b"ftypisom" + bytes(1000))
    with pytest.raises(DataError, match="cannot be read"):
        open_dataset(tmp_path / "a.mp4")


def test_pictures_of_the_mp4_family_are_no_videos(tmp_path):
    (tmp_path / "a.heic").write_bytes(bytes(4) + b"ftypheic" + bytes(100))
    assert identify(tmp_path / "a.heic").data is None
    assert io.BytesIO(png(0)).read(4) == b"\x89PNG"


def test_an_arrow_file_whose_lengths_lie_is_one_sentence_and_no_crash(tmp_path):
    pa = pytest.importorskip("pyarrow")
    values = pa.array([[1, 2], [3, 4]], pa.list_(pa.uint8()))
    offsets = np.array([0, 2, 2**30], np.int32)
    path = tmp_path / "a.arrow"
    schema = pa.schema({"x": values.type})
    with pa.OSFile(str(path), "wb") as file, pa.ipc.new_stream(file, schema) as out:
        out.write_batch(pa.record_batch([values], schema=schema))
    content = path.read_bytes()
    whole = np.array([0, 2, 4], np.int32).tobytes()
    assert whole in content
    path.write_bytes(content.replace(whole, offsets.tobytes()))
    with pytest.raises(DataError, match="cannot be read"):
        open_dataset(path)


@pytest.mark.parametrize("inner", [False, True])
def test_a_column_whose_name_is_no_text_is_one_sentence(tmp_path, inner):
    pa = pytest.importorskip("pyarrow")
    values = [{"strangename": 1}] * 3 if inner else [1, 2, 3]
    path = tmp_path / "a.arrow"
    found = pa.table({"outer" if inner else "strangename": values})
    with pa.OSFile(str(path), "wb") as file, pa.ipc.new_file(file, found.schema) as writer:
        writer.write_table(found)
    path.write_bytes(path.read_bytes().replace(b"strangename", b"\x9dtrangename"))
    with pytest.raises(DataError, match="this table cannot be read"):
        open_dataset(path)
