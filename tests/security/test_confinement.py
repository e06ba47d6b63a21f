"""A worker whose checks have a hole: what hostile code can still do in it, really tried."""

from __future__ import annotations

import json
import os
import re
import socket
import subprocess
import sys
import threading
import warnings
from pathlib import Path

import pytest
import torch
from safetensors.torch import save_file
from torch import nn

from robgui.core.errors import ModelError, RobguiError
from robgui.core.execution.worker import folder as folders
from robgui.core.execution.worker.confinement import attempts, landlock, seccomp
from robgui.core.execution.worker.confinement.devices import (
    graphics_devices,
    make_nvidia_devices,
    plain_devices,
)
from robgui.core.execution.worker.confinement.hint import HINT
from robgui.core.execution.worker.confinement.system_calls import CALLS, PROCESSORS
from robgui.core.execution.worker.process import Place
from robgui.core.execution.worker.terms import Terms
from robgui.core.execution.worker.workers import Workers
from tests.patience import wait_for
from tests.security.attacks import child
from tests.security.formats.test_script import with_line

pytestmark = [
    pytest.mark.skipif(sys.platform != "linux", reason="confinement is Linux's"),
    pytest.mark.cold_workers,
]

#: A stand-in for native code that a hostile file has smuggled in: it tries, and prints what it
#: could do, at once, in a thread of its own, and with calls that go past the C library.
PAYLOAD = """
import json, os, sys, threading
from pathlib import Path
from torch import nn
from robgui.core.execution.worker.confinement.attempts import Target, possible


def build():
    target = Target(Path({outside!r}), {process}, ("127.0.0.1", {port}))
    found = [possible(target)]
    thread = threading.Thread(target=lambda: found.append(possible(target)))
    thread.start()
    thread.join()
    found.append({more})
    os.write(2, ("FOUND" + json.dumps(found) + "END").encode())
    return nn.Linear(3, 4)
"""


def offered() -> str:
    """Why a kernel cannot confine; empty when it can."""
    if landlock.version() < 6:
        return f"this kernel has Landlock {landlock.version()}, and version 6 refuses all of this"
    status = Path("/proc/self/status").read_text(encoding="ascii")
    return "" if "Seccomp_filters" in status else "this kernel has no seccomp filters"


confined = pytest.mark.skipif(bool(offered()), reason=offered() or "-")


@pytest.fixture(scope="module")
def workers():
    made = Workers([Place("cpu", 1)], Terms(keep=True, imports=("tests.security.unchecked",)))
    made.start()
    wait_for(lambda: made.work(0.1) or made.ready)
    yield made
    made.close()


@pytest.fixture
def outside(tmp_path):
    """A folder of the user that no worker was given."""
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside" / "kept").write_bytes(b"kept as it is")
    return tmp_path / "outside"


def opened(workers, path, *, trust, **settings):
    return workers.ask(
        "model", path=str(path), trust=trust, device="cpu", autocast=False, settings=settings
    )


def native(workers, folder, outside, *, process=None, port=9, more="None"):
    """What the payload could do."""
    words = {"outside": str(outside), "process": process or os.getpid(), "port": port}
    (folder / "payload.py").write_text(PAYLOAD.format(more=more, **words))
    save_file({"weight": torch.zeros(4, 3), "bias": torch.zeros(4)}, folder / "m.safetensors")
    opened(
        workers, folder / "m.safetensors", trust=True, architecture="payload.py:build", shape=(3,)
    )
    wait_for(lambda: workers.work(0.05) or "END" in workers.words)
    return json.loads(re.findall("FOUND(.*?)END", workers.words)[-1])


@confined
def test_native_code_in_a_worker_can_do_nothing_of_all_that_is_tried(workers, tmp_path, outside):
    before = {path: path.stat() for path in (outside, outside / "kept")}
    at_once, in_a_thread, _ = native(workers, tmp_path, outside)
    assert at_once == in_a_thread == []
    assert (outside / "kept").read_bytes() == b"kept as it is"
    assert [path.name for path in outside.iterdir()] == ["kept"]
    after = {path: path.stat() for path in before}
    assert all(
        (old.st_mode, old.st_mtime_ns) == (after[path].st_mode, after[path].st_mtime_ns)
        for path, old in before.items()
    )


def test_all_that_is_tried_works_in_a_process_that_is_not_confined(outside):
    """Otherwise the test above would show nothing."""
    code = (
        "import os, sys; from pathlib import Path;"
        "from robgui.core.execution.worker.confinement.attempts import *;"
        "print(possible(Target(Path(sys.argv[1]), os.getppid())))"
    )
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as listening:
        listening.bind(str(outside / "socket"))
        found = child(code, outside)
    missing = {name for name in attempts.ATTEMPTS if name not in found}
    assert missing <= {  # a container may refuse these by itself
        "trace another process",
        "read the memory of another process",
        "make a namespace",
    }


@confined
def test_nothing_arrives_at_a_socket_of_this_machine(workers, tmp_path, outside):
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.settimeout(0.2)
        port = server.getsockname()[1]
        connect = f"__import__('tests.security.payloads').security.payloads.connect({port})"
        *_, refused = native(workers, tmp_path, outside, port=port, more=connect)
        assert refused == ["PermissionError"] * 3
        with pytest.raises(TimeoutError):
            server.accept()


@confined
def test_links_and_renames_do_not_carry_a_change_out_of_the_folder(workers, tmp_path, outside):
    call = f"__import__('tests.security.payloads').security.payloads.links({str(outside)!r})"
    *_, done = native(workers, tmp_path, outside, more=call)
    assert done == []
    assert (outside / "kept").read_bytes() == b"kept as it is"
    assert [path.name for path in outside.iterdir()] == ["kept"]


@confined
def test_the_parent_can_be_neither_ended_nor_read(workers, tmp_path, outside):
    with subprocess.Popen(["sleep", "600"]) as sleeper:
        try:
            call = f"__import__('tests.security.payloads').security.payloads.kill({sleeper.pid})"
            *_, done = native(workers, tmp_path, outside, process=sleeper.pid, more=call)
            assert done == []
            assert sleeper.poll() is None
        finally:
            sleeper.kill()


@confined
def test_a_torchscript_file_that_passes_every_check_writes_nothing_outside(
    workers, tmp_path, outside
):
    plain = tmp_path / "plain.pt"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        torch.jit.script(nn.Sequential(nn.Linear(6, 3)).eval()).save(str(plain))
    for number, line in enumerate(
        (
            'torch.save(input, "MARK")',
            'input = torch.add(input, torch.mean(torch.from_file("MARK", True, 10)))',
            'input = torch.add(input, torch.mean(getattr(torch, "from\\137file")("MARK", True, 10)))',
        )
    ):
        mark = outside / f"mark-{number}"
        path = with_line(plain, tmp_path / f"{number}.pt", line.replace("MARK", str(mark)))
        refusal = ""  # torch.save says nothing about a file that it could not write
        try:
            opened(workers, path, trust=False, shape=(6,))
        except RobguiError as error:
            refusal = str(error)
        assert ("unable to open file" in refusal) == bool(number), "the checks are not off"
        assert not mark.exists()


def test_the_same_torchscript_file_writes_where_nothing_is_confined(tmp_path, outside):
    """Otherwise the test above would show nothing."""
    plain = tmp_path / "plain.pt"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        torch.jit.script(nn.Sequential(nn.Linear(6, 3)).eval()).save(str(plain))
    path = with_line(plain, tmp_path / "m.pt", f'torch.save(input, "{outside / "mark"}")')
    code = (
        "import sys, tests.security.unchecked; from robgui.core.loading import load;"
        "load(sys.argv[1], device='cpu', shape=(6,))"
    )
    child(code, path)
    assert (outside / "mark").exists()


@confined
def test_every_thread_of_a_worker_is_confined_and_it_holds_pipes_only(workers):
    place = Path(f"/proc/{workers.pid}")
    for thread in (place / "task").iterdir():
        status = (thread / "status").read_text()
        assert "NoNewPrivs:\t1" in status and "Seccomp:\t2" in status
    held = {str(each.readlink()) for each in (place / "fd").iterdir()}
    assert {name.partition(":")[0] for name in held} <= {"pipe", "/dev/null"}
    names = {
        line.partition(b"=")[0].decode() for line in (place / "environ").read_bytes().split(b"\0")
    }
    assert not names & {"DISPLAY", "WAYLAND_DISPLAY", "XDG_RUNTIME_DIR", "DBUS_SESSION_BUS_ADDRESS"}


@confined
def test_a_worker_writes_into_its_own_folder_which_goes_with_it_also_when_it_is_killed(
    tmp_path, outside
):
    made = Workers([Place("cpu", 1)], Terms())
    try:
        where = "__import__('tests.security.payloads').security.payloads.use_own_folder()"
        *_, place = native(made, tmp_path, outside, more=where)
        assert Path(place).read_bytes() == b"mine"
        os.kill(made.pid, 9)
        wait_for(lambda: made.work(0.05) or not Path(place).parent.exists())
    finally:
        made.close()


def test_the_folder_of_a_program_that_was_killed_is_removed_by_the_next(tmp_path, monkeypatch):
    monkeypatch.setattr(folders.tempfile, "tempdir", str(tmp_path))
    with subprocess.Popen([sys.executable, "-c", "pass"]) as ended:
        ended.wait()
    orphan, ours = tmp_path / f"robgui-worker-{ended.pid}-abc", folders.worker_folder()
    (orphan / "deep").mkdir(parents=True)
    (orphan / "deep" / "link").symlink_to(Path(__file__))
    folders.remove_orphans.cache_clear()
    other = folders.worker_folder()
    assert not orphan.exists() and ours.exists() and other.exists() and Path(__file__).exists()
    assert ours.stat().st_mode & 0o777 == 0o700


@confined
@pytest.mark.parametrize(
    ("line", "hinted"),
    [
        ("open('mark', 'w')", True),
        ("__import__('os').chmod(__file__, 0o600)", True),
        ("__import__('subprocess').run(['true'])", True),
        ("__import__('socket').create_connection(('127.0.0.1', 9))", True),
        ("open('secret')", False),
    ],
)
def test_what_a_trusted_model_may_not_do_is_told_in_a_sentence(workers, tmp_path, line, hinted):
    (tmp_path / "secret").touch(mode=0)
    line = re.sub("'(mark|secret)'", lambda name: repr(str(tmp_path / name[1])), line)
    (tmp_path / "writes.py").write_text(
        f"from torch import nn\ndef build():\n    {line}\n    return nn.Linear(3, 4)\n"
    )
    save_file({"weight": torch.zeros(4, 3), "bias": torch.zeros(4)}, tmp_path / "m.safetensors")
    if not hinted and os.access(tmp_path / "secret", os.R_OK):
        pytest.skip("this user may read everything")
    with pytest.raises(ModelError, match=r"denied|not permitted") as caught:
        opened(
            workers,
            tmp_path / "m.safetensors",
            trust=True,
            architecture="writes.py:build",
            shape=(3,),
        )
    assert str(caught.value).endswith(HINT) == hinted


def test_numbers_of_system_calls_are_those_of_the_kernel():
    headers = {
        0: Path("/usr/include/x86_64-linux-gnu/asm/unistd_64.h"),
        1: Path("/usr/include/asm-generic/unistd.h"),
    }
    if not all(header.exists() for header in headers.values()):
        pytest.skip("the kernel's headers are not installed")
    for column, header in headers.items():
        found = dict(
            re.findall(r"#define __NR(?:3264)?_(\w+)\s+(\d+)\n", header.read_text(encoding="utf-8"))
        )
        known = {name: numbers[column] for name, numbers in CALLS.items() if name in found}
        assert len(known) > 90
        assert known == {name: int(found[name]) for name in known}


@pytest.mark.parametrize("processor", PROCESSORS.values(), ids=PROCESSORS)
@pytest.mark.parametrize("local", [True, False])
def test_the_filter_decides_as_it_should_on_every_processor(processor, local):
    program = seccomp.filter_program(processor, 77, local_sockets=local)

    def decide(name, *given):
        number = processor.number(name) if isinstance(name, str) else name
        return _interpret(program, processor.audit, number, given)

    for name in ("execve", "ptrace", "mount", "bpf", "connect", "io_uring_setup", "fchmodat"):
        assert decide(name) == "EPERM"
    assert decide("clone", 0x10000 | 0x100) == "allowed"
    assert decide("clone", 17) == "EPERM"
    assert decide("clone3") == "ENOSYS"
    assert (decide("kill", 77, 9), decide("kill", 1, 9), decide("kill", -1 % 2**64, 9)) == (
        "allowed",
        "EPERM",
        "EPERM",
    )
    assert decide("socket", 1) == ("allowed" if local else "EPERM")
    assert (decide("socket", 2), decide("socket", 16)) == ("EPERM", "EPERM")
    assert decide("sendto", 3, 0, 0, 0, 0) == "allowed"
    assert decide("sendto", 3, 0, 0, 0, 5) == "EPERM"
    assert decide("sendto", 3, 0, 0, 0, 1 << 32) == "EPERM"
    assert (decide("ioctl", 0, 0x5412), decide("ioctl", 0, 0x5401)) == ("EPERM", "allowed")
    assert (decide("prctl", 1, 0), decide("prctl", 15, 0)) == ("EPERM", "allowed")
    assert decide(0x40000000 + 59 if processor.column == 0 else 0xFFFFFFFF) == "EPERM"
    assert decide(1) == "allowed"
    assert _interpret(program, 0x40000003, 11, ()) == "EPERM", "calls of another processor"


def _interpret(program, audit, number, given):
    """Runs a filter as the kernel does."""
    words = {0: number, 4: audit}
    for place, value in enumerate(given):
        words |= {16 + 8 * place: value & 0xFFFFFFFF, 20 + 8 * place: value >> 32}
    at, loaded = 0, 0
    while True:
        code, yes, no, value = program[at]
        if code == 0x20:
            loaded, skip = words.get(value, 0), 0
        elif code == 0x06:
            return {0x7FFF0000: "allowed", 0x50001: "EPERM", 0x50026: "ENOSYS"}[value]
        else:
            holds = {0x15: loaded == value, 0x35: loaded >= value, 0x45: bool(loaded & value)}
            skip = yes if holds[code] else no
        at += 1 + skip


def test_devices_of_graphics_cards_are_allowed_where_there_are_any(tmp_path):
    for name in ("null", "sda", "shm"):
        (tmp_path / name).touch()
    assert graphics_devices(tmp_path) == []
    assert [path.name for path in plain_devices(tmp_path)] == ["null"]
    (tmp_path / "nvidia-caps").mkdir()
    for name in ("nvidia0", "nvidiactl", "nvidia-caps/nvidia-cap1"):
        (tmp_path / name).touch()
    found = {str(path.relative_to(tmp_path)) for path in graphics_devices(tmp_path)}
    assert found == {
        "nvidia-caps",
        "nvidia-caps/nvidia-cap1",
        "nvidia0",
        "nvidiactl",
        "shm",
    }


def test_a_driver_that_was_not_used_yet_is_woken_before_its_worker_is_confined(
    tmp_path, monkeypatch
):
    program = tmp_path / "nvidia-modprobe"
    program.write_text(f"#!/bin/sh\necho $@ > {tmp_path}/called\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=os.pathsep)
    make_nvidia_devices(tmp_path)
    assert not (tmp_path / "called").exists(), "no card"
    (tmp_path / "nvidiactl").touch()
    make_nvidia_devices(tmp_path)
    assert (tmp_path / "called").read_text() == "-c 0 -u\n"


def test_bytecode_that_an_installer_left_out_is_written_before_the_confinement(tmp_path):
    """Otherwise every start of a worker would translate every module again."""
    code = (
        "import sys; sys.dont_write_bytecode = False; sys.pycache_prefix = sys.argv[1];"
        "from robgui.core.execution.worker import entry;"
        "entry._IMPORTED = entry._IMPORTED[:1]; entry.find_spec = lambda name: None;"
        "print(entry.keep_bytecode(), entry.keep_bytecode())"
    )
    assert child(code, tmp_path) == "True False\n"
    assert list(tmp_path.rglob("child.*.pyc"))


_AS_NOBODY = """
import os, socket, sys, tempfile, pathlib, encodings.idna
from robgui.core.execution.worker.confinement import attempts, confine
os.setgroups([]), os.setgid(65534), os.setuid(65534)
own, outside = tempfile.mkdtemp(), pathlib.Path(tempfile.mkdtemp())
(outside / "kept").touch()
target = attempts.Target(outside, os.getpid())
reading, writing = os.pipe()
if os.fork() == 0:
    held = confine(pathlib.Path(own))
    (pathlib.Path(own) / "mine").write_text("mine")
    os.write(writing, f"{held.landlock > 0} {held.calls} {attempts.possible(target)}".encode())
    os._exit(0)
os.wait()
print(os.read(reading, 1000).decode())
"""


@confined
@pytest.mark.skipif(os.name != "posix" or os.geteuid() != 0, reason="only root can be another user")
def test_confinement_needs_no_rights_of_root():
    assert child(_AS_NOBODY) == "True True []\n"


def test_confinement_asks_for_nothing_in_a_process_with_more_threads():
    """Landlock would leave the others free, and must not be said to hold."""
    code = (
        "import threading; from robgui.core.execution.worker.confinement import confine;"
        "event = threading.Event(); threading.Thread(target=event.wait).start();"
        "print(confine(None).landlock); event.set()"
    )
    assert child(code) == "0\n"
    assert threading.active_count() >= 1
