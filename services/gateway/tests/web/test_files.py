"""Files of conversations: sent, named by a message, given out; and what is refused at the door, in words."""

import asyncio
import hashlib
import io
import os
import struct
import uuid
import zipfile
import zlib
from collections.abc import AsyncIterator
from pathlib import Path
from urllib.parse import quote

import aiohttp
import pytest

from contracts.files import MAX_FILE_BYTES, UNSENT, folder_of
from gateway.adapters.identity import IdentityKeys
from gateway.domain.conversation_ids import new_conversation_id
from gateway.domain.file_kinds import FileRefusedError, detect_kind
from gateway.testing.files import FileShareStandIn
from gateway.testing.harness import ChatClient, GatewayUnderTest, MemoryStandIn, conversation_view, run_gateway
from gateway.testing.http import Http, assert_problem
from gateway.testing.tokens import TokenMaker
from runtime.stores.folder_store import FolderStore
from runtime.testing.servers import NatsServer

pytestmark = pytest.mark.usefixtures("share")

FOREIGN = "https://shop.example"


def png(width: int = 2, height: int = 2) -> bytes:
    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    head = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    rows = zlib.compress((b"\0" + b"\x20\x60\xa0" * width) * min(height, 4))
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", rows) + chunk(b"IEND", b"")


def bomb() -> bytes:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
        archive.writestr("zeros", bytes(40_000_000))
    return packed.getvalue()


def listed(count: int, version: int = 20, name: bytes = b"") -> bytes:
    """An archive whose list has so many entries, and says of itself that it has one."""
    fields = (version, 0x800, 0, 0, 0, 0, 0, 0, len(name), 0, 0, 0, 0, 0, 0)
    entries = (b"PK\x01\x02" + struct.pack("<HHHHHHLLLHHHHHLL", 20, *fields) + name) * count
    end = b"PK\x05\x06" + struct.pack("<HHHHLLH", 0, 0, 1, 1, len(entries), 4, 0)
    return b"PK\x03\x04" + entries + end


@pytest.fixture
def mine(identity: IdentityKeys, memory: MemoryStandIn) -> str:
    return new_conversation_id(identity.conversation_keys[0], "acme", "me")


async def send(http: Http, token: str, conversation: str, name: str, content: object, **headers: str):
    path = f"/v2/conversations/{conversation}/files?name={quote(name)}"
    return await http("POST", path, token=token, data=content, headers=headers)


async def test_a_picture_is_sent_named_by_a_message_and_seen_by_the_agent(
    http: Http, gateway: GatewayUnderTest, tokens: TokenMaker, mine: str, memory: MemoryStandIn
) -> None:
    visitor, picture = tokens.visitor("me"), png()
    status, file, headers = await send(http, visitor, mine, "C:\\fakepath\\../mi foto ñ.png", picture, Origin=FOREIGN)
    assert (status, headers["access-control-allow-origin"]) == (201, FOREIGN)
    assert file == {
        "id": file["id"],
        "name": "mi foto ñ.png",
        "type": "image/png",
        "size": len(picture),
        "hash": hashlib.sha256(picture).hexdigest(),
    }
    async with ChatClient(gateway.url) as chat:
        await chat.hello(visitor, conversationId=mine)
        ack = await chat.say("look at this", files=[file["id"]])
        assert (await chat.fact(ack["seq"]))["message"]["files"] == [file]
        identity = str(uuid.uuid4())
        unknown = str(uuid.uuid4())
        await chat.send("message.send", clientMessageId=identity, text="and this", files=[unknown])
        refused = await chat.until("error")
        assert (refused["code"], refused["ref"], refused["retryable"]) == ("NOT_FOUND", identity, False)
    memory.known_conversations[mine] = conversation_view(mine, "acme", "me")
    agent = tokens.user("ana", "commercial")
    listed = (await http("GET", f"/v2/conversations/{mine}/messages", token=agent))[1]["items"]
    assert listed[0]["files"] == [file]
    status, link, _ = await http("GET", f"/v2/conversations/{mine}/files/{file['id']}/link", token=agent)
    assert status == 200
    async with aiohttp.ClientSession() as session, session.get(gateway.url + link["url"]) as shown:
        assert (shown.status, await shown.read()) == (200, picture)
        assert shown.headers["content-disposition"] == "inline; filename*=UTF-8''mi%20foto%20%C3%B1.png"
        assert shown.headers["content-type"] == "image/png"
        assert shown.headers["content-security-policy"] == "default-src 'none'; sandbox"
        assert (shown.headers["x-content-type-options"], "no-store" in shown.headers["cache-control"]) == (
            "nosniff",
            True,
        )
    forged = link["url"].replace(file["id"], unknown)
    over = link["url"].replace("until=1", "until=2")
    for wrong in (forged, over, link["url"].replace("/acme/", "/other/"), link["url"] + "%C3%B1"):
        assert_problem(await http("GET", wrong), 404, "NOT_FOUND")
    sent = {"text": "here", "clientMessageId": str(uuid.uuid4()), "files": [file["id"]]}
    answer = await http("POST", f"/v2/conversations/{mine}/messages", token=agent, json=sent)
    assert (answer[0], answer[1]["files"]) == (201, [file])
    text = (await http("GET", f"/v2/conversations/{mine}/transcript", token=agent, headers={"Accept": "text/plain"}))[1]
    assert f"look at this [mi foto ñ.png, image/png, {len(picture)} bytes]" in text


async def test_what_is_somebody_elses_is_not_there(
    http: Http, tokens: TokenMaker, mine: str, memory: MemoryStandIn, store: FolderStore
) -> None:
    memory.add_company("other", aiAutoResponseEnabled=True)
    memory.known_conversations[mine] = conversation_view(mine, "acme", "me")
    file = (await send(http, tokens.visitor("me"), mine, "note.txt", b"hello"))[1]
    path = f"/v2/conversations/{mine}/files/{file['id']}"
    got = await http("GET", path, token=tokens.visitor("me"))
    assert (got[0], got[1]) == (200, "hello")
    assert got[2]["content-disposition"].startswith("attachment;")
    for who in (tokens.visitor("you"), tokens.visitor("me", "other"), tokens.user("eva", "admin", "other")):
        assert_problem(await http("GET", path, token=who), 404, "NOT_FOUND")
        assert_problem(await http("GET", f"{path}/link", token=who), 404, "NOT_FOUND")
        assert_problem(await send(http, who, mine, "note.txt", b"hello"), 404, "NOT_FOUND")
    assert_problem(await http("GET", path), 401, "UNAUTHORIZED")
    assert len(await store.list(folder_of("acme"), 10)) == 1


HOSTILE = (
    ("photo.png", b"<html><script>alert(1)</script>", "web pages and SVG"),
    ("drawing.svg", b'<?xml version="1.0"?><!-- x --><svg xmlns="x" onload="a()"/>', "SVG"),
    ("photo.jpg", png(), "the name says .jpg"),
    ("setup.pdf", b"MZ\x90\x00\x03\x00\x00", "this kind of file is not taken"),
    ("big.png", png(60_000, 60_000), "60000 x 60000"),
    ("cut.png", png()[:18], "damaged"),
    ("bomb.zip", bomb(), "far too large"),
    ("broken.zip", b"PK\x03\x04 and nothing else", "damaged"),
    ("newer.zip", listed(1, version=99), "of a version that cannot be read"),
    ("unnamed.zip", listed(1, name=b"\xff"), "damaged"),
    ("slip.zip", listed(1, name=b"../../etc/passwd"), "lead out of its folder"),
    ("drive.zip", listed(1, name=b"C:\\x.bat"), "lead out of its folder"),
    ("many.zip", listed(5_001), "too many files"),
    ("comments.svg", b"<!---->" * 5_000 + b"<svg/>", "SVG"),
    ("empty.txt", b"", "empty"),
)


async def test_a_file_that_lies_or_grows_or_runs_is_refused_in_words(
    http: Http, tokens: TokenMaker, mine: str, store: FolderStore
) -> None:
    for name, content, says in HOSTILE:
        answer = await send(http, tokens.visitor("me"), mine, name, content)
        assert_problem(answer, 422, "BAD_FIELD")
        assert says in answer[1]["detail"], name
    spanish = {"Accept-Language": "es-MX"}
    answer = await send(http, tokens.visitor("me"), mine, "photo.jpg", png(), **spanish)
    assert "el nombre dice .jpg" in answer[1]["detail"]
    form = {"Content-Type": "multipart/form-data; boundary=x"}
    answer = await send(http, tokens.visitor("me"), mine, "notes.txt", b"--x\r\n\r\nnotes\r\n--x--", **form)
    assert "as the body itself" in answer[1]["detail"]
    assert await store.list("", 10) == []


async def test_two_gigabytes_are_refused_before_they_come_and_what_grows_on_the_way_when_it_has(
    http: Http,
    gateway: GatewayUnderTest,
    tokens: TokenMaker,
    mine: str,
    store: FolderStore,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("gateway.web.body_limit.DISCARD_SECONDS", 0.2)
    host, port = gateway.url.removeprefix("http://").split(":")
    reader, writer = await asyncio.open_connection(host, int(port))
    writer.write(
        f"POST /v2/conversations/{mine}/files?name=film HTTP/1.1\r\nHost: x\r\nContent-Length: 2147483648\r\n"
        f"Authorization: Bearer {tokens.visitor('me')}\r\n\r\n".encode()
    )
    async with asyncio.timeout(20):
        assert b" 413 " in await reader.readline()
    writer.close()

    async def endless() -> AsyncIterator[bytes]:
        for _ in range(MAX_FILE_BYTES // 65536 + 1):
            yield bytes(65536)

    answer = await send(http, tokens.visitor("me"), mine, "film.txt", endless())
    assert answer[0] == 413, answer
    assert "at most 10 MB" in answer[1]["detail"]
    assert await store.list("", 10) == []


async def test_names_say_what_they_are_and_lead_nowhere(http: Http, tokens: TokenMaker, mine: str) -> None:
    token = tokens.visitor("me")
    for given, kept in (
        ("../../etc/passwd", "passwd.txt"),
        ("..", "file.txt"),
        ("run.bat", "run.bat.txt"),
        ("con.txt", "file-con.txt"),
        ("safe\u202etxt.exe", "safetxt.exe.txt"),
        ('a"b\r\nSet-Cookie: x.txt', "a_bSet-Cookie_ x.txt"),
    ):
        answer = await send(http, token, mine, given, b"plain words")
        assert (answer[0], answer[1]["name"]) == (201, kept)
    long = (await send(http, token, mine, "x" * 900 + ".md", b"plain words"))[1]["name"]
    assert (len(long) <= 120, long.endswith(".md")) == (True, True)


async def test_a_company_whose_share_is_used_up_is_told_so_and_nothing_is_left_behind(
    http: Http, tokens: TokenMaker, mine: str, share: FileShareStandIn, store: FolderStore
) -> None:
    share.most, token = 10, tokens.visitor("me")
    assert (await send(http, token, mine, "a.txt", b"six by"))[0] == 201
    there = await store.list("", 10)
    refused = await send(http, token, mine, "b.txt", b"six by", **{"Accept-Language": "en"})
    assert_problem(refused, 409, "CONFLICT")
    assert "no more files can be kept here" in refused[1]["detail"]
    assert await store.list("", 10) == there
    assert (await send(http, token, mine, "c.txt", b"four"))[0] == 201
    assert share.used == 10


async def test_a_conversation_and_a_person_have_only_so_many(
    http: Http,
    tokens: TokenMaker,
    mine: str,
    memory: MemoryStandIn,
    store: FolderStore,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    token = tokens.visitor("me")
    for number in range(20):
        assert (await send(http, token, mine, f"{number}.txt", b"x"))[0] == 201
    assert_problem(await send(http, token, mine, "more.txt", b"x"), 429, "RATE_LIMITED")
    monkeypatch.setattr("gateway.chat.files.MAX_FILES_PER_CONVERSATION", 20)
    memory.known_conversations[mine] = conversation_view(mine, "acme", "me")
    answer = await send(http, tokens.user("ana", "commercial"), mine, "more.txt", b"x")
    assert_problem(answer, 409, "CONFLICT")
    assert len(await store.list(UNSENT, 50)) == 20


async def test_a_dead_upload_leaves_nothing_and_a_hanging_store_is_said_while_the_chat_goes_on(
    http: Http, gateway: GatewayUnderTest, tokens: TokenMaker, mine: str, store: FolderStore, tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    token = tokens.visitor("me")
    host, port = gateway.url.removeprefix("http://").split(":")
    _, writer = await asyncio.open_connection(host, int(port))
    writer.write(
        f"POST /v2/conversations/{mine}/files?name=a.txt HTTP/1.1\r\nHost: x\r\nContent-Length: 1000\r\n"
        f"Authorization: Bearer {token}\r\n\r\nhalf of it".encode()
    )
    await writer.drain()
    writer.close()
    file = (await send(http, token, mine, "b.txt", b"whole"))[1]
    assert len(await store.list(folder_of("acme"), 10)) == 1
    # What hangs as a paused disk does: a named pipe that nobody writes to.
    place = tmp_path / "files" / "files" / "acme" / mine / file["id"]
    place.unlink()
    os.mkfifo(place)
    monkeypatch.setattr("runtime.stores.folder_store.LOOKUP_TIMEOUT", 0.3)
    async with ChatClient(gateway.url) as chat:
        await chat.hello(token, conversationId=mine)
        await chat.send("message.send", clientMessageId=str(uuid.uuid4()), text="look", files=[file["id"]])
        refused = await chat.until("error")
        assert (refused["code"], refused["retryable"]) == ("UNAVAILABLE", True)
        assert await chat.say("without it")
    assert_problem(await http("GET", f"/v2/conversations/{mine}/files/{file['id']}", token=token), 503, "UNAVAILABLE")
    for _ in range(2):  # the threads that hang end with the test
        os.close(os.open(place, os.O_WRONLY | os.O_NONBLOCK))


async def test_why_files_cannot_be_stored_is_remarked_for_operators_until_one_is(
    http: Http, gateway: GatewayUnderTest, tokens: TokenMaker, mine: str, tmp_path: Path
) -> None:
    check, place = gateway.gateway.chat.files.check, tmp_path / "files"
    place.write_text("no folder")
    answer = await send(http, tokens.visitor("me"), mine, "a.txt", b"x")
    assert_problem(answer, 503, "UNAVAILABLE")
    assert "files cannot be received now" in answer[1]["detail"]
    assert str(await check()).endswith("could not be stored: the folder for files cannot be used: Not a directory")
    place.unlink()
    assert (await send(http, tokens.visitor("me"), mine, "a.txt", b"x"))[0] == 201
    assert await check() is None


async def test_without_a_place_for_files_it_is_said(
    nats_server: NatsServer, identity: IdentityKeys, mine: str, tokens: TokenMaker
) -> None:
    async with run_gateway(nats_server.url, identity) as running, aiohttp.ClientSession() as session:
        answer = await send(Http(running.url, session), tokens.visitor("me"), mine, "a.txt", b"x")
        assert_problem(answer, 403, "FORBIDDEN")
        assert "no storage is set up" in answer[1]["detail"]


def test_what_a_file_is_is_told_at_once_however_many_comments_it_begins_with() -> None:
    assert detect_kind(io.BytesIO(b"<!---->" * 5_000 + b"x"), "notes.txt").type == "text/plain"


@pytest.mark.parametrize("charset", ["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-16-be", "windows-1252"])
def test_a_text_is_one_in_each_of_its_charsets(charset: str) -> None:
    text = "Rendimiento de los bonos españoles\r\n2025: 3,2 %\r\n" * 2_000
    assert detect_kind(io.BytesIO(text.encode(charset)), "notes.txt").type == "text/plain"
    assert detect_kind(io.BytesIO(("\U0001f600" * 20_000).encode("utf-8")), "x").type == "text/plain"
    for other in ("<html><body>" + text, "\x01\x02" + text):
        with pytest.raises(FileRefusedError):
            detect_kind(io.BytesIO(other.encode(charset)), "notes.txt")
