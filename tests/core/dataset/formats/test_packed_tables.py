"""Arrow and Parquet tables of a few bytes that stand for gigabytes, and what their directory says
of honest ones.
"""

from __future__ import annotations

import resource
import subprocess
import sys

import numpy as np
import pytest

from robgui.core.dataset.formats.columnar import batches
from robgui.core.dataset.formats.columnar.messages import read_directory, read_stream
from robgui.core.dataset.opening import open_dataset
from robgui.core.errors import DataError

pa = pytest.importorskip("pyarrow")

OPEN = """
import resource, sys
from robgui.core.dataset.opening import open_dataset
from robgui.core.errors import DataError
import pyarrow, pyarrow.parquet, pyarrow.ipc
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
try:
    open_dataset(sys.argv[1])
    said = "opened"
except DataError as error:
    said = str(error)
print((resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) // 1024, said)
"""


def write(path, found, *, compression=None, chunk=None):
    options = pa.ipc.IpcWriteOptions(compression=compression)
    new = pa.ipc.new_stream if ".stream" in path.name else pa.ipc.new_file
    with pa.OSFile(str(path), "wb") as file, new(file, found.schema, options=options) as out:
        out.write_table(found, max_chunksize=chunk)
    return path


def numbers(many):
    return pa.table({"a": np.arange(many, dtype=np.float64), "label": ["one", "two"] * (many // 2)})


def opened(path):
    """Megabytes it took to open a file, and what was said."""
    answer = subprocess.run(
        [sys.executable, "-c", OPEN, str(path)], capture_output=True, text=True, check=True
    )
    megabytes, said = answer.stdout.strip().split(" ", 1)
    return int(megabytes), said


@pytest.mark.parametrize("compression", [None, "lz4", "zstd"])
@pytest.mark.parametrize("suffix", [".arrow", ".stream.arrow"])
def test_rows_and_sizes_are_known_without_unpacking(tmp_path, suffix, compression):
    found = numbers(1000)
    path = write(tmp_path / f"a{suffix}", found, compression=compression, chunk=300)
    with path.open("rb") as file:
        if suffix == ".arrow":
            messages = read_directory(file)[1]
        else:
            messages = [one for one in read_stream(file) if one.is_rows]
    assert [one.rows for one in messages] == [300, 300, 300, 100]
    for message, batch in zip(messages, found.to_batches(max_chunksize=300), strict=True):
        assert batch.nbytes <= message.size <= batch.nbytes + 512
    dataset = open_dataset(path)
    np.testing.assert_array_equal(dataset.array()[:, 0], np.arange(1000))


def test_a_dictionary_is_measured_with_its_words(tmp_path):
    words = pa.array([f"word {place:06}" for place in range(5000)]).dictionary_encode()
    path = write(tmp_path / "a.arrow", pa.table({"a": words}), compression="zstd")
    with path.open("rb") as file:
        dictionaries, _ = read_directory(file)
    assert sum(one.size for one in dictionaries) >= 5000 * 11


@pytest.mark.parametrize("suffix", [".arrow", ".stream.arrow"])
def test_a_small_file_that_unpacks_to_a_gigabyte_is_refused_before_it_does(tmp_path, suffix):
    path = write(
        tmp_path / f"a{suffix}", pa.table({"a": np.zeros(140_000_000)}), compression="zstd"
    )
    assert path.stat().st_size < 100_000
    megabytes, said = opened(path)
    assert megabytes < 100
    assert "rows" in said
    assert said.count("\n") == 0


def test_a_wide_row_that_unpacks_to_a_gigabyte_is_refused_before_it_does(tmp_path):
    wide = pa.FixedSizeListArray.from_arrays(pa.array(np.zeros(140_000_000)), 140_000)
    megabytes, said = opened(write(tmp_path / "a.arrow", pa.table({"a": wide}), compression="zstd"))
    assert megabytes < 100
    assert "when unpacked, more than is read at once" in said


def test_a_parquet_file_that_repeats_one_long_word_is_refused_in_time(tmp_path, monkeypatch):
    import pyarrow.parquet as parquet

    path = tmp_path / "a.parquet"
    word = pa.DictionaryArray.from_arrays(np.zeros(12_000, np.int32), pa.array(["x" * 30_000]))
    parquet.write_table(pa.table({"label": word, "a": np.zeros(12_000)}), path, store_schema=False)
    assert path.stat().st_size < 40_000
    monkeypatch.setattr(batches, "LARGEST_ARRAY", 50_000_000)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    with pytest.raises(DataError, match="more than is read at once"):
        open_dataset(path)
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 200 * 1024


@pytest.mark.parametrize("where", ["length", "rows", "place"])
def test_a_directory_that_lies_is_one_sentence(tmp_path, where):
    path = write(tmp_path / "a.arrow", numbers(10))
    content = bytearray(path.read_bytes())
    footer = int.from_bytes(content[-10:-6], "little")
    if where == "length":
        content[-10:-6] = (2**31 - 1).to_bytes(4, "little")
    elif where == "place":
        at = content.rindex((1).to_bytes(4, "little"), 0, len(content) - 10)
        content[at : at + 4] = (2**30).to_bytes(4, "little")
    else:
        content[-10 - footer : -10] = bytes(footer)
    path.write_bytes(content)
    with pytest.raises(DataError, match="cannot be read"):
        open_dataset(path)


def test_more_rows_than_labels_can_be_held_for_are_refused(tmp_path):
    import pyarrow.parquet as parquet

    path = tmp_path / "a.parquet"
    parquet.write_table(pa.table({"a": np.zeros(20_000_001), "b": np.zeros(20_000_001)}), path)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    with pytest.raises(DataError, match="20,000,001 rows, more than 20,000,000; open a part of it"):
        open_dataset(path)
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 200 * 1024
