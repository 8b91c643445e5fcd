"""A provider of models is added: a file that speaks its API and a row in the registry, and nothing else."""

import asyncio
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import aiohttp
import pytest

from agent.scripted_model.script import ScriptedReply
from agent.scripted_model.server import scripted_model
from deploy.documents import KEY_LINES, PAGES
from gateway.testing.http import Http
from runtime.testing.servers import eventually
from tests.support.running_stack import RunningStack

ROOT = Path(__file__).parents[2]
GUIDE = [f"docs/guide/{page}" for page in PAGES.values()]
CLIENT = '''
"""A provider's own API: here OpenAI's, said with an accent."""

from dataclasses import replace

from agent.adapters.openai_compatible import OpenAICompatible


class Example(OpenAICompatible):
    async def reply(self, prompt, sink):
        sink.text("Well: ")
        reply = await super().reply(prompt, sink)
        return replace(reply, text="Well: " + reply.text)


CLIENT = Example
'''
ROW = """
    ProviderInfo(
        "example",
        "Example Models",
        client="example",
        address="https://models.example/v1",
        key="EXAMPLE_API_KEY",
        prices=PriceList(date(2026, 1, 1), "https://models.example/prices"),
        models=(ModelInfo("example-1", "general", 32_000, None, (2.00, 4.00)),),
    ),
    COMPATIBLE,
"""


def tree_with_a_provider(folder: Path) -> Path:
    """The two distributions as somebody leaves them who adds a provider; what generated files need lies beside."""
    for package in ("libs/contracts/src/contracts", "services/agent/src/agent"):
        shutil.copytree(ROOT / package, folder / package, ignore=shutil.ignore_patterns("__pycache__"))
    for name in (*KEY_LINES, "docs/asyncapi/asyncapi.json", "docs/openapi/openapi.json", *GUIDE):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, folder / name)
    (folder / "services/agent/src/agent/adapters/example.py").write_text(CLIENT)
    registry = folder / "libs/contracts/src/contracts/providers.py"
    text = registry.read_text()
    assert text.count("    COMPATIBLE,\n") == 1
    registry.write_text(text.replace("    COMPATIBLE,\n", ROW.lstrip("\n")))
    return folder


@pytest.mark.timeout(900)
async def test_a_file_and_a_row_make_a_provider(tmp_path: Path) -> None:
    tree = tree_with_a_provider(tmp_path / "tree")
    path = os.pathsep.join(str(tree / package) for package in ("libs/contracts/src", "services/agent/src"))
    answer = ScriptedReply(text="one two three four", prompt_tokens=1_000)
    async with scripted_model(default=answer) as model, aiohttp.ClientSession() as session:
        key = {"EXAMPLE_API_KEY": "key-for-tests", "NEXUS_LLM_EXAMPLE_BASE_URL": model.base_url}
        stack = RunningStack(tmp_path / "data", {**key, "PYTHONPATH": path})
        written = asyncio.create_task(asyncio.to_thread(_generated, tree, stack.env))
        try:
            await asyncio.to_thread(stack.start)
            await stack.create_company("curious", aiAutoResponseEnabled=True, responseDelayMs=0)
            http, admin = Http(stack.url, session), stack.mint("admin", "root", "curious")
            await _preferred(http, admin)
            conversation = await _answered(stack)
            await eventually(lambda: _priced(http, admin))
            doctor = await asyncio.to_thread(stack.nexus, "doctor", "--json", "--data", str(stack.data))
            assert "configured by EXAMPLE_API_KEY" in [load["text"] for load in json.loads(doctor.stdout)]
            await eventually(lambda: asyncio.to_thread(_replayed, stack, conversation))
        finally:
            await asyncio.to_thread(stack.stop)
    assert await written == set(KEY_LINES)


async def _preferred(http: Http, admin: str) -> None:
    """What the console offers, and what a patch accepts."""
    _, body, _ = await http("GET", "/v2/llm/config/providers", token=admin)
    assert [one["id"] for one in body["providers"]][-3:] == ["example", "compatible", "offline"]
    offered = next(one for one in body["providers"] if one["id"] == "example")
    assert (offered["label"], offered["configured"]) == ("Example Models", True)
    assert [one["id"] for one in offered["models"]] == ["example-1"]
    wanted: dict[str, Any] = {"preferredProvider": "example", "preferredModel": "example-1"}
    config = "/v2/llm/config/curious"
    status, body, _ = await http("PATCH", config, token=admin, headers={"If-Match": "*"}, json=wanted)
    assert (status, body["warnings"]) == (200, []), body
    refused = {"preferredProvider": "exmaple"}
    status, body, _ = await http("PATCH", config, token=admin, headers={"If-Match": "*"}, json=refused)
    assert status == 422, body
    assert "'example'" in body["detail"]


async def _answered(stack: RunningStack) -> str:
    async with stack.visit("curious", locale="en") as visitor:
        assert (await visitor.ask("first"))["text"] == "Well: one two three four"
        return visitor.conversation or ""


async def _priced(http: Http, admin: str) -> bool:
    _, body, _ = await http("GET", "/v2/usage", token=admin)
    if not body["days"]:
        return False
    assert body["days"][0]["cost"] == pytest.approx((1_000 * 2.00 + 4 * 4.00) / 1_000_000)
    return True


def _replayed(stack: RunningStack, conversation: str) -> bool:
    done = stack.nexus("replay", conversation, "--model", "example:example-1", "--json", "--data", str(stack.data))
    if "no answered turn is recorded" in done.stderr + done.stdout:
        return False
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["summary"]["identical"] == 1, done.stdout
    return True


def _generated(tree: Path, env: dict[str, str]) -> set[str]:
    """What `make contracts` then writes: the key in the files of deployments, and nothing else."""
    command = [sys.executable, "-m", "deploy.documents", "--root", str(tree)]
    done = subprocess.run(command, env=env, cwd=ROOT, capture_output=True, text=True, timeout=400, check=False)
    assert done.returncode == 0, done.stderr
    for name in KEY_LINES:
        assert "EXAMPLE_API_KEY" in (tree / name).read_text()
    return {line.removeprefix("wrote ") for line in done.stdout.splitlines()}
