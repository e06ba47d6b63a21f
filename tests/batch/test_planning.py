"""Planning in a worker: what it answers, and that the caller opens no model."""

from __future__ import annotations

import json
import subprocess
import sys

import numpy as np
import pytest

from robgui.batch import Place, expand, local_workers, plan_with, read_suite
from robgui.batch.planning import Planning, read_plan
from robgui.core.errors import ParamsError, RobguiError
from robgui.core.execution.inline import Inline
from robgui.core.execution.loaded_cache import LoadedCache
from tests.batch import small

SUITE = '[[analyses]]\nname = "zonnscan"\nindex = "0:3"\nparams = { samples = 64 }\n'


@pytest.fixture(scope="module")
def workers():
    made = local_workers([Place("cpu", 1)])
    yield made
    made.close()


def test_a_worker_plans_what_this_process_would_plan(files, tmp_path, workers):
    suite = read_suite(small.write_suite(files, SUITE))
    here = expand(suite, "cpu", trust=True)
    assert plan_with(workers, suite, "cpu", trust=True) == here
    assert len(here.requests) >= 3
    assert plan_with(Inline(LoadedCache("cpu")), suite, "cpu", trust=True) == here


def test_a_suite_that_cannot_be_planned_is_the_same_sentence(files, workers):
    suite = read_suite(small.write_suite(files, SUITE.replace("0:3", "99")))
    with pytest.raises(ParamsError, match="there is no item 99"):
        plan_with(workers, suite, "cpu", trust=True)


def test_code_is_believed_to_be_trusted_only_if_the_user_has_said_so(files):
    document = {"requests": [], "left_out": [], "trusted": ["0" * 64]}
    answer = Planning(np.frombuffer(json.dumps(document).encode(), np.uint8))
    assert read_plan(answer, trust=False).trusted == frozenset()
    assert read_plan(answer, trust=True).trusted == {"0" * 64}


@pytest.mark.parametrize(
    "document",
    [
        b"",
        b"[]",
        b"{}",
        b'{"requests": [{}], "left_out": [], "trusted": []}',
        b'{"requests": [], "left_out": [3], "trusted": []}',
        b"[" * 100_000,
    ],
)
def test_an_answer_that_is_no_plan_is_one_sentence(document):
    with pytest.raises(RobguiError, match="no plan"):
        read_plan(Planning(np.frombuffer(document, np.uint8)), trust=True)


def test_a_batch_opens_no_model_in_its_own_process(files, tmp_path):
    """Whoever writes the workspace imports no library that reads models."""
    suite = small.write_suite(files, SUITE.replace("0:3", "0"))
    code = (
        "import sys; from robgui.cli import main; code = main(sys.argv[1:]);"
        "print(code, *{'torch', 'onnxruntime', 'sklearn', 'onnx'} & set(sys.modules))"
    )
    words = ["batch", str(suite), "--trust", "--workspace", str(tmp_path / "w.robgui")]
    done = subprocess.run(
        [sys.executable, "-c", code, *words], capture_output=True, text=True, check=False
    )
    assert done.stdout.splitlines()[-1] == "0", done.stdout + done.stderr
