"""``python -m benchmarks.killed_agent [CLONE] [--kills N] [--agents N]``: how long a visitor waits if an agent is
killed.

An agent is killed (kill -9) while it answers and restarted immediately, as a supervisor would; measured are the times
until the run starts again, and until its first text. With a CLONE, its agents and this clone's are killed in
alternation.
"""

import argparse
import asyncio
import sys
import time
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory

from agent.scripted_model.script import ScriptedReply
from agent.scripted_model.server import ScriptedModel, scripted_model
from agent.testing.process import AgentProcess
from agent.testing.stage import Stage, stage
from benchmarks.report import median, percentile
from runtime.testing.servers import eventually, run_nats_server

SLOW = ScriptedReply(tokens=40, first_token_ms=200, token_ms=50)
WAIT_TIMEOUT = 180.0


@dataclass
class Side:
    """One clone's agents on their own bus. Waits are in seconds since the kill."""

    name: str
    scene: Stage
    model: ScriptedModel
    agents: list[AgentProcess]
    started: list[float] = field(default_factory=list[float])
    spoke: list[float] = field(default_factory=list[float])
    extra: int = 0
    """The number of answers beyond the expected one."""

    async def kill_one(self) -> None:
        """Runs one conversation whose agent is killed while it answers."""
        conversation = f"c{len(self.started)}"
        self.model.asked.clear()
        self.scene.live.clear()
        await self.scene.visitor(conversation, "tell me something long", principal=None)
        await eventually(lambda: len(self.scene.told("message.delta")) >= 5, WAIT_TIMEOUT)
        driver = next(agent for agent in self.agents if agent.model == self.model.asked[-1]["model"])
        driver.kill()
        killed_at = time.monotonic()
        self.scene.live.clear()
        restart = asyncio.create_task(asyncio.to_thread(driver.start))
        await eventually(lambda: self.scene.told("run.started"), WAIT_TIMEOUT)
        self.started.append(time.monotonic() - killed_at)
        await eventually(lambda: self.scene.told("message.delta"), WAIT_TIMEOUT)
        self.spoke.append(time.monotonic() - killed_at)
        self.extra += len(await self.scene.answered(conversation)) - 1
        await restart
        await self.scene.idle()

    def __str__(self) -> str:
        lines = [f"{self.name}: {len(self.started)} kills, {self.extra} answers too many"]
        for label, waits in (("until the run starts again", self.started), ("until its first text", self.spoke)):
            p95 = percentile(waits, 0.95)
            lines.append(f"  {label}: p50 {median(waits):.2f}, p95 {p95:.2f}, worst {max(waits):.2f} s")
        return "\n".join(lines)


async def compare(clone: Path | None, kills: int, agents: int) -> None:
    """Measures, and prints both sides' figures."""
    pythons = {} if clone is None else {"that": str(clone / ".venv/bin/python")}
    pythons["this"] = sys.executable
    async with AsyncExitStack() as stack:
        sides: list[Side] = []
        for name, python in pythons.items():
            server = stack.enter_context(run_nats_server())
            folder = Path(stack.enter_context(TemporaryDirectory()))
            scene = await stack.enter_async_context(stage(server.url))
            model = await stack.enter_async_context(scripted_model(default=SLOW))
            side = Side(name, scene, model, [])
            for number in range(agents):
                agent = AgentProcess(folder / str(number), server.url, model.base_url, f"agent-{number}", python)
                await asyncio.to_thread(agent.start)
                stack.callback(agent.kill)
                side.agents.append(agent)
            sides.append(side)
        for kill in range(kills):
            for side in sides:
                await side.kill_one()
                print(f"{kill + 1} {side.name}: {side.started[-1]:.2f} {side.spoke[-1]:.2f}", file=sys.stderr)
        print(*sides, sep="\n")


def main() -> None:
    """Parses the command line and runs the benchmark."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("clone", type=Path, nargs="?", help="another clone, set up with make setup")
    parser.add_argument("--kills", type=int, default=50)
    parser.add_argument("--agents", type=int, default=2)
    options = parser.parse_args()
    clone = None if options.clone is None else options.clone.resolve()
    asyncio.run(compare(clone, options.kills, options.agents))


if __name__ == "__main__":
    main()
