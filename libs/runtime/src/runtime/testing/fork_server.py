"""A process that imports modules once and forks the programs that tests start: imports are most of a start.

    python -m runtime.testing.fork_server SOCKET

It imports a program when it is first asked for it. Each connection is one process. The client (runtime.testing.forks,
or a supervisor with NEXUS_FORK_SERVER=SOCKET in its environment) sends a length (4 bytes) with
the descriptors of its standard input, output and errors and of files to keep open, then {module, arguments,
environment, directory} as JSON. The server answers `pid …`, and `code …` when the process ends. If the client closes
the connection, the process and its group are killed. The server prints a line when it listens; it ends, with all its
forks, when its standard input ends.
"""

from __future__ import annotations

import atexit
import gc
import importlib
import json
import os
import runpy
import selectors
import signal
import socket
import sys
from collections.abc import Mapping
from contextlib import suppress
from typing import Any

from runtime.lifecycle.parent import end_with_parent
from runtime.lifecycle.process import load

_MAX_DESCRIPTORS = 16
_REQUEST_SECONDS = 5.0


class ForkServer:
    """The server, which listens on a Unix socket at `path`."""

    def __init__(self, path: str) -> None:
        self._listener = socket.socket(socket.AF_UNIX)
        self._listener.bind(path)
        self._listener.listen(64)
        self._services: dict[int, socket.socket] = {}
        self._imported: set[str] = set()
        # A signal wakes the selector by a byte on this pair.
        self._ended, self._wakes = socket.socketpair()
        self._events = selectors.DefaultSelector()

    def serve(self) -> str | None:
        """Forks until standard input ends. In a fork, returns the module to run."""
        self._ended.setblocking(False)
        self._wakes.setblocking(False)
        signal.set_wakeup_fd(self._wakes.fileno(), warn_on_full_buffer=False)
        signal.signal(signal.SIGCHLD, lambda number, frame: None)
        self._events.register(self._ended, selectors.EVENT_READ, self._reap)
        self._events.register(self._listener, selectors.EVENT_READ, self._fork)
        self._events.register(sys.stdin, selectors.EVENT_READ, sys.exit)
        os.write(1, b"listens\n")
        while True:
            for key, _ in self._events.select():
                if (module := key.data()) is not None:
                    return module

    def _fork(self) -> str | None:
        connection, _ = self._listener.accept()
        connection.settimeout(_REQUEST_SECONDS)
        descriptors: list[int] = []
        server = os.getpid()
        try:
            request, descriptors = _request(connection)
            self._import(request["module"])
            if (pid := os.fork()) == 0:
                module = _become(request, descriptors, server)
                # Sent by the fork itself, once its group can be killed.
                connection.sendall(f"pid {os.getpid()}\n".encode())
                self._leave(connection)
                return module
        except (OSError, ValueError, EOFError):
            if os.getpid() != server:
                os._exit(1)
            connection.close()
            return None
        finally:
            for descriptor in descriptors:
                os.close(descriptor)
        self._services[pid] = connection
        self._events.register(connection, selectors.EVENT_READ, lambda: self._kill(pid))
        return None

    def _import(self, module: str) -> None:
        if module in self._imported:
            return
        self._imported.add(module)
        with suppress(Exception):  # the fork meets it again, and says so
            program = importlib.import_module(module)
            if hasattr(program, "__path__"):
                program = importlib.import_module(f"{module}.__main__")
            if hasattr(program, "MAIN"):
                load(program.MAIN)
        # Without a collection, which would touch what is frozen already, and so be copied for each fork.
        gc.freeze()

    def _kill(self, pid: int) -> None:
        connection = self._services.get(pid)
        if connection is None:
            return  # it has just ended
        self._events.unregister(connection)
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(pid, signal.SIGKILL)

    def _reap(self) -> None:
        with suppress(BlockingIOError):
            self._ended.recv(4096)
        while self._services:
            pid, status = os.waitpid(-1, os.WNOHANG)
            if pid == 0:
                return
            connection = self._services.pop(pid)
            with suppress(OSError, KeyError, ValueError):
                self._events.unregister(connection)
            with suppress(OSError):
                connection.sendall(f"code {os.waitstatus_to_exitcode(status)}\n".encode())
            connection.close()

    def _leave(self, connection: socket.socket) -> None:
        """In a fork: closes everything that belongs to the server."""
        signal.set_wakeup_fd(-1)
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        self._events.close()
        for open_socket in (connection, self._listener, self._ended, self._wakes, *self._services.values()):
            open_socket.close()


def _request(connection: socket.socket) -> tuple[dict[str, Any], list[int]]:
    head, descriptors, _, _ = socket.recv_fds(connection, 4, _MAX_DESCRIPTORS)
    length, body = int.from_bytes(head, "big"), b""
    while len(body) < length:
        part = connection.recv(length - len(body))
        if not part:
            raise EOFError("who asked has gone")
        body += part
    return json.loads(body), descriptors


def _become(request: Mapping[str, Any], descriptors: list[int], server: int) -> str:
    """In a fork: takes the session, standard descriptors, arguments, environment and folder of the requested program.
    Returns its module."""
    os.setsid()
    end_with_parent(signal.SIGKILL)
    if os.getppid() != server:
        os._exit(1)
    for target in range(3):
        os.dup2(descriptors[target], target)
    del descriptors[3:]  # the rest stays open
    sys.argv[1:] = request["arguments"]
    os.environ.clear()
    os.environ.update(request["environment"])
    os.chdir(request["directory"])
    return str(request["module"])


def _run(module: str) -> None:
    """In a fork: runs the module, and ends without freeing what the server has imported, which takes longer than most
    commands."""
    code = 1

    def end() -> None:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)

    atexit.register(end)
    try:
        sys.modules.pop(f"{module}.__main__", None)
        runpy.run_module(module, run_name="__main__", alter_sys=True)
        code = 0
    except SystemExit as ended:
        code = ended.code if isinstance(ended.code, int) else int(ended.code is not None)
        raise


def main() -> None:
    """Serves; in a fork, runs its program."""
    gc.disable()
    module = ForkServer(sys.argv[1]).serve()
    if module is not None:
        gc.enable()
        _run(module)


if __name__ == "__main__":
    main()
