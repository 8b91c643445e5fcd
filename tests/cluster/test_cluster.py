"""A cluster in short: up with users and TLS, its first agent and gateway of the release before, broken by the shipped
command, and nothing lost. Long: `make cluster` and `make upgrade`."""

import asyncio
import json
import os
import sys
import warnings
from pathlib import Path

from nexus_cli.drill.faults import Kind
from nexus_cli.testing.stacks import run_forked
from tests.cluster.programs import NATS
from tests.cluster.rig import running_cluster
from tests.upgrade.previous import has_previous, previous_release

REPLICAS = {"memory": 1, "gateway": 2, "agent": 2, "tool-executor": 1}
KINDS = (Kind.KILL, Kind.STEP_DOWN, Kind.RESTART)
SEED = "63"
"""By which the first faults are each of another kind."""


async def test_a_cluster_that_is_broken_loses_nothing_and_doubles_nothing(tmp_path: Path) -> None:
    said: list[str] = []
    older: dict[str, Path] = {}
    if has_previous():
        older = dict.fromkeys(("agent", "gateway"), previous_release(tmp_path / "before"))
    else:
        warnings.warn("a shallow clone: no service of the release before is in the cluster", stacklevel=1)
    async with running_cluster(tmp_path / "data", REPLICAS, said.append, older=older) as cluster:
        assert set(NATS) < set(cluster.names)
        chosen = [word for kind in KINDS for word in ("--kind", kind)]
        asked = ["drill", "--running", "--data", str(tmp_path / "data"), "--faults", "3", "--visitors", "2"]
        command = [sys.executable, "-m", "nexus_cli", *asked, *chosen, "--seed", SEED, "--json"]
        done = await asyncio.to_thread(run_forked, command, os.environ, timeout=240)
        assert done.returncode == 0, done.stderr + done.stdout + "\n".join(said)
        report = json.loads(done.stdout)
        assert [report[name] for name in ("lost", "doubled", "overAHuman", "other")] == [0, 0, 0, 0]
        assert {one["kind"] for one in report["faults"]} == set(KINDS)
        assert report["answers"] >= 1
