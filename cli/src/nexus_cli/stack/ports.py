"""Loopback ports: choosing free ones, and telling whose a listening one is."""

from __future__ import annotations

import contextlib
import random
import socket
import sys
from pathlib import Path

HOST = "127.0.0.1"
_RANGE = range(20_000, 32_000)
"""Below what Linux gives to outgoing connections unless it is told otherwise."""
_OUTGOING = Path("/proc/sys/net/ipv4/ip_local_port_range")
_LISTEN = "0A"
_KEPT: list[socket.socket] = []


def is_free(port: int) -> bool:
    """True if a server could listen on this loopback port now."""
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((HOST, port))
        except OSError:
            return False
        return True


def choose(taken: set[int]) -> int:
    """A free port that is not in `taken`; it is added there, and no other process chooses it as long as this one lives.
    Where the system cannot keep a port for its later server (_keep), two stacks that choose the same one at the same
    moment are told apart by `listens`: the loser's server ends, and it is started on another port.

    Raises:
        OSError: no free port in 1,000 tries.
    """
    among = _not_outgoing()
    for _ in range(1000):
        port = random.choice(among)
        if port not in taken and _keep(port):
            taken.add(port)
            return port
    raise OSError(f"no free port between {among.start} and {among.stop} on {HOST}")


def _keep(port: int) -> bool:
    """Binds a socket that never listens to a free port; False if it is not free. On Linux a server that sets
    SO_REUSEADDR, as ours do, can listen there all the same, but nobody can bind without it (socket(7))."""
    kept = socket.socket()
    try:
        kept.bind((HOST, port))
    except OSError:
        kept.close()
        return False
    if sys.platform == "linux":
        kept.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        _KEPT.append(kept)
    else:
        kept.close()
    return True


def _not_outgoing() -> range:
    """Ports that no client's socket takes between our look and the server's bind, nor while the server is started
    again; where the system gives nearly all to outgoing connections, those that it gives by default to none."""
    try:
        first, last = map(int, _OUTGOING.read_text().split())
    except (OSError, ValueError):  # another system
        return _RANGE
    if last < _RANGE.start or first >= _RANGE.stop:
        return _RANGE
    return max(range(_RANGE.start, first), range(last + 1, 65_536), key=len) or _RANGE


def listens(pid: int, port: int) -> bool:
    """True if process `pid` itself listens on `port`; also true where the system cannot tell (no /proc)."""
    if not Path("/proc/self/net/tcp").exists():
        return True
    return bool(_sockets(port, _LISTEN) & _sockets_of(Path(f"/proc/{pid}")))


def owner(port: int) -> str | None:
    """Returns who has `port`, as `name (pid N)`, as far as this user may see it: who listens there, or else whose
    connection goes out from there."""
    sockets = _sockets(port, _LISTEN) or _sockets(port)
    if not sockets:
        return None
    for process in Path("/proc").glob("[0-9]*"):
        if sockets & _sockets_of(process):
            with contextlib.suppress(OSError):
                return f"{(process / 'comm').read_text().strip()} (pid {process.name})"
    return None


def _sockets(port: int, state: str = "") -> set[str]:
    """Inodes of the sockets on `port`, of those in one state or of all, from /proc/net/tcp and tcp6 (proc(5): fields 1,
    3 and 9)."""
    found: set[str] = set()
    for table in ("tcp", "tcp6"):
        with contextlib.suppress(OSError):
            for line in Path(f"/proc/self/net/{table}").read_text().splitlines()[1:]:
                fields = line.split()
                if state in ("", fields[3]) and int(fields[1].rsplit(":", 1)[1], 16) == port:
                    found.add(f"socket:[{fields[9]}]")
    return found


def _sockets_of(process: Path) -> set[str]:
    links: set[str] = set()
    with contextlib.suppress(OSError):
        for descriptor in (process / "fd").iterdir():
            with contextlib.suppress(OSError):
                links.add(str(descriptor.readlink()))
    return links
