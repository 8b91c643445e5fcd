"""A loop that a service starts for as long as it lives is a BackgroundLoop, which nothing ends in silence, or is looked
at in another way that stands here."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[1]
LOOKED_AT = {
    "BackgroundLoop._run": "its own `stuck_because`",
    "Liveness._run": "catches whatever a look raises; without it nothing else would be looked at",
    "Health._keep_beat": "the beat that /healthz goes by",
    "BatchWorker._run": "its own `stuck_because`",
    "PullWorker._keep": "the worker's `stuck_because`",
    "Activity._run_worker": "its own `stuck_because`",
}


def endless() -> Iterator[str]:
    """Methods with a loop that no condition of the work ends, which are started as tasks."""
    for folder in ("libs/runtime/src", *(f"services/{one.name}/src" for one in (ROOT / "services").iterdir())):
        for path in (ROOT / folder).rglob("*.py"):
            if "testing" in path.name or "scripted_model" in path.parts:
                continue
            tree = ast.parse(path.read_text())
            for kind in ast.walk(tree):
                if isinstance(kind, ast.ClassDef):
                    started = {name for call in ast.walk(kind) for name in _started(call)}
                    for method in kind.body:
                        if isinstance(method, ast.AsyncFunctionDef) and method.name in started and _loops(method):
                            yield f"{kind.name}.{method.name}"


def _started(call: ast.AST) -> Iterator[str]:
    if isinstance(call, ast.Call) and ast.unparse(call.func).rpartition(".")[2] in {"create_task", "ensure_future"}:
        for inner in ast.walk(call):
            if isinstance(inner, ast.Call) and ast.unparse(inner.func).startswith("self."):
                yield ast.unparse(inner.func).removeprefix("self.")


def _loops(method: ast.AsyncFunctionDef) -> bool:
    return any(
        isinstance(one, ast.While)
        and (isinstance(one.test, ast.Constant) or "stopping" in ast.unparse(one.test))
        and not any(isinstance(inner, ast.Return | ast.Break) for inner in ast.walk(one))
        for one in ast.walk(method)
    )


def test_no_loop_is_started_that_could_end_without_being_missed() -> None:
    assert sorted(endless()) == sorted(LOOKED_AT)
