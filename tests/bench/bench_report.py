"""How long a report takes, of computing and by the clock, the first time and again in the process.

Run it alone on a quiet machine: ``python -m tests.bench.bench_report WORKSPACE [--runs 40]``. The
runs of the workspace are copied until there are enough. It prints figures and asserts nothing.
"""

from __future__ import annotations

import argparse
import shutil
import tempfile
import time
from pathlib import Path

from robgui.core.execution.run import RunState
from robgui.core.execution.step import Step
from robgui.core.workspace import Workspace
from robgui.report.kept import KEPT
from robgui.report.writing import write_report


def enlarged(source: Path, folder: Path, runs: int) -> Workspace:
    """A copy of a workspace with a given number of different runs."""
    target = folder / "report.robgui"
    with Workspace.open(source, create=False) as given:
        given.save_as(target)
    workspace = Workspace.open(target, create=False)
    known = [run for run in workspace.runs() if run.has_result]
    for number in range(max(0, runs - len(known))):
        run = known[number % len(known)]
        seeded = {**run.request.params, "seed": 1000 + number}
        request = run.request.model_copy(update={"params": seeded})
        again = workspace.add_run(request, RunState.RUNNING)
        step = Step(1, 1, workspace.result(run.id))
        workspace.update_run(again.id, state=RunState.DONE, step=step, verdict=run.verdict)
    return workspace


def seconds(workspace: Workspace, path: Path) -> tuple[float, float]:
    """How long a report takes: of computing, and by the clock."""
    worked, start = time.process_time(), time.monotonic()
    write_report(workspace, path)
    return time.process_time() - worked, time.monotonic() - start


def main() -> None:
    """Writes reports and prints how long that takes."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("workspace", type=Path)
    parser.add_argument("--runs", type=int, default=40)
    given = parser.parse_args()
    folder = Path(tempfile.mkdtemp())
    workspace = enlarged(given.workspace, folder, given.runs)
    count = len(workspace.runs())
    for ending in ("html", "pdf"):
        KEPT.clear()
        first = seconds(workspace, folder / f"first.{ending}")
        again = seconds(workspace, folder / f"again.{ending}")
        print(
            f"{ending}: {count} runs in {first[0]:.1f} s of computing ({first[1]:.1f} s by the"
            f" clock); again in {again[0]:.1f} s ({again[1]:.1f} s)",
            flush=True,
        )
    workspace.close()
    shutil.rmtree(folder)


if __name__ == "__main__":
    main()
