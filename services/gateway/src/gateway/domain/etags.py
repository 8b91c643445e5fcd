"""Versions as entity tags, and If-Match (RFC 9110, sections 8.8.3 and 13.1.1)."""


def etag(version: int) -> str:
    """The strong entity tag of a version: 3 becomes "3", with its quotes."""
    return f'"{version}"'


def matches(if_match: str, version: int) -> bool:
    """Whether the If-Match header names this version. Weak tags never match, since the comparison is strong."""
    if if_match.strip() == "*":
        return True
    return any(part.strip() == etag(version) for part in if_match.split(","))
