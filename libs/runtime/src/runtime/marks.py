"""Marks: a header with which services sign what they write, made of the subject, the fence and the body.

A subject alone proves no author: the server publishes to whatever reply subject a requester names, and lets whoever was
asked publish there, so that every user of the bus can have something stored under every subject (decision 0074). What
stands in a conversation's log, visitors' messages apart (whose principal says who wrote), and in the journals counts
only with a mark that the holders of the key alone can make.

The mark covers the message id and the fence as well, which the server enforces: a copy of a true fact is refused by the
log that has gone on since.
"""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Mapping
from typing import ClassVar
from weakref import WeakKeyDictionary

import structlog
from nats.aio.client import Client
from nats.aio.msg import Msg

from contracts.channels import ChatKind
from contracts.streams import CHAT, TURNS
from runtime.errors import NotReady
from runtime.jetstream_api import StreamInfo, granted, metadata_of
from runtime.replies import ReplyInbox, headers_of

log = structlog.get_logger(__name__)

HEADER = "Nexus-Mark"
MARKED = (CHAT.name, TURNS.name)
"""The streams whose messages are marked."""
SINCE = "nexus.marked-since"
"""In a stream's metadata: from this sequence on nothing counts without a mark; not there: everything does."""
KEY_NAME = "nexus.mark-key"
"""In a stream's metadata: which key the marks are made with."""
UNMARKED = "it carries no mark of a service of ours: somebody else has written it"
_COVERED = ("Nats-Msg-Id", "Nats-Expected-Last-Subject-Sequence", "Nats-Expected-Last-Subject-Sequence-Subject")
_VISITOR = f".{ChatKind.VISITOR.value}"
_LIVE = "live."
_LENGTH = 32
_ANSWER = 5.0


class Marks:
    """The keys of marks on one connection, and since when marks are demanded. Without a key nothing is marked
    and nothing is demanded."""

    _all: ClassVar[WeakKeyDictionary[Client, Marks]] = WeakKeyDictionary()

    def __init__(self, client: Client) -> None:
        self._client = client
        self._keys: tuple[bytes, ...] = ()
        self._begun: tuple[hmac.HMAC, ...] = ()
        self._taking_part = True
        self._since: dict[str, int] = {}
        self._told = False

    @classmethod
    def of(cls, client: Client) -> Marks:
        """The client's; made when first asked for."""
        found = cls._all.get(client)
        if found is None:
            found = cls._all[client] = cls(client)
        return found

    def use(self, keys: tuple[bytes, ...] | None) -> None:
        """The first key marks; a mark of any of them counts. None: of somebody who writes and reads nothing marked."""
        self._keys, self._taking_part = keys or (), keys is not None
        # A copy of what was begun with the key takes a fifth of the time that a mark from the beginning does.
        self._begun = tuple(hmac.new(key, digestmod="sha256") for key in self._keys)

    @property
    def taking_part(self) -> bool:
        """Whether what is marked is written or read here."""
        return self._taking_part

    @property
    def of_new_streams(self) -> dict[str, dict[str, str]]:
        """The metadata of a stream that is made now, by name: in it marks are demanded from the first message on."""
        return {name: _demanded(1, self._keys[0]) for name in MARKED} if self._keys else {}

    async def learn(self) -> None:
        """Reads since when marks are demanded.

        Raises:
            NotReady: no answer in time; or they are made with a key that this service has not got, so that nothing it
                wrote would count.
        """
        for name in MARKED if self._taking_part else ():
            metadata = metadata_of(await _info(self._client, name))
            if SINCE not in metadata:
                self._since.pop(name, None)
                if self._keys and not self._told:
                    self._told = True
                    log.warning("marks.not_demanded", stream=name, advice="see `nexus marks demand`")
                continue
            if metadata.get(KEY_NAME) not in [key_name(key) for key in self._keys]:
                raise NotReady(
                    f"the stream {name} wants marks that are made with another key (named {metadata.get(KEY_NAME)}): "
                    "give this service the NEXUS_MARK_KEY that gateway, agent and memory share"
                )
            self._since[name] = int(metadata[SINCE])

    def mark(self, stream: str, subject: str, headers: Mapping[str, str], body: bytes) -> str | None:
        """The mark of what is about to be appended; None: none is needed, or there is no key."""
        if not self._keys or stream not in MARKED:
            return None
        return _mark(self._begun[0], subject, headers, body)

    def genuine(self, stream: str, subject: str, seq: int, headers: Mapping[str, str], body: bytes) -> bool:
        """Whether what the stream holds at `seq` was written by one of ours, or need not show it."""
        since = self._since.get(stream)
        if since is None or seq < since or subject.endswith(_VISITOR):
            return True
        given = headers.get(HEADER, "")
        return any(hmac.compare_digest(given, _mark(begun, subject, headers, body)) for begun in self._begun)

    def genuine_live(self, message: Msg) -> bool:
        """The same of a live copy of CHAT, whose sequence, a header, proves nothing: it is none of the old ones."""
        if CHAT.name not in self._since:
            return True
        subject = message.subject.removeprefix(_LIVE)
        return self.genuine(CHAT.name, subject, self._since[CHAT.name], headers_of(message), message.data)


def _mark(begun: hmac.HMAC, subject: str, headers: Mapping[str, str], body: bytes) -> str:
    # Neither subjects nor headers hold a line end, so nothing can be moved from one to the next.
    said = "\n".join((subject, *(headers.get(name, "") for name in _COVERED), "")).encode()
    mark = begun.copy()
    mark.update(said)
    mark.update(body)
    return mark.hexdigest()[:_LENGTH]


def key_name(key: bytes) -> str:
    """Names a key without telling it."""
    return hmac.digest(key, b"nexus mark key", hashlib.sha256).hex()[:8]


async def demand(client: Client, keys: tuple[bytes, ...]) -> dict[str, int]:
    """From now on nothing counts without a mark; what is stored already does. The sequences, by stream.

    Raises:
        NotReady: JetStream does not answer, or refuses.
    """
    since: dict[str, int] = {}
    for name in MARKED:
        info = await _info(client, name)
        since[name] = info["state"]["last_seq"] + 1
        await _update(client, info, {**metadata_of(info), **_demanded(since[name], keys[0])})
    return since


async def lift(client: Client) -> None:
    """From now on what has no mark counts as well, as before `demand`. Raises NotReady."""
    for name in MARKED:
        info = await _info(client, name)
        await _update(client, info, {k: v for k, v in metadata_of(info).items() if k not in (SINCE, KEY_NAME)})


def _demanded(since: int, key: bytes) -> dict[str, str]:
    return {SINCE: str(since), KEY_NAME: key_name(key)}


async def _info(client: Client, name: str) -> StreamInfo:
    return await granted(ReplyInbox.of(client), StreamInfo, f"STREAM.INFO.{name}", deadline=_ANSWER)


async def _update(client: Client, info: StreamInfo, metadata: Mapping[str, str]) -> None:
    config = {**info["config"], "metadata": metadata}
    name = info["config"]["name"]
    await granted(ReplyInbox.of(client), StreamInfo, f"STREAM.UPDATE.{name}", config, deadline=_ANSWER)
