"""What a file would run is told in plain words, and what no model needs comes apart."""

from __future__ import annotations

from pathlib import Path

import pytest

from robgui.core.trust import Code, SourceFile
from robgui.core.trust.meaning import meaning_of, power_of


@pytest.mark.parametrize(
    "name",
    [
        "os.system",
        "posix.system",
        "subprocess.Popen",
        "builtins.eval",
        "builtins.exec",
        "torch.hub.load",
        "urllib.request.urlopen",
    ],
)
def test_what_no_model_needs_is_alarming(name):
    found = meaning_of(Code("0" * 64, Path("m.pkl"), imports=(name, "sklearn.svm.SVC")))
    assert len(found.alarming) == 1 and found.alarming[0].startswith(f"{name}: can ")
    assert found.usual == ("1 part of scikit-learn: SVC",)


@pytest.mark.parametrize(
    "name", ["torch.nn.Linear", "numpy.ndarray", "osgeo.x", "builtins.slice", "nets.os"]
)
def test_other_names_are_not(name):
    assert power_of(name) == ""


def test_unknown_names_and_names_that_cannot_be_listed_are_told():
    found = meaning_of(Code("0" * 64, Path("m.joblib"), imports=("evil.Net",), listed=False))
    assert found.usual == (
        "1 name of no library robgui knows: evil.Net",
        "more that cannot be listed without running it",
    )
    assert found.what.startswith("m.joblib is a Python pickle")


def test_a_python_file_is_named_with_the_call():
    source = SourceFile(Path("/far/nets.py"), "import os")
    found = meaning_of(Code("0" * 64, Path("m.pth"), "/far/nets.py:Net(3)", (source,)))
    assert found.what == (
        "m.pth holds weights only. nets.py builds their network, so Python would run it."
    )
    assert found.usual == (
        "the Python file nets.py, all of it",
        "the call nets.py:Net(3), which builds the network",
    )
