"""Session ids of the handshake revisions: a note of what the client can do, made with `initialize` and kept by nobody.

Without it a call does not say whether the client can ask its user. Any gateway reads it; it is worth nothing to another
caller, and ends only with the key.
"""

from collections.abc import Mapping
from typing import cast

from gateway.domain.carried_ids import new_carried_id, note_of
from gateway.doors.mcp.views import EXTENSION, MEDIA_TYPE, declares_views

HEADER = "mcp-session-id"
_PURPOSE = "session"
_LETTERS = {"elicitation": "e", "sampling": "s", "roots": "r"}
_VIEWS = "v"
"""That it shows views."""


def new_session(key: bytes, caller: str, capabilities: Mapping[str, object]) -> str:
    """An id that tells which of these the client has declared."""
    declared = {name for name in _LETTERS if isinstance(capabilities.get(name), dict)}
    modes = cast("dict[str, object]", capabilities.get("elicitation") or {}) if "elicitation" in declared else {}
    if modes and "form" not in modes:
        # It can open an address for its user, and show no form.
        declared.discard("elicitation")
    letters = "".join(_LETTERS[name] for name in sorted(declared))
    return new_carried_id(key, _PURPOSE, caller, letters + (_VIEWS if declares_views(capabilities) else ""))


def capabilities_of(key: bytes, caller: str, session: str) -> dict[str, object] | None:
    """What the client declared; None: there is no such session of this caller."""
    note = note_of(key, _PURPOSE, caller, session)
    if note is None:
        return None
    declared: dict[str, object] = {name: {} for name, letter in _LETTERS.items() if letter in note}
    return declared | ({"extensions": {EXTENSION: {"mimeTypes": [MEDIA_TYPE]}}} if _VIEWS in note else {})
