"""The examples for other services work as they stand, each as a program of its own beside the running stack."""

import asyncio
import json
import os
import signal
import sys
from pathlib import Path

import pytest

from tests.support.chat_client import ChatClient
from tests.support.running_stack import RunningStack

EXAMPLES = Path(__file__).parents[2] / "examples"
PAGE = Path(__file__).parents[2] / "docs/architecture/joining.md"


async def started(stack: RunningStack, name: str, *arguments: str, role: str = "service") -> asyncio.subprocess.Process:
    environment = os.environ | {
        "NEXUS_URL": stack.url,
        "NEXUS_NATS_URL": stack.facts()["urls"]["nats"],
        "NEXUS_TOKEN": stack.mint(role, "shop"),
        "NEXUS_USER": "customer-of-an-example",
    }
    return await asyncio.create_subprocess_exec(
        sys.executable, str(EXAMPLES / name), *arguments, env=environment, stdout=asyncio.subprocess.PIPE
    )


async def output(program: asyncio.subprocess.Process) -> str:
    try:
        async with asyncio.timeout(90):
            said, _ = await program.communicate()
    finally:
        if program.returncode is None:
            program.kill()
    assert program.returncode == 0
    return said.decode()


@pytest.mark.parametrize("example", sorted(EXAMPLES.glob("*.py")), ids=lambda path: path.name)
def test_an_example_is_short_and_in_the_documentation(example: Path) -> None:
    assert len(example.read_text().splitlines()) <= 60
    assert f"examples/{example.name}" in PAGE.read_text()


async def test_a_message_of_a_customers_is_answered(stack: RunningStack) -> None:
    assert "29" in await output(await started(stack, "send_message.py", "What does the Pro plan cost?"))


@pytest.mark.parametrize("example", ["agui_client.py", "a2a_client.py"])
async def test_a_client_of_another_protocol_is_answered(stack: RunningStack, example: str) -> None:
    said = await output(await started(stack, example, "What does the Pro plan cost?", role="user"))
    assert said.count("29 USD") == 1


async def test_an_analysis_comes_back_with_its_report(stack: RunningStack) -> None:
    done = json.loads(await output(await started(stack, "start_analysis.py", "How has IBM done this year?")))
    assert done["status"] == "done", done
    assert "IBM" in json.dumps(done["report"])


async def test_facts_are_followed_as_they_happen(stack: RunningStack, visitor: ChatClient) -> None:
    program = await started(stack, "follow_facts.py")
    assert program.stdout is not None
    try:
        async with asyncio.timeout(60):
            assert await program.stdout.readline() == b"following\n"
            await visitor.ask("What is AAPL trading at?")
            kinds: set[str] = set()
            while not {"tools.call.completed.v1", "usage.recorded.v1"} <= kinds:
                kinds.add((await program.stdout.readline()).decode().split(" ")[0])
        program.send_signal(signal.SIGTERM)
        await output(program)
    finally:
        if program.returncode is None:
            program.kill()
            await program.wait()
