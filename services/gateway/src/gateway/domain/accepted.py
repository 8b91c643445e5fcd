"""Decides which of two media types a client prefers (RFC 9110, section 12.5.1)."""

import re

_QUALITY = re.compile(r"^\s*q\s*=\s*(0(?:\.\d{0,3})?|1(?:\.0{0,3})?)\s*$", re.IGNORECASE)
Preference = tuple[float, int]
"""A quality and the negative position in the header; the greater preference wins."""


def prefers(accept: str, first: str, second: str) -> bool:
    """Whether the Accept header prefers `first` to `second`. If their qualities are equal, the type named earlier wins;
    if neither is named, `second` does."""
    return _preference(accept, first) > _preference(accept, second)


def _preference(accept: str, media_type: str) -> Preference:
    """The preference of the most specific range that matches the type; a type that no range matches has quality 0."""
    ranges = (media_type, media_type.partition("/")[0] + "/*", "*/*")
    preferences: dict[str, Preference] = {}
    for position, entry in enumerate(accept.lower().split(",")):
        name, *parameters = entry.split(";")
        quality_match = next((match for parameter in parameters if (match := _QUALITY.match(parameter))), None)
        preferences.setdefault(name.strip(), (float(quality_match[1]) if quality_match else 1.0, -position))
    quality, best_position = next(
        (preferences[media_range] for media_range in ranges if media_range in preferences), (0.0, 0)
    )
    return (quality, best_position) if quality else (0.0, 0)
