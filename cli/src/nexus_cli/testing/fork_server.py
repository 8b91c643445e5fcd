"""`python -m nexus_cli.testing.fork_server SOCKET`: a fork server (runtime.testing.fork_server) that has imported the
services and the commands before it listens, so that none of a stack waits for the imports of another."""

import importlib
import pkgutil

import nexus_cli
from nexus_cli.stack.services import SERVICES, package
from runtime.lifecycle.process import load
from runtime.testing import fork_server

if __name__ == "__main__":
    for service in SERVICES:
        load(importlib.import_module(f"{package(service)}.__main__").MAIN)
    for module in pkgutil.walk_packages(nexus_cli.__path__, "nexus_cli."):
        if not module.name.startswith(("nexus_cli.testing", "nexus_cli.__main__")):
            importlib.import_module(module.name)
    fork_server.main()
