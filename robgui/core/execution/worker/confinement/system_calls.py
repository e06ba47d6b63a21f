"""The system calls that a worker never makes, with their numbers on two processors."""

from __future__ import annotations

from dataclasses import dataclass

#: The first number of the calls numbered alike on every processor.
_COMMON = 424


@dataclass(frozen=True, slots=True)
class Processor:
    """How a kind of processor numbers its calls.

    Attributes:
        audit: The kernel's number for it.
        column: Its place in the table.
        most: Numbers from here on belong to another calling convention.
    """

    audit: int
    column: int
    most: int

    def number(self, name: str) -> int | None:
        """The number of a call; None if there is no such call."""
        return CALLS[name][self.column]


PROCESSORS = {
    # AUDIT_ARCH_* of <linux/audit.h>. Bit 30 marks calls of x32, which numbers its calls anew.
    "x86_64": Processor(0xC000003E, 0, 0x40000000),
    "aarch64": Processor(0xC00000B7, 1, 0xFFFFFFFF),
}


def _table(text: str) -> dict[str, tuple[int | None, int | None]]:
    """``name x86_64 aarch64`` by the line; one number stands for both, ``-`` for none."""
    table = {}
    for line in text.split("\n"):
        if words := line.split():
            name, first, second = words[0], words[1], words[-1]
            table[name] = (_read(first), _read(second))
            assert len(words) == 3 or int(first) >= _COMMON, line
    return table


def _read(word: str) -> int | None:
    if word == "-":
        return None
    return int(word)


#: Calls whose arguments are checked.
_LOOKED_AT = """
clone 56 220
clone3 435
kill 62 129
tgkill 234 131
rt_sigqueueinfo 129 138
rt_tgsigqueueinfo 297 240
prlimit64 302 261
socket 41 198
sendto 44 206
fcntl 72 25
ioctl 16 29
prctl 157 167
"""

_PROGRAMS = """
fork 57 -
vfork 58 -
execve 59 221
execveat 322 281
setsid 112 157
setpgid 109 154
"""

_OTHER_PROCESSES = """
ptrace 101 117
process_vm_readv 310 270
process_vm_writev 311 271
process_madvise 440
kcmp 312 272
pidfd_open 434
pidfd_getfd 438
pidfd_send_signal 424
tkill 200 130
shmget 29 194
shmat 30 196
shmctl 31 195
semget 64 190
semctl 66 191
msgget 68 186
msgctl 71 187
mq_open 240 180
mq_unlink 241 181
"""

_SOCKETS = """
connect 42 203
sendmsg 46 211
sendmmsg 307 269
io_uring_setup 425
io_uring_enter 426
io_uring_register 427
"""

#: They change owner, mode and times of a file, which Landlock does not guard.
_OF_FILES = """
chmod 90 -
fchmod 91 52
fchmodat 268 53
fchmodat2 452
chown 92 -
fchown 93 55
lchown 94 -
fchownat 260 54
utime 132 -
utimes 235 -
futimesat 261 -
utimensat 280 88
setxattr 188 5
lsetxattr 189 6
fsetxattr 190 7
removexattr 197 14
lremovexattr 198 15
fremovexattr 199 16
setxattrat 463
removexattrat 466
file_setattr 469
truncate 76 45
open_by_handle_at 304 265
"""

_OF_THE_SYSTEM = """
mount 165 40
umount2 166 39
pivot_root 155 41
chroot 161 51
open_tree 428
move_mount 429
fsopen 430
fsconfig 431
fsmount 432
fspick 433
mount_setattr 442
open_tree_attr 467
unshare 272 97
setns 308 268
bpf 321 280
perf_event_open 298 241
userfaultfd 323 282
fanotify_init 300 262
add_key 248 217
request_key 249 218
keyctl 250 219
init_module 175 105
finit_module 313 273
delete_module 176 106
kexec_load 246 104
kexec_file_load 320 294
reboot 169 142
swapon 167 224
swapoff 168 225
acct 163 89
quotactl 179 60
quotactl_fd 443
sethostname 170 161
setdomainname 171 162
settimeofday 164 170
clock_settime 227 112
clock_adjtime 305 266
adjtimex 159 171
iopl 172 -
ioperm 173 -
syslog 103 116
personality 135 92
setuid 105 146
setgid 106 144
setreuid 113 145
setregid 114 143
setgroups 116 159
setresuid 117 147
setresgid 119 149
capset 126 91
"""

_REFUSED = _table(_PROGRAMS + _OTHER_PROCESSES + _SOCKETS + _OF_FILES + _OF_THE_SYSTEM)
#: Refused whatever their arguments.
REFUSED = tuple(_REFUSED)
CALLS = _REFUSED | _table(_LOOKED_AT) | _table("seccomp 317 277")
