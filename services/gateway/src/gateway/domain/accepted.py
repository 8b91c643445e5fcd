"""Decides which of two media types a client prefers (RFC 9110, section 12.5.1)."""

import re

_QUALITY = re.compile(r"^\s*q\s*=\s*(0(?:\.\d{0,3})?|1(?:\.0{0,3})?)\s*$", re.IGNORECASE)
Wish = tuple[float, int]
"""A quality and its position in the header: the greater is preferred."""


def prefers(accept: str, first: str, second: str) -> bool:
    """Whether the Accept header prefers `first` to `second`. With equal qualities the one named earlier wins; if
    neither is named, `second`."""
    return _wish(accept, first) > _wish(accept, second)


def _wish(accept: str, media_type: str) -> Wish:
    """Returns the weight of the most specific range that matches the type; a type without one is not accepted."""
    ranges = (media_type, media_type.partition("/")[0] + "/*", "*/*")
    named: dict[str, Wish] = {}
    for position, one in enumerate(accept.lower().split(",")):
        name, *parameters = one.split(";")
        told = next((found for part in parameters if (found := _QUALITY.match(part))), None)
        named.setdefault(name.strip(), (float(told[1]) if told else 1.0, -position))
    quality, place = next((named[one] for one in ranges if one in named), (0.0, 0))
    return (quality, place) if quality else (0.0, 0)
