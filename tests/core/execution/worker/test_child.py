"""The worker's own loop, in this process: what it does while nothing is asked of it."""

from __future__ import annotations

import io
import queue
import subprocess
import sys
import threading

from robgui.core.execution.worker.child import Channel, Worker
from robgui.core.execution.worker.frames import Frame


def channel_with(*headers):
    incoming = queue.SimpleQueue()
    for header in headers:
        incoming.put(Frame(header))
    return Channel(incoming, io.BytesIO(), threading.Lock())


def test_work_ahead_is_done_piece_by_piece_while_nothing_is_asked():
    channel, done = channel_with(), []

    def pieces():
        for piece in range(3):
            done.append(piece)
            yield piece
        channel.incoming.put(Frame({"do": "leave"}))

    Worker(channel, "", ahead=pieces()).serve()
    assert done == [0, 1, 2]


def test_what_is_asked_goes_before_work_ahead():
    channel, done = channel_with(), []

    def pieces():
        done.append("first")
        channel.incoming.put(Frame({"do": "leave"}))
        yield None
        done.append("second")
        yield None

    Worker(channel, "", ahead=pieces()).serve()
    assert done == ["first"]


def test_the_engines_that_a_worker_imports_ahead_are_all_that_a_first_run_needs():
    code = (
        "import sys; from robgui.core.execution.worker.child import _engines; list(_engines());"
        " before = set(sys.modules); from robgui import resources; from robgui.core.dataset import"
        " open_dataset; from robgui.core.loading import load; import robgui;"
        " m = load(resources.path('demo', 'fashion_cnn.safetensors'), device='cpu');"
        " d = open_dataset(resources.path('demo', 'fashion.npz'));"
        " steps = robgui.steps('zonnscan', m, d.subset([0]));"
        " after_loading = set(sys.modules); next(steps); steps.close();"
        " print([name for name in set(sys.modules) - after_loading"
        " if name.partition('.')[0] in ('scipy', 'torch', 'cv2', 'robgui')"
        # Words are made where a result is shown, which for a worker is another process.
        " and '.words' not in name and name != 'robgui.core.offer'])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
