"""Ids that clients carry and that prove for whom they were made, so that no gateway has to store them.

`<32 hex>.<note>.<MAC>`: a note of letters and digits, and a MAC over purpose, holder, id and note.
"""

import hashlib
import hmac
import re
import secrets

_MAC_CHARACTERS = 32  # 128 bits
_SHAPE = re.compile(r"[0-9a-f]{32}\.[a-z0-9]{0,16}\.[0-9a-f]{32}")


def new_carried_id(key: bytes, purpose: str, holder: str, note: str = "") -> str:
    """A new, unguessable id for this holder and purpose."""
    body = f"{secrets.token_hex(16)}.{note}"
    return f"{body}.{_mac(key, purpose, holder, body)}"


def note_of(key: bytes, purpose: str, holder: str, carried: str) -> str | None:
    """The id's note; None if it was not made for this holder and purpose."""
    if not _SHAPE.fullmatch(carried):
        return None
    body, _, mac = carried.rpartition(".")
    if not hmac.compare_digest(mac, _mac(key, purpose, holder, body)):
        return None
    return body.partition(".")[2]


def _mac(key: bytes, purpose: str, holder: str, body: str) -> str:
    message = "\x1f".join((purpose, holder, body)).encode()
    return hmac.new(key, message, hashlib.sha256).hexdigest()[:_MAC_CHARACTERS]
