"""`nexus eval` as a user runs it: a stack of its own, no key, and nothing left behind."""

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from tests.support.running_stack import RunningStack

FAILING = """
about = "Says something that nobody says"
kind = "visitor"
say = ["I want to talk to a person"]

[expect]
says = ["something that nobody says"]
"""


async def evaluated(nowhere: RunningStack) -> tuple[int, dict[str, Any]]:
    """The exit code of all cases that come with the command, and what it tells of them."""
    done = await asyncio.to_thread(nowhere.nexus, "eval", "--json", timeout=190)
    return done.returncode, json.loads(done.stdout)


@pytest.mark.timeout(400)
async def test_every_case_that_comes_with_the_command_passes_with_no_key(tmp_path: Path) -> None:
    nowhere = RunningStack(tmp_path / "none", env={})
    code, run = await evaluated(nowhere)
    if run["errors"]:  # what a busy machine keeps from being tried says nothing of the product
        code, run = await evaluated(nowhere)
    assert [(case["id"], case["checks"]) for case in run["cases"] if case["passed"] is False] == []
    assert [(case["id"], case["error"]) for case in run["cases"] if "error" in case] == []
    assert code == 0
    assert run["passed"] >= 40
    assert run["skipped"] == sum(case["needs_model"] for case in run["cases"]) > 0


@pytest.mark.timeout(300)
async def test_a_case_that_fails_says_why_and_is_the_exit_code(tmp_path: Path) -> None:
    (tmp_path / "fails.toml").write_text(FAILING)
    nowhere = RunningStack(tmp_path / "none", env={})
    done = await asyncio.to_thread(nowhere.nexus, "eval", "--cases", str(tmp_path), timeout=280)
    assert done.returncode == 1, done.stderr
    assert "FAIL" in done.stdout
    assert "keep writing in the meantime" in done.stdout
    assert "0 passed, 1 failed" in done.stdout
