"""Loopback ports: chooses free ones, and finds the process that owns a port."""

from __future__ import annotations

import contextlib
import random
import socket
import sys
from pathlib import Path

HOST = "127.0.0.1"
_DEFAULT_RANGE = range(20_000, 32_000)
"""Ports below those that Linux uses for outgoing connections by default."""
_OUTGOING = Path("/proc/sys/net/ipv4/ip_local_port_range")
_LISTEN = "0A"
_RESERVED: list[socket.socket] = []


def is_free(port: int) -> bool:
    """Whether a server could listen on this loopback port now."""
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((HOST, port))
        except OSError:
            return False
        return True


def choose(taken_ports: set[int]) -> int:
    """Chooses a free port that is not in `taken_ports`, adds it there, and reserves it while this process lives. On
    systems where a port cannot be reserved (_reserve), two stacks may choose the same one: then `listens` is false for
    the loser, whose server ends and is started on another port.

    Raises:
        OSError: no free port after 1,000 attempts.
    """
    candidates = _candidate_ports()
    for _ in range(1000):
        port = random.choice(candidates)
        if port not in taken_ports and _reserve(port):
            taken_ports.add(port)
            return port
    raise OSError(f"no free port between {candidates.start} and {candidates.stop} on {HOST}")


def _reserve(port: int) -> bool:
    """Reserves a port by binding a socket that never listens; False if the port is not free. On Linux a server that
    sets SO_REUSEADDR, as ours do, can still listen there, but a socket without it cannot bind (socket(7))."""
    placeholder = socket.socket()
    try:
        placeholder.bind((HOST, port))
    except OSError:
        placeholder.close()
        return False
    if sys.platform == "linux":
        placeholder.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        _RESERVED.append(placeholder)
    else:
        placeholder.close()
    return True


def _candidate_ports() -> range:
    """Ports that the system does not use for outgoing connections, so that no client takes one before its server binds
    or while the server restarts. If nearly all ports are used for them, the default range."""
    try:
        first_outgoing, last_outgoing = map(int, _OUTGOING.read_text().split())
    except (OSError, ValueError):  # another system
        return _DEFAULT_RANGE
    if last_outgoing < _DEFAULT_RANGE.start or first_outgoing >= _DEFAULT_RANGE.stop:
        return _DEFAULT_RANGE
    return max(range(_DEFAULT_RANGE.start, first_outgoing), range(last_outgoing + 1, 65_536), key=len) or _DEFAULT_RANGE


def listens(pid: int, port: int) -> bool:
    """Whether process `pid` itself listens on `port`. True if the system cannot tell (no /proc)."""
    if not Path("/proc/self/net/tcp").exists():
        return True
    return bool(_sockets(port, _LISTEN) & _sockets_of(Path(f"/proc/{pid}")))


def owner(port: int) -> str | None:
    """The process that uses `port`, as `name (pid N)`: the one that listens there, else one with a connection from
    there. None if there is none that this user may see."""
    sockets = _sockets(port, _LISTEN) or _sockets(port)
    if not sockets:
        return None
    for process in Path("/proc").glob("[0-9]*"):
        if sockets & _sockets_of(process):
            with contextlib.suppress(OSError):
                return f"{(process / 'comm').read_text().strip()} (pid {process.name})"
    return None


def _sockets(port: int, state: str = "") -> set[str]:
    """Links of the sockets on `port`, in one state or in any, from /proc/net/tcp and tcp6 (proc(5): fields 1, 3 and
    9)."""
    inodes: set[str] = set()
    for table in ("tcp", "tcp6"):
        with contextlib.suppress(OSError):
            for line in Path(f"/proc/self/net/{table}").read_text().splitlines()[1:]:
                fields = line.split()
                if state in ("", fields[3]) and int(fields[1].rsplit(":", 1)[1], 16) == port:
                    inodes.add(f"socket:[{fields[9]}]")
    return inodes


def _sockets_of(process: Path) -> set[str]:
    links: set[str] = set()
    with contextlib.suppress(OSError):
        for descriptor in (process / "fd").iterdir():
            with contextlib.suppress(OSError):
                links.add(str(descriptor.readlink()))
    return links
