"""Says what is wrong with a field, in words for people instead of regular expressions."""

from collections.abc import Mapping
from typing import Any

from contracts.ids import COMPANY_PATTERN, ID_PATTERN, UUID_PATTERN

_FORMS: Mapping[str, str] = {
    ID_PATTERN: "must be 1 to 64 plain letters, digits, dashes or underscores",
    COMPANY_PATTERN: "must be 1 to 64 lower-case letters, digits or dashes",
    r"^https?://": "must begin with https:// or http://",
    r"^#[0-9a-fA-F]{6}$": "must be a colour such as #1a2b3c",
    UUID_PATTERN: "must be a UUID such as 123e4567-e89b-42d3-a456-426614174000",
}
_FORM = "does not have the form that is asked for"


def message_of(error: Mapping[str, Any]) -> str:
    """The message for one error of a pydantic ValidationError."""
    if error["type"] == "string_pattern_mismatch":
        return _FORMS.get(error.get("ctx", {}).get("pattern", ""), _FORM)
    if error["type"] == "string_unicode":
        return "contains half a character: write it again"
    if error["type"] in {"model_attributes_type", "model_type", "dict_type"}:
        whole = tuple(error.get("loc", ())) == ("body",)
        return "must be a JSON object: send Content-Type: application/json" if whole else "must be an object"
    if error["type"] == "extra_forbidden":
        return "there is no such field"
    return str(error["msg"]).removeprefix("Value error, ")
