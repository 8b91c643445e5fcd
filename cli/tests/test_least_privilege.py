"""The whole product on the production bus: each service with its own user, and no word that it may not say."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from nexus_cli.chat.client import Frame, conversation, visitor_token
from nexus_cli.stack.datadir import DataDirectory, StackProcess
from nexus_cli.stack.ports import choose
from nexus_cli.stack.program import Program, StopStage, Urls
from nexus_cli.stack.settings import StackSettings
from nexus_cli.stack.supervisor import Supervisor
from nexus_cli.stack.up import UpOptions, plan
from nexus_cli.testing.stacks import production_nats


def as_its_own_user(program: Program) -> Program:
    """The program with the bus user that docker-compose.yml gives it."""

    def environment(port: int, urls: Urls) -> Mapping[str, str]:
        return {
            **program.environment(port, urls),
            "NEXUS_NATS_USER": program.name,
            "NEXUS_NATS_PASSWORD": f"pw-{program.name}",
            "NEXUS_NATS_MANAGE_STREAMS": str(program.name == "memory").lower(),
        }

    if program.stage is StopStage.SERVER:
        return program
    # As in compose: the others start when memory is ready, since it makes the streams.
    return replace(program, environment=environment, needs=(*program.needs, *({"memory"} - {program.name})))


async def test_questions_are_answered_and_no_permission_is_missing(tmp_path: Path) -> None:
    directory = DataDirectory(tmp_path / "data")
    directory.create()
    (tmp_path / "nats").mkdir()
    said: list[str] = []
    running: dict[str, StackProcess] = {}

    def changed(processes: Sequence[StackProcess], urls: Mapping[str, str]) -> None:
        del urls
        running.update({process.name: process for process in processes})

    with production_nats(tmp_path / "nats") as bus:
        settings = StackSettings(nats_url=f"nats://{bus.address}")
        programs = [as_its_own_user(p) for p in plan(UpOptions(), directory, settings, choose(set()))]
        supervisor = Supervisor(programs, logs=directory.logs, urls=settings.urls(), say=said.append, changed=changed)
        try:
            await supervisor.start()
            gateway = running["gateway"].url
            page = await ask(gateway, "What does the Pro plan cost?")
            quote = await ask(gateway, "what is AAPL trading at?")
        finally:
            await supervisor.stop()
        violations = [line for line in bus.log.read_text().splitlines() if "Violation" in line]
    assert violations == []
    assert (page["role"], quote["role"]) == ("assistant", "assistant"), said
    assert page["citations"], page


async def ask(gateway: str, text: str) -> Frame:
    """The final message that answers a new visitor's question."""
    token = await visitor_token(gateway, "demo", "en")
    async with asyncio.timeout(90), conversation(gateway, token, "en") as (chat, _):
        await chat.say(text)
        async for frame in chat.frames():
            if frame["type"] == "message.created" and frame["message"]["role"] != "visitor":
                return frame["message"]
    raise AssertionError("unreachable: frames() raises when the socket closes")
