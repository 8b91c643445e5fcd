"""Reads the repository's YAML, and from the services' code which metrics they export: every collector is created with a
literal name and labels."""

import ast
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import yaml

ROOT = Path(__file__).resolve().parents[2]
PROCESS = {"process_resident_memory_bytes", "process_cpu_seconds_total", "process_open_fds"}
"""The metrics that prometheus_client adds to each process."""
SERIES = {"Counter": ("_total",), "Gauge": ("",), "Histogram": ("_bucket", "_count", "_sum")}


def yaml_documents(text: str) -> Iterator[Any]:
    """Yields the documents of a YAML text. libyaml reads it in a tenth of the time of `yaml.safe_load_all`."""
    return yaml.load_all(text, yaml.CSafeLoader)


def yaml_of(text: str) -> Any:
    """Returns the only document of a YAML text."""
    (document,) = yaml_documents(text)
    return document


@cache
def collectors() -> tuple[tuple[str, str, tuple[str, ...]], ...]:
    """Returns kind, name and labels of each Counter, Gauge and Histogram in the services' code."""
    return tuple(_collectors())


def _collectors() -> Iterator[tuple[str, str, tuple[str, ...]]]:
    for path in sorted([*ROOT.glob("libs/*/src/**/*.py"), *ROOT.glob("services/*/src/**/*.py")]):
        text = path.read_text()
        if "from prometheus_client import" not in text:
            continue
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in SERIES:
                name, _, *labels = node.args
                if isinstance(name, ast.Constant) and isinstance(name.value, str):
                    yield node.func.id, name.value, tuple(ast.literal_eval(labels[0])) if labels else ()


def series() -> dict[str, set[str]]:
    """Returns the labels of each series by its name in /metrics, without the labels that Prometheus adds."""
    found: dict[str, set[str]] = {name: set() for name in PROCESS}
    for kind, name, labels in collectors():
        for ending in SERIES[kind]:
            found[name.removesuffix("_total") + ending if kind == "Counter" else name + ending] = set(labels) | (
                {"le"} if ending == "_bucket" else set()
            )
    return found
