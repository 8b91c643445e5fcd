"""What a service's process imports: only what it needs, compiled already, for importing is most of its start."""

import subprocess
import sys

import pytest

from nexus_cli.stack.datadir import DevSecrets
from nexus_cli.stack.services import SERVICES, service_program

NEVER = {"rich", "opentelemetry.sdk", "IPython", "mcp", "pandas", "talib", "sklearn", "ccxt", "yfinance", "pytest"}
"""Imported later by those who need them, or by nobody."""
TOO_MUCH = {
    "gateway.app:main": NEVER | {"aiohttp", "redis", "pymongo", "numpy", "tiktoken"},
    "agent.service:serve": NEVER | {"fastapi", "redis", "pymongo", "numpy"},
    "tool_executor.service:serve": NEVER | {"fastapi", "pymongo", "numpy", "tiktoken"},
    "memory.service:main": NEVER | {"fastapi", "numpy", "tiktoken"},
    "market_adapter.app:serve": NEVER | {"aiohttp", "fastapi", "redis", "tiktoken"},
}
PROGRAM = """
import gc, importlib, sys
from runtime.lifecycle.process import load
main = load(sys.argv[1])
print(main.__name__, gc.isenabled(), *sys.modules)
for kept_away in ("rich", "opentelemetry.sdk", "aiohttp"):
    importlib.import_module(kept_away)
"""


@pytest.mark.parametrize("main", TOO_MUCH)
def test_a_service_starts_without_what_it_does_not_need_and_finds_it_later(main: str) -> None:
    command = [sys.executable, "-c", PROGRAM, main]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr
    name, collects, *modules = done.stdout.split()
    assert name == main.partition(":")[2]
    assert collects == "False"
    assert TOO_MUCH[main].isdisjoint(modules), TOO_MUCH[main].intersection(modules)


@pytest.mark.parametrize("name", SERVICES)
def test_what_a_service_imports_is_compiled_once_whatever_the_environment_says(name: str) -> None:
    program = service_program(name, gateway_port=1, secrets=DevSecrets("", "", "", ""))
    assert program.environment(1, {})["PYTHONDONTWRITEBYTECODE"] == ""


@pytest.mark.parametrize(("said", "found_by"), [("", "wheel"), ("none", "none"), ("openai", "openai")])
def test_memory_finds_by_meaning_where_the_model_is_installed_and_nothing_else_is_said(
    monkeypatch: pytest.MonkeyPatch, said: str, found_by: str
) -> None:
    monkeypatch.setenv("NEXUS_EMBEDDINGS", said)
    program = service_program("memory", gateway_port=1, secrets=DevSecrets("", "", "", ""))
    assert program.environment(1, {})["NEXUS_EMBEDDINGS"] == found_by
