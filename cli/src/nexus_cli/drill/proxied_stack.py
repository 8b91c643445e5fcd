"""Runs `nexus up` with the services' addresses replaced by those of proxies.

python -m nexus_cli.drill.proxied_stack DATA SERVERS-PORTS PROXIES-PORTS
"""

from __future__ import annotations

import asyncio
import json
import re
import signal
import sys
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from nexus_cli.stack.datadir import DataDirectory
from nexus_cli.stack.program import Program, StopStage, Urls
from nexus_cli.stack.settings import read_settings
from nexus_cli.stack.up import UpOptions, run_stack
from runtime.lifecycle.parent import end_with_parent


def rewired(program: Program, servers: Mapping[str, int], proxy_ports: Mapping[str, int]) -> Program:
    """The program, changed: a server to run on its chosen port, a service to reach the servers through the proxies."""
    if program.stage is StopStage.SERVER:
        return replace(program, port=servers[program.name])

    def environment(port: int, urls: Urls) -> Mapping[str, str]:
        proxied_urls = {
            server: re.sub(rf":{servers[server]}\b", f":{proxy_ports[f'{program.name} {server}']}", url)
            for server, url in urls.items()
        }
        return program.environment(port, proxied_urls)

    return replace(program, environment=environment)


def main() -> None:
    """Runs until it receives a signal to stop."""
    data, servers, proxy_ports = Path(sys.argv[1]), json.loads(sys.argv[2]), json.loads(sys.argv[3])
    end_with_parent(signal.SIGTERM)
    options = UpOptions(port=servers["gateway"])
    asyncio.run(
        run_stack(options, DataDirectory(data), read_settings(), lambda program: rewired(program, servers, proxy_ports))
    )


if __name__ == "__main__":
    main()
