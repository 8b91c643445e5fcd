"""A backup is made while people talk, and restored where nothing was: every transcript is as it was."""

import asyncio
import json
import shutil
from pathlib import Path
from typing import Any

import aiohttp

from contracts.conversation_rpc import CONVERSATION_MESSAGES, MessagesRequest
from nexus_cli.backup.backup import FORM
from nexus_cli.target import bus
from runtime.calls.rpc import RpcClient
from runtime.testing.servers import eventually
from tests.support.chat_client import ChatClient
from tests.support.running_stack import RunningStack

ENV = {"NEXUS_SAMPLE_SECONDS_PER_BAR": "0"}
PICTURE = (
    b"\x89PNG\r\n\x1a\n" + b"\0\0\0\rIHDR" + (8).to_bytes(4, "big") * 2 + b"\x08\x02\0\0\0" + bytes(range(256)) * 40
)
QUESTIONS = ("what does the Pro plan cost?", "what is IBM trading at?", "and AAPL?")


async def transcripts(stack: RunningStack, conversations: list[str], up_to: int) -> dict[str, list[dict[str, Any]]]:
    """Each conversation as memory tells it, up to a sequence of the log."""
    found: dict[str, list[dict[str, Any]]] = {}
    async with bus(stack.facts()["urls"]["nats"]) as client:
        for name in conversations:
            request = MessagesRequest(company_id="demo", conversation_id=name)
            reply = await RpcClient(client).call(CONVERSATION_MESSAGES, request, deadline=20)
            found[name] = [item.model_dump(mode="json") for item in reply.items if item.seq <= up_to]
    return found


async def talk(stack: RunningStack, conversations: list[str], enough: asyncio.Event) -> None:
    """Visitors who ask until it is enough; each conversation's id is noted."""
    while not enough.is_set():
        token, _ = await stack.visitor(locale="en")
        async with ChatClient(stack.url, token) as client:
            for question in QUESTIONS:
                if client.conversation is None:
                    await client.hello(locale="en")
                    assert client.conversation is not None
                    conversations.append(client.conversation)
                await client.ask(question)


async def send_picture(stack: RunningStack, token: str, visitor: ChatClient) -> str:
    """A message with a picture; the path under which it is read."""
    files = f"{stack.url}/v2/conversations/{visitor.conversation}/files"
    async with (
        aiohttp.ClientSession(headers={"Authorization": f"Bearer {token}"}) as http,
        http.post(f"{files}?name=foto.png", data=PICTURE) as answer,
    ):
        assert answer.status == 201, await answer.text()
        file = (await answer.json())["id"]
    await visitor.say("look at this", files=[file])
    return files.removeprefix(stack.url) + f"/{file}"


async def test_a_backup_under_load_is_restored_with_every_transcript(tmp_path: Path) -> None:
    copy, enough = tmp_path / "copy", asyncio.Event()
    old = RunningStack(tmp_path / "old", env=ENV).start()
    conversations: list[str] = []
    try:
        token, _ = await old.visitor(locale="en")
        async with old.chat(token, locale="en") as visitor:
            await visitor.ask(QUESTIONS[0])
            assert visitor.conversation is not None
            conversations.append(visitor.conversation)
            picture = await send_picture(old, token, visitor)
            talking = [asyncio.create_task(talk(old, conversations, enough)) for _ in range(3)]
            await eventually(lambda: len(conversations) > 6, 120)
            done = await asyncio.to_thread(old.nexus, "backup", str(copy), "--data", str(old.data))
            assert done.returncode == 0, done.stderr
            assert "1 files of conversations\n" in done.stdout
            mine, epoch, seq = visitor.conversation, visitor.epoch, visitor.seq
        enough.set()
        await asyncio.gather(*talking)
        up_to = json.loads((copy / "manifest.json").read_text())["streams"]["CHAT"]["state"]["last_seq"]
        before = await transcripts(old, conversations, up_to)
    finally:
        enough.set()
        old.stop()

    again = await asyncio.to_thread(old.nexus, "backup", str(copy), "--data", str(old.data))
    assert again.returncode == 1
    # Services would not start on a log that was written with other keys than they have.
    other = RunningStack(tmp_path / "other", env=ENV)
    data = ("--data", str(other.data))
    try:
        await asyncio.to_thread(other.nexus, "up", "--services", "none", "--port", "0", "--detach", *data)
        refused = await asyncio.to_thread(other.nexus, "restore", str(copy), *data)
        assert (refused.returncode, "secrets of its own" in refused.stderr) == (1, True), refused.stderr
    finally:
        other.stop()
    new = RunningStack(tmp_path / "new", env=ENV)
    done = await asyncio.to_thread(new.nexus, "restore", str(copy), "--data", str(new.data))
    assert done.returncode == 0, done.stderr
    assert "1 files of conversations\n" in done.stdout
    assert "what was deleted since then is back" in done.stdout
    try:
        new.start()

        async def whole() -> bool:
            assert await transcripts(new, conversations, up_to) == {name: before[name] for name in before}
            return True

        known = [name for name in conversations if before[name]]
        conversations[:] = known
        before = {name: before[name] for name in known}
        await eventually(whole)
        # Who comes back is told that it is another log, and goes on.
        async with ChatClient(new.url, token) as visitor:
            welcome = await visitor.hello(conversationId=mine, since={"epoch": epoch, "seq": seq}, locale="en")
            assert (welcome["recovered"], welcome["epoch"] != epoch) == (False, True)
            answer = await visitor.ask(QUESTIONS[1])
            assert answer["seq"] > up_to
            headers = {"Authorization": f"Bearer {token}"}
            async with aiohttp.ClientSession(headers=headers) as http, http.get(new.url + picture) as shown:
                assert (shown.status, await shown.read()) == (200, PICTURE)
        # Into a stack that holds something it is not restored.
        refused = await asyncio.to_thread(new.nexus, "restore", str(copy), "--data", str(new.data))
        assert (refused.returncode, "already" in refused.stderr) == (1, True)
    finally:
        new.stop()


async def test_a_backup_that_is_damaged_or_not_whole_is_refused(tmp_path: Path) -> None:
    stack = RunningStack(tmp_path / "data", env=ENV)
    kept = tmp_path / "copy"
    (kept / "streams").mkdir(parents=True)
    for part in ("documents", "settings"):
        (kept / part).mkdir()
    refused = await asyncio.to_thread(stack.nexus, "restore", str(kept), "--data", str(stack.data))
    assert (refused.returncode, "manifest.json is missing" in refused.stderr) == (1, True)
    (kept / "streams" / "CHAT").write_bytes(b"not what was written")
    stream: dict[str, Any] = {"digest": "0" * 64, "made": "", "config": {}, "state": {}, "size": 1}
    manifest: dict[str, Any] = {"form": 1, "documents": {}, "streams": {"CHAT": stream}, "settings": {}}
    (kept / "manifest.json").write_text(json.dumps(manifest))
    refused = await asyncio.to_thread(stack.nexus, "restore", str(kept), "--data", str(stack.data))
    assert (refused.returncode, "damaged" in refused.stderr) == (1, True)
    (kept / "manifest.json").write_text(json.dumps(manifest | {"form": FORM + 1}))
    refused = await asyncio.to_thread(stack.nexus, "restore", str(kept), "--data", str(stack.data))
    assert (refused.returncode, "newer release" in refused.stderr) == (1, True)
    assert not stack.data.exists()
    shutil.rmtree(kept)
