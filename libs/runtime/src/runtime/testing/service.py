"""For tests: a service in its own process, which can be killed or frozen."""

import http.client
import os
import socket
import subprocess
import sys
from abc import abstractmethod
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import IO

from runtime.testing.forks import ForkedProcess, fork
from runtime.testing.servers import ServerProcess


class ServiceProcess(ServerProcess):
    """`python -m MODULE`, forked or with the given `python` of another clone, at a free port."""

    ready_path = "/readyz"

    def __init__(self, directory: Path, module: str, python: str = sys.executable) -> None:
        super().__init__(directory)
        self._module, self._python = module, python
        with socket.socket() as probe:
            probe.bind((self.host, 0))
            self.port = probe.getsockname()[1]

    @abstractmethod
    def settings(self) -> Mapping[str, str]:
        """Returns its environment variables, in addition to this process's."""

    @property
    def url(self) -> str:
        return f"http://{self.host}:{self.port}"

    def command(self) -> Sequence[str]:
        return [
            "env",
            *(f"{name}={value}" for name, value in self.settings().items()),
            self._python,
            "-m",
            self._module,
        ]

    def launch(self, output: IO[bytes]) -> subprocess.Popen[bytes] | ForkedProcess:
        if self._python != sys.executable:
            return super().launch(output)
        return fork(self._module, environment={**os.environ, **self.settings()}, output=output, cwd=self.directory)

    def ready(self) -> bool:
        connection = http.client.HTTPConnection(self.host, self.port, timeout=1)
        try:
            connection.request("GET", self.ready_path)
            return connection.getresponse().status == 200
        except (OSError, http.client.HTTPException):
            return False
        finally:
            connection.close()
