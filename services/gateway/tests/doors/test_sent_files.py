"""Pictures and documents that come in a message, at the doors whose protocols have a word for them."""

import base64
from typing import Any

import pytest
from ag_ui.core import DocumentInputContent, ImageInputContent, RunAgentInput, UserMessage
from nats.aio.client import Client

from contracts.channels import ChatKind
from gateway.domain.conversation_ids import named_conversation_id
from gateway.testing.doors import AnsweringAgent
from gateway.testing.http import Http
from gateway.testing.tokens import TokenMaker
from runtime.conversation import ConversationLog
from runtime.stores.folder_store import FolderStore

pytestmark = pytest.mark.usefixtures("memory", "records", "share")
PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg=="
NOTE, PAGE = (base64.b64encode(one).decode() for one in (b"a note", b"<html><script>1</script></html>"))
Part = tuple[str, str, str]
"""What it is said to be, its name, its base64."""


def a2a(*files: Part) -> tuple[str, Any, str]:
    parts = [{"raw": raw, "mediaType": media, "filename": name} for media, name, raw in files]
    sent = {"messageId": "m1", "role": "ROLE_USER", "parts": parts}
    call = {"jsonrpc": "2.0", "id": 1, "method": "SendMessage", "params": {"message": sent}}
    return "/a2a", call, "message m1"


def ui(*files: Part) -> tuple[str, Any, str]:
    parts = [
        {"type": "file", "mediaType": media, "filename": name, "url": f"data:{media};base64,{raw}"}
        for media, name, raw in files
    ]
    return "/v2/ui/chat", {"id": "c", "messages": [{"id": "m1", "role": "user", "parts": parts}]}, "c"


def ag_ui(*files: Part) -> tuple[str, Any, str]:
    content: list[Any] = [
        (ImageInputContent if media.startswith("image/") else DocumentInputContent).model_validate(
            {"source": {"type": "data", "value": raw, "mimeType": media}}
        )
        for media, _, raw in files
    ]
    messages: list[Any] = [UserMessage(id="m1", content=content)]
    run = RunAgentInput(thread_id="c", run_id="r1", messages=messages, state={})
    return "/v2/ag-ui", run.model_dump(mode="json", by_alias=True, exclude_none=True), "c"


@pytest.mark.parametrize(("door", "body"), [("a2a", a2a), ("ui", ui), ("ag-ui", ag_ui)])
async def test_files_are_taken_in_with_their_message_or_refused_by_name(
    http: Http,
    tokens: TokenMaker,
    agent: AnsweringAgent,
    store: FolderStore,
    nats_client: Client,
    door: str,
    body: Any,
) -> None:
    headers, mine = {"A2A-Version": "1.0"}, tokens.user("ana", "user")
    refused: list[tuple[Part, str]] = [
        (("text/html", "page.html", PAGE), "hold programs"),
        (("image/png", "cat.png", NOTE), "something else" if door != "ag-ui" else "not what it is"),
        (("application/x-own", "own", NOTE), "not what it is"),
        (("text/plain", "note.txt", "???"), "no base64"),
    ]
    for part, why in refused:
        path, sent, _ = body(part)
        _, told, _ = await http("POST", path, json=sent, token=mine, headers=headers)
        assert why in str(told), told
        assert ("-32005" in str(told)) == (door == "a2a")
    assert agent.received_messages == []
    path, sent, name = body(("image/png", "cat.png", PIXEL), ("text/plain", "note.txt", NOTE))
    for _ in range(2):
        status, told, _ = await http("POST", path, json=sent, token=mine, headers=headers)
        assert (status, "two." in str(told)) == (200, True)
    (conversation, text) = agent.received_messages[0]
    assert conversation == named_conversation_id("acme", "ana", door, name)
    asked = (await ConversationLog(nats_client).snapshot("acme", conversation)).last[ChatKind.VISITOR]
    files = asked.data["files"]
    assert [file["type"] for file in files] == ["image/png", "text/plain"]
    assert text == ", ".join(file["name"] for file in files)
    kept = await store.open(f"files/acme/{conversation}/{files[1]['id']}")
    assert kept is not None
    assert b"".join([piece async for piece in kept.pieces]) == b"a note"
    assert len(agent.received_messages) == 1
