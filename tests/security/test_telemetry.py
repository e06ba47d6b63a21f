"""No library that a model needs sends anything of its own accord."""

from __future__ import annotations

import pytest

from robgui import resources
from tests.security.attacks import child


def test_the_onnx_runtime_neither_counts_its_users_nor_writes_down_what_they_do(
    tmp_path, monkeypatch
):
    """Its builds keep a number of the device and a queue of events below the cache folder, and send
    them.
    """
    pytest.importorskip("onnxruntime")
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    monkeypatch.delenv("ORT_DISABLE_TELEMETRY", raising=False)
    model = resources.path("demo", "table_mlp.onnx")
    code = "import sys; from robgui.core.loading import load; load(sys.argv[1], device='cpu')"
    child(code, model)
    child("from robgui.doctor.probes import onnx; onnx()")
    assert not list(tmp_path.rglob("*onnxruntime*"))
