"""The addresses that fetch_page may read: the company's own https origins and allowed paths.

The decision uses only the text, before a name is resolved. A path must be in its canonical form: double encoding,
encoded dots or slashes, backslashes and dot segments are refused instead of repaired, so that the check and the server
cannot interpret it differently. runtime/http/public_address.py checks the IP addresses behind the names.
"""

import re
import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from urllib.parse import quote, unquote_to_bytes, urljoin, urlsplit

from contracts.text import Text
from tool_executor.texts import TEXTS

_MAX_PATH_CHARS = 2048
_HOST = re.compile(r"(?=.{1,253}$)(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z](?:[a-z0-9-]{0,61}[a-z0-9])?")
"""At least two labels, the last starting with a letter: excludes IPv4 addresses in decimal, octal, hex, short form."""
_LOCAL_NAMES = ("localhost", "local", "internal", "intranet", "lan", "home.arpa", "onion")
_BROKEN_ESCAPE = re.compile(r"%(?![0-9A-Fa-f]{2})")
_FORBIDDEN_ESCAPE = re.compile(r"%(?:2[eEfF5]|5[cC]|[01][0-9A-Fa-f]|7[fF])")
_LOOPBACK = frozenset({"127.0.0.1", "localhost", "::1"})
_OPERATIONAL = ("/metrics", "/healthz", "/readyz")
"""Operational pages of this product's own servers, never part of a site; the gateway serves them at the demo site's
origin too."""


class AddressRefusedError(Exception):
    """An address that may not be fetched. `reason` is a short word for programs."""

    def __init__(self, reason: str, text: Text) -> None:
        super().__init__(str(text))
        self.reason = reason
        self.text = text


@dataclass(frozen=True, slots=True)
class Origin:
    """Scheme, host and port."""

    scheme: str
    host: str
    port: int

    @property
    def is_loopback(self) -> bool:
        """Whether the host's name means this machine."""
        return self.host in _LOOPBACK

    def __str__(self) -> str:
        host = f"[{self.host}]" if ":" in self.host else self.host
        default_port = {"https": 443, "http": 80}[self.scheme]
        return f"{self.scheme}://{host}" if self.port == default_port else f"{self.scheme}://{host}:{self.port}"


@dataclass(frozen=True, slots=True)
class SiteUrl:
    """An address that passed all checks of its text. `target`: path and query, percent-encoded."""

    origin: Origin
    target: str

    def __str__(self) -> str:
        return f"{self.origin}{self.target}"


@dataclass(frozen=True, slots=True)
class Site:
    """A company's site. `origins`: the first one is the default. `paths`: allowed paths; empty for all. `denied`: paths
    that are never read."""

    origins: tuple[Origin, ...]
    paths: tuple[str, ...] = ()
    denied: tuple[str, ...] = ()

    def page(self, path: str) -> SiteUrl:
        """Returns the page at a relative path of the default origin. Raises AddressRefusedError."""
        return self._allowed(self.origins[0], canonical_path(path))

    def at(self, origin: Origin, path: str) -> SiteUrl:
        """Returns the page at a relative path of one of the origins. Raises AddressRefusedError."""
        if origin not in self.origins:
            raise AddressRefusedError("not_the_site", TEXTS["site.other_site"].format(origin=origin))
        return self._allowed(origin, canonical_path(path))

    def redirected(self, current: SiteUrl, location: str) -> SiteUrl:
        """Returns the target of a redirect of `current`, checked like a first address. Raises AddressRefusedError."""
        _check_characters(location)
        try:
            target = urlsplit(urljoin(str(current), location))
            origin = parse_origin(f"{target.scheme}://{target.netloc}")
        except (ValueError, AddressRefusedError):
            raise AddressRefusedError("redirect_refused", TEXTS["site.redirects_nowhere"]) from None
        if origin not in self.origins:
            raise AddressRefusedError("redirect_refused", TEXTS["site.redirects_away"])
        path = target.path or "/"
        return self._allowed(origin, canonical_path(f"{path}?{target.query}" if target.query else path))

    def _allowed(self, origin: Origin, target: str) -> SiteUrl:
        decoded = unquote_to_bytes(target.partition("?")[0]).decode()
        denied_paths = (*self.denied, *_OPERATIONAL) if origin.is_loopback else self.denied
        if any(_matches(decoded, rule) for rule in denied_paths) or (
            self.paths and not any(_matches(decoded, rule) for rule in self.paths)
        ):
            raise AddressRefusedError("path_not_allowed", TEXTS["site.page_closed"])
        return SiteUrl(origin, target)


def site_of(
    allowed_domains: Sequence[str],
    allowed_paths: Iterable[str],
    demo: Origin | None,
    *,
    loopback: bool = False,
    denied: Iterable[str] = (),
) -> Site:
    """Returns a company's site by its settings.

    Args:
        demo: the demo site's exact origin, in development. Without `loopback` it is the only origin on this machine, or
            without TLS, that is allowed.
        loopback: whether every origin on this machine is allowed.

    Raises:
        AddressRefusedError: no origin is left that may be fetched.
    """
    origins: list[Origin] = []
    for text in allowed_domains:
        try:
            origin = parse_origin(text)
        except AddressRefusedError:
            continue
        is_local = origin == demo or (loopback and origin.is_loopback)
        if is_local or (origin.scheme == "https" and is_site_host(origin.host)):
            origins.append(origin)
    if not origins:
        raise AddressRefusedError("no_site", TEXTS["site.none_allowed"])
    return Site(tuple(dict.fromkeys(origins)), tuple(allowed_paths), tuple(denied))


def parse_origin(text: str) -> Origin:
    """Parses ``scheme://host[:port]``. Raises AddressRefusedError for anything more, or less."""
    _check_characters(text)
    try:
        parts = urlsplit(text)
        port = parts.port
    except ValueError:
        raise AddressRefusedError("bad_origin", TEXTS["site.no_origin"]) from None
    is_plain = parts.path in {"", "/"} and not parts.query and not parts.fragment and "@" not in parts.netloc
    if not is_plain or parts.scheme not in {"https", "http"} or not parts.hostname or port == 0:
        raise AddressRefusedError("bad_origin", TEXTS["site.origin_with_path"])
    return Origin(parts.scheme, parts.hostname, port or {"https": 443, "http": 80}[parts.scheme])


def parse_demo_origin(text: str) -> Origin:
    """Parses the demo site's origin. Raises AddressRefusedError if it is not on loopback."""
    origin = parse_origin(text)
    if origin.host not in _LOOPBACK:
        raise AddressRefusedError("bad_origin", TEXTS["site.demo_not_local"])
    return origin


def is_site_host(host: str) -> bool:
    """Whether a host may be a public site: a dotted name that is neither an IP address nor a local name."""
    if _HOST.fullmatch(host) is None:
        return False
    return not any(host.endswith(f".{name}") for name in _LOCAL_NAMES)


def canonical_path(path: str) -> str:
    """Returns a relative path (and query) in canonical form, percent-encoded and without its fragment.

    Raises:
        AddressRefusedError: it is no plain path from the site's root.
    """
    if len(path) > _MAX_PATH_CHARS:
        raise _bad_path(TEXTS["site.path.too_long"])
    _check_characters(path)
    path = path.partition("#")[0]
    if not path.startswith("/"):
        raise _bad_path(TEXTS["site.path.not_of_the_site"])
    raw, mark, query = path.partition("?")
    if _BROKEN_ESCAPE.search(path) is not None or _FORBIDDEN_ESCAPE.search(raw) is not None:
        raise _bad_path(TEXTS["site.path.hidden"])
    try:
        decoded = unquote_to_bytes(raw).decode()
    except UnicodeDecodeError:
        raise _bad_path(TEXTS["site.path.not_utf8"]) from None
    # Servers that normalise turn full-width dots and slashes into plain ones, so that form is checked too.
    for variant in (decoded, unicodedata.normalize("NFKC", decoded)):
        if (
            "//" in variant
            or "\\" in variant
            or any(part.partition(";")[0] in {".", ".."} for part in variant.split("/"))
        ):
            raise _bad_path(TEXTS["site.path.dot_segments"])
        if any(unicodedata.category(character) in {"Cc", "Cf", "Zl", "Zp"} for character in variant):
            raise _bad_path(TEXTS["site.path.invisible"])
    return quote(decoded, safe="/-._~!$&'()*+,;=:@") + mark + quote(query, safe="/-._~!$&'()*+,;=:@?%")


def _check_characters(text: str) -> None:
    if any(ord(character) <= 0x20 or ord(character) == 0x7F for character in text) or "\\" in text:
        raise _bad_path(TEXTS["site.path.bad_characters"])


def _bad_path(problem: Text) -> AddressRefusedError:
    return AddressRefusedError("bad_path", TEXTS["site.path.refused"].format(problem=problem))


def _matches(path: str, rule: str) -> bool:
    """Whether the path matches a prefix of whole segments, or a glob: * within a segment, ** across segments, ? for one
    character."""
    prefix = rule if rule.startswith("/") else f"/{rule}"
    if any(mark in rule for mark in "*?"):
        return _Glob.of(prefix).matches(path)
    return path == prefix or path.startswith(prefix if prefix.endswith("/") else f"{prefix}/")


class _Glob:
    """A glob that is matched in time proportional to the path's length: all parts that the path may have reached are
    tracked at once, each as a bit. A regular expression would try exponentially many ways for "**a**a**a"."""

    __slots__ = ("_across", "_end", "_literal", "_marks", "_one", "_within")

    def __init__(self, rule: str) -> None:
        parts = re.findall(r"\*{2,}|.", rule, re.DOTALL)
        bits: dict[str, int] = {}
        for number, part in enumerate(parts):
            kind = "**" if part.startswith("**") else part
            bits[kind] = bits.get(kind, 0) | 1 << number
        self._across, self._within, self._one = (bits.pop(mark, 0) for mark in ("**", "*", "?"))
        self._marks, self._literal, self._end = self._across | self._within, bits, 1 << len(parts)

    @classmethod
    @lru_cache(maxsize=1_024)
    def of(cls, rule: str) -> "_Glob":
        return cls(rule)

    def matches(self, path: str) -> bool:
        reached = self._over_marks(1)
        for character in path:
            segment_mask = -1 if character != "/" else 0
            step = reached & (self._literal.get(character, 0) | self._one & segment_mask)
            reached = self._over_marks(step << 1 | reached & (self._across | self._within & segment_mask))
            if not reached:
                return False
        return reached & self._end != 0

    def _over_marks(self, reached: int) -> int:
        return reached | (reached & self._marks) << 1
