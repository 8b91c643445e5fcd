"""Marks: a header with which services sign what they write, computed from the subject, the fence and the body.

A subject alone proves no author: the server publishes to whatever reply subject a requester names, and lets a responder
publish there, so every user of the bus can get something stored under any subject (decision 0074). Facts in a
conversation's log (except visitors' messages, whose principal proves the author) and journals count only with a mark,
which only holders of the key can make.

The mark also covers the message id and the fence, which the server enforces: a copy of a genuine fact is refused,
because the log has grown since.
"""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Mapping

import structlog
from nats.aio.client import Client
from nats.aio.msg import Msg

from contracts.channels import ChatKind
from contracts.streams import CHAT, TURNS
from runtime.bus.jetstream_api import StreamInfo, metadata_of, require_answer
from runtime.bus.per_client import PerClient
from runtime.bus.replies import ReplyInbox, headers_of
from runtime.errors import NotReadyError

log = structlog.get_logger(__name__)

HEADER = "Nexus-Mark"
MARKED = (CHAT.name, TURNS.name)
"""The streams whose messages are marked."""
SINCE = "nexus.marked-since"
"""Key in a stream's metadata. From that sequence on, messages without a mark are ignored; without the key, all messages
count."""
KEY_NAME = "nexus.mark-key"
"""Key in a stream's metadata: the name of the key that makes the stream's marks."""
UNMARKED = "it carries no mark of a service of ours: somebody else has written it"
_COVERED = ("Nats-Msg-Id", "Nats-Expected-Last-Subject-Sequence", "Nats-Expected-Last-Subject-Sequence-Subject")
_VISITOR = f".{ChatKind.VISITOR.value}"
_LIVE = "live."
_MARK_CHARS = 32
_ANSWER_DEADLINE = 5.0
"""Seconds for JetStream to answer."""


class Marks(PerClient):
    """One connection's mark keys, and the sequence from which marks are demanded. Without a key nothing is marked or
    demanded."""

    def __init__(self, client: Client) -> None:
        self._client = client
        self._keys: tuple[bytes, ...] = ()
        self._keyed: list[hmac.HMAC] = []
        """For each key the state of the hash after the key: a copy of it costs half of a new one."""
        self.is_taking_part = True
        """Whether this process writes or reads anything marked."""
        self._since: dict[str, int] = {}
        self._has_warned = False

    def use(self, keys: tuple[bytes, ...] | None) -> None:
        """Sets the keys: the first one makes marks, marks of any of them count. None: this process neither writes nor
        reads anything marked."""
        self._keys, self.is_taking_part = keys or (), keys is not None
        self._keyed = [hmac.new(key, digestmod="sha256") for key in self._keys]

    @property
    def new_stream_metadata(self) -> dict[str, dict[str, str]]:
        """Metadata for new streams, by name, which demands marks from the first message on."""
        return {name: _demanded(1, self._keys[0]) for name in MARKED} if self._keys else {}

    async def learn(self) -> None:
        """Reads from the streams' metadata from which sequence on marks are demanded.

        Raises:
            NotReadyError: no answer in time; or marks are made with a key that this service does not have, so that
                nothing it writes would count.
        """
        for name in MARKED if self.is_taking_part else ():
            metadata = metadata_of(await _info(self._client, name))
            if SINCE not in metadata:
                self._since.pop(name, None)
                if self._keys and not self._has_warned:
                    self._has_warned = True
                    log.warning("marks.not_demanded", stream=name, advice="see `nexus marks demand`")
                continue
            if metadata.get(KEY_NAME) not in [key_name(key) for key in self._keys]:
                raise NotReadyError(
                    f"the stream {name} wants marks that are made with another key (named {metadata.get(KEY_NAME)}): "
                    "give this service the NEXUS_MARK_KEY that gateway, agent and memory share"
                )
            self._since[name] = int(metadata[SINCE])

    def mark(self, stream: str, subject: str, headers: Mapping[str, str], body: bytes) -> str | None:
        """Returns the mark of a message to append; None if it needs none, or there is no key."""
        if not self._keys or stream not in MARKED:
            return None
        return _mark(self._keyed[0], subject, headers, body)

    def genuine(self, stream: str, subject: str, seq: int, headers: Mapping[str, str], body: bytes) -> bool:
        """Whether the message at `seq` was written by a holder of the key, or needs no mark."""
        since = self._since.get(stream)
        if since is None or seq < since or subject.endswith(_VISITOR):
            return True
        mark = headers.get(HEADER, "")
        return any(hmac.compare_digest(mark, _mark(keyed, subject, headers, body)) for keyed in self._keyed)

    def genuine_live(self, message: Msg) -> bool:
        """`genuine` for a live copy of a message of CHAT. Its sequence is only a header and proves nothing, but a live
        copy cannot be an old message."""
        if CHAT.name not in self._since:
            return True
        subject = message.subject.removeprefix(_LIVE)
        return self.genuine(CHAT.name, subject, self._since[CHAT.name], headers_of(message), message.data)


def _mark(keyed: hmac.HMAC, subject: str, headers: Mapping[str, str], body: bytes) -> str:
    # Neither subjects nor headers contain a line break, so text cannot be moved from one field to the next.
    header = "\n".join((subject, *[headers.get(name, "") for name in _COVERED], "")).encode()
    made = keyed.copy()
    made.update(header + body)
    return made.hexdigest()[:_MARK_CHARS]


def key_name(key: bytes) -> str:
    """Returns a name for a key that does not reveal it."""
    return hmac.digest(key, b"nexus mark key", hashlib.sha256).hex()[:8]


async def demand(client: Client, keys: tuple[bytes, ...]) -> dict[str, int]:
    """Makes every reader ignore messages without a mark from now on; what is already stored still counts. Returns for
    each stream the first sequence that needs a mark.

    Raises:
        NotReadyError: JetStream did not answer, or refused.
    """
    since: dict[str, int] = {}
    for name in MARKED:
        info = await _info(client, name)
        since[name] = info["state"]["last_seq"] + 1
        await _update(client, info, {**metadata_of(info), **_demanded(since[name], keys[0])})
    return since


async def lift(client: Client) -> None:
    """Reverts `demand`: messages without a mark count again. Raises NotReadyError."""
    for name in MARKED:
        info = await _info(client, name)
        await _update(client, info, {k: v for k, v in metadata_of(info).items() if k not in (SINCE, KEY_NAME)})


def _demanded(since: int, key: bytes) -> dict[str, str]:
    return {SINCE: str(since), KEY_NAME: key_name(key)}


async def _info(client: Client, name: str) -> StreamInfo:
    return await require_answer(ReplyInbox.of(client), StreamInfo, f"STREAM.INFO.{name}", deadline=_ANSWER_DEADLINE)


async def _update(client: Client, info: StreamInfo, metadata: Mapping[str, str]) -> None:
    config = {**info["config"], "metadata": metadata}
    name = info["config"]["name"]
    await require_answer(ReplyInbox.of(client), StreamInfo, f"STREAM.UPDATE.{name}", config, deadline=_ANSWER_DEADLINE)
