"""Conversation ids that prove to whom they belong.

A conversation exists in the log only once somebody has written in it. Until then a returning client is recognised by a
short MAC over company, subject and id, so that the gateway stores nothing.
"""

import hashlib
import hmac
import re
from collections.abc import Sequence

from contracts.ids import uuid7

_MAC_CHARACTERS = 22  # 88 bits of hex: a guess must be made online, against the limits
_SEPARATOR = "_"
_ISSUED = re.compile(r"[0-9a-f]{32}_[0-9a-f]{22}|n[0-9a-f]{47}")


def new_conversation_id(key: bytes, company: str, subject: str) -> str:
    """A new, time-ordered id: 32 hex characters, `_`, and the MAC (55 characters in all)."""
    identity = uuid7().replace("-", "")
    return f"{identity}{_SEPARATOR}{_mac(key, company, subject, identity)}"


def following_conversation_id(key: bytes, company: str, subject: str, earlier: str, at_ms: int) -> str:
    """The id of the conversation that follows an earlier one; always the same. `at_ms`: the time from which it does, in
    milliseconds since the epoch."""
    digest = hashlib.sha256("\x1f".join((company, subject, earlier)).encode()).hexdigest()[:20]
    identity = f"{at_ms & ((1 << 48) - 1):012x}{digest}"
    return f"{identity}{_SEPARATOR}{_mac(key, company, subject, identity)}"


def is_issued_to(keys: Sequence[bytes], company: str, subject: str, conversation: str) -> bool:
    """Whether the id was made for this subject of this company with one of these keys."""
    identity, separator, mac = conversation.partition(_SEPARATOR)
    if not separator or len(identity) != 32:
        return False
    return any(hmac.compare_digest(mac.encode(), _mac(key, company, subject, identity).encode()) for key in keys)


def named_conversation_id(company: str, subject: str, door: str, name: str) -> str:
    """The id of the conversation that this subject's client calls `name` at a door: `n` and 47 hex characters.

    No key is involved: the id survives a change of keys, and only this subject can ask for the name.
    """
    parts = "\x1f".join(("conversation", company, subject, door, name)).encode()
    return "n" + hashlib.sha256(parts).hexdigest()[:47]


def has_issued_form(name: str) -> bool:
    """Whether a name has the form of an id made by the gateway."""
    return _ISSUED.fullmatch(name) is not None


def _mac(key: bytes, company: str, subject: str, identity: str) -> str:
    message = "\x1f".join(("conversation", company, subject, identity)).encode()
    return hmac.new(key, message, hashlib.sha256).hexdigest()[:_MAC_CHARACTERS]
