"""Session ids of the handshake revisions: they carry the client's capabilities from `initialize`, so nothing is stored.

Without such an id, a call does not say whether the client can ask its user. Any gateway can read it; it is useless to
another caller, and valid until the key changes.
"""

from collections.abc import Mapping
from typing import cast

from gateway.domain.carried_ids import new_carried_id, note_of
from gateway.doors.mcp.views import EXTENSION, MEDIA_TYPE, declares_views

HEADER = "mcp-session-id"
_PURPOSE = "session"
_CAPABILITY_LETTERS = {"elicitation": "e", "sampling": "s", "roots": "r"}
_VIEWS_LETTER = "v"
"""The note for a client that shows views."""


def new_session(key: bytes, caller: str, capabilities: Mapping[str, object]) -> str:
    """A new session id that carries the declared capabilities."""
    declared = {name for name in _CAPABILITY_LETTERS if isinstance(capabilities.get(name), dict)}
    modes = cast("dict[str, object]", capabilities.get("elicitation") or {}) if "elicitation" in declared else {}
    if modes and "form" not in modes:
        # The client can only open an address for its user, not show a form.
        declared.discard("elicitation")
    letters = "".join(_CAPABILITY_LETTERS[name] for name in sorted(declared))
    return new_carried_id(key, _PURPOSE, caller, letters + (_VIEWS_LETTER if declares_views(capabilities) else ""))


def capabilities_of(key: bytes, caller: str, session: str) -> dict[str, object] | None:
    """The capabilities in a session id; None if the id was not made for this caller."""
    note = note_of(key, _PURPOSE, caller, session)
    if note is None:
        return None
    declared: dict[str, object] = {name: {} for name, letter in _CAPABILITY_LETTERS.items() if letter in note}
    return declared | ({"extensions": {EXTENSION: {"mimeTypes": [MEDIA_TYPE]}}} if _VIEWS_LETTER in note else {})
