"""For a worker process: imported first, it has the pretended devices for good."""

from __future__ import annotations

from contextlib import ExitStack

from tests.devices.pretend.device import pretending

_ALWAYS = ExitStack()
_ALWAYS.enter_context(pretending())
