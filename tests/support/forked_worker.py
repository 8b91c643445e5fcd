"""Stands for a worker in the eyes of execnet: `python forked_worker.py SOCKET …` (see worker_forks.py). It imports as
little as possible."""

import json
import os
import socket
import sys


def main() -> int:
    """Asks for a fork on this process's standard descriptors and returns its exit code."""
    place = {"environment": {**os.environ}, "directory": os.getcwd()}  # noqa: PTH109
    body = json.dumps({"module": "worker", "arguments": (), **place}).encode()
    with socket.socket(socket.AF_UNIX) as connection:
        connection.connect(sys.argv[1])
        socket.send_fds(connection, [len(body).to_bytes(4, "big")], [0, 1, 2])
        connection.sendall(body)
        # Whoever reads and writes at the other end must see the worker's end.
        os.close(0)
        os.close(1)
        answers = connection.makefile().read().split()
    return int(answers[3]) if len(answers) == 4 else 1


if __name__ == "__main__":
    sys.exit(main())
