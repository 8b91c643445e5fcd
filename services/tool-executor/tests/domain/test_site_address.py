"""Where fetch_page may go, decided on text and on addresses before anything is connected."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runtime.http.public_address import is_public
from tool_executor.domain.site_address import (
    AddressRefusedError,
    Origin,
    Site,
    canonical_path,
    is_site_host,
    parse_demo_origin,
    parse_origin,
    site_of,
)

DEMO = Origin("http", "127.0.0.1", 8080)
SHOP = "https://www.example.com"


def site(*paths: str, domains: tuple[str, ...] = (SHOP,), demo: Origin | None = None) -> Site:
    return site_of(domains, paths, demo)


@pytest.mark.parametrize(
    ("path", "canonical"),
    [
        ("/", "/"),
        ("/pricing", "/pricing"),
        ("/a/b.html?x=1&y=%20z", "/a/b.html?x=1&y=%20z"),
        ("/pricing#plans", "/pricing"),
        ("/precios/año", "/precios/a%C3%B1o"),
        ("/precios/a%C3%B1o", "/precios/a%C3%B1o"),
        ("/%70ricing", "/pricing"),
        ("/@team", "/@team"),
        ("/search?u=https://evil.com/", "/search?u=https://evil.com/"),
    ],
)
def test_a_plain_path_has_one_spelling(path: str, canonical: str):
    assert canonical_path(path) == canonical
    assert canonical_path(canonical) == canonical
    assert str(site().page(path)) == SHOP + canonical


@pytest.mark.parametrize(
    "path",
    [
        "",
        "pricing",
        "https://evil.com/",
        "http:evil.com",
        "javascript:alert(1)",
        "//evil.com/",
        "///evil.com",
        "/\\evil.com",
        "\\\\evil.com",
        "/a//b",
        "/%2fevil.com",
        "/%2Fevil.com",
        "/%5cevil.com",
        "/..",
        "/../etc",
        "/a/../../b",
        "/a/./b",
        "/..;/admin",
        "/%2e%2e/admin",
        "/%2E./admin",
        "/.%2e/admin",
        "/%252e%252e/admin",
        "/%c0%ae%c0%ae/admin",
        "/．．/admin",
        "/a／／b",
        "/a b",
        " /a",
        "/a\n",
        "/a\r\nHost: evil.com",
        "/a%0d%0aHost:%20evil.com",
        "/a\x00",
        "/a%00",
        "/a%",
        "/a%zz",
        "/a%7f",
        "/a\u202eb",
        "/\u2028",
        "?x=1",
        "#x",
        "@evil.com/",
        ":80/",
        "/" + "a" * 2048,
    ],
)
def test_a_path_that_could_be_read_in_two_ways_is_refused(path: str):
    with pytest.raises(AddressRefusedError):
        canonical_path(path)


@given(st.text(max_size=60))
def test_whatever_the_path_the_address_stays_on_the_site(path: str):
    try:
        address = site().page("/" + path)
    except AddressRefusedError:
        return
    assert str(address).startswith(SHOP + "/")
    assert str(address).isascii()
    target = str(address)[len(SHOP) :].partition("?")[0]
    assert "//" not in target
    assert "\\" not in target
    assert not {".", ".."} & set(target.split("/"))


@pytest.mark.parametrize(
    ("rule", "path", "allowed"),
    [
        ("/docs", "/docs", True),
        ("/docs", "/docs/a/b", True),
        ("/docs", "/docs?x=1", True),
        ("/docs", "/docsecret", False),
        ("/docs/", "/docs/a", True),
        ("/docs", "/", False),
        ("/docs", "/Docs", False),
        ("/blog/*", "/blog/first", True),
        ("/blog/*", "/blog/a/b", False),
        ("/blog/**", "/blog/a/b", True),
        ("blog/*", "/blog/first", True),
        ("blog", "/blog/first", True),
        ("**", "/blog/a/b", True),
        ("/*.html", "/a.html", True),
        ("/*.html", "/a.htmlx", False),
        ("/v?/x", "/v1/x", True),
        ("/a.c", "/abc", False),
        ("/admin", "/%61dmin", True),
        ("/public", "/admin?/public", False),
        ("/", "/anything", True),
    ],
)
def test_allowed_paths_are_prefixes_by_segment_or_globs(rule: str, path: str, allowed: bool):
    if allowed:
        site(rule).page(path)
    else:
        with pytest.raises(AddressRefusedError, match="does not let"):
            site(rule).page(path)


@pytest.mark.parametrize(
    "host",
    [
        "localhost",
        "intranet",
        "127.0.0.1",
        "2130706433",
        "0x7f000001",
        "0x7f.1",
        "0177.0.0.1",
        "127.1",
        "10.0.0.1.",
        "example.com.",
        "a.0x7f",
        "a.1",
        "foo.localhost",
        "db.internal",
        "printer.local",
        "x.home.arpa",
        "x.onion",
        "ex ample.com",
        "exa_mple.com",
        "-a.com",
        "a..com",
        ".com",
        "例え.com",
        "ⓔxample.com",
        "[::1]",
        "::1",
        "a" * 64 + ".com",
    ],
)
def test_a_host_that_is_an_address_or_a_local_name_is_no_site(host: str):
    assert not is_site_host(host)
    with pytest.raises(AddressRefusedError):
        site(domains=(f"https://{host}",))


@pytest.mark.parametrize(
    "origin",
    [
        "http://www.example.com",
        "ftp://www.example.com",
        "https://user@www.example.com",
        "https://user:pass@www.example.com",
        "https://www.example.com/path",
        "https://www.example.com?x",
        "https://www.example.com#x",
        "https://www.example.com:0",
        "https://www.example.com:99999",
        "https://",
        "www.example.com",
        "https:\\\\www.example.com",
        "http://127.0.0.1:8080",
        "http://localhost:8080",
    ],
)
def test_only_https_origins_are_sites(origin: str):
    with pytest.raises(AddressRefusedError):
        site(domains=(origin,))


def test_the_demo_origin_counts_exactly_as_configured_and_only_when_the_company_lists_it():
    listed = site(domains=(SHOP, "http://127.0.0.1:8080"), demo=DEMO)
    assert listed.origins == (Origin("https", "www.example.com", 443), DEMO)
    assert site(demo=DEMO).origins == (Origin("https", "www.example.com", 443),)
    for other in ("http://127.0.0.1:8081", "https://127.0.0.1:8080", "http://localhost:8080", "http://127.0.0.2:8080"):
        with pytest.raises(AddressRefusedError):
            site(domains=(other,), demo=DEMO)
    with pytest.raises(AddressRefusedError):
        parse_demo_origin("http://10.0.0.1:8080")
    assert str(parse_demo_origin("http://[::1]:8080")) == "http://[::1]:8080"


@pytest.mark.parametrize(
    ("location", "target"),
    [
        ("/en/pricing", SHOP + "/en/pricing"),
        ("plans", SHOP + "/docs/plans"),
        ("../plans", SHOP + "/plans"),
        ("?page=2", SHOP + "/docs/a?page=2"),
        (SHOP, SHOP + "/"),
        (SHOP + "/x", SHOP + "/x"),
        ("https://WWW.EXAMPLE.COM/x", SHOP + "/x"),
        ("https://www.example.com:443/x", SHOP + "/x"),
        ("https://example.com/x", "https://example.com/x"),
        ("//example.com/x", "https://example.com/x"),
    ],
)
def test_a_redirect_may_stay_on_the_site(location: str, target: str):
    both = site(domains=(SHOP, "https://example.com"))
    assert str(both.redirected(both.page("/docs/a"), location)) == target


@pytest.mark.parametrize(
    "location",
    [
        "https://evil.com/",
        "//evil.com/",
        "http://www.example.com/",
        "https://www.example.com:8443/",
        "https://www.example.com@evil.com/",
        "https://evil.com@www.example.com/",
        "https://www.example.com.evil.com/",
        "https://169.254.169.254/latest/meta-data/",
        "http://127.0.0.1:8080/",
        "https://[::1]/",
        "https://[bad/",
        "https:\\\\evil.com",
        "/\\evil.com",
        "https://evil.com\\@www.example.com/",
        "file:///etc/passwd",
        "javascript:alert(1)",
        "data:text/html,x",
        "gopher://www.example.com/",
        "/%2e%2e/",
        "/a\tb",
        "https://www.example.com:bad/",
    ],
)
def test_a_redirect_off_the_site_is_refused(location: str):
    here = site()
    with pytest.raises(AddressRefusedError):
        here.redirected(here.page("/docs/a"), location)


def test_a_redirect_to_a_path_that_is_not_allowed_is_refused():
    here = site("/docs")
    with pytest.raises(AddressRefusedError):
        here.redirected(here.page("/docs/a"), "/admin")


BLOCKED_4 = {
    "this network": "0.0.0.1",
    "private 10": "10.1.2.3",
    "shared": "100.64.0.1",
    "alibaba metadata": "100.100.100.200",
    "loopback": "127.0.0.1",
    "loopback end": "127.255.255.254",
    "azure host": "168.63.129.16",
    "metadata": "169.254.169.254",
    "private 172": "172.16.0.1",
    "private 172 end": "172.31.255.255",
    "protocol": "192.0.0.192",
    "documentation 1": "192.0.2.1",
    "6to4 relay": "192.88.99.1",
    "private 192": "192.168.1.1",
    "benchmark": "198.18.0.1",
    "documentation 2": "198.51.100.1",
    "documentation 3": "203.0.113.1",
    "multicast": "224.0.0.1",
    "reserved": "240.0.0.1",
    "broadcast": "255.255.255.255",
}
BLOCKED_6 = [
    "::",
    "::1",
    "64:ff9b:1::1",
    "100::1",
    "2001::1",
    "2001:db8::1",
    "2002:7f00:1::",
    "3fff::1",
    "5f00::1",
    "fc00::1",
    "fd00:ec2::254",
    "fe80::1",
    "fe80::1%eth0",
    "fec0::1",
    "ff02::1",
    "2a00:1450::200:5efe:7f00:1",
    "2a00:1450::5efe:a9fe:a9fe",
]


def _notations(address: str) -> dict[str, str]:
    """An IPv4 address as it can be written, or hidden in IPv6."""
    a, b, c, d = (int(part) for part in address.split("."))
    number = (a << 24) | (b << 16) | (c << 8) | d
    high, low = number >> 16, number & 0xFFFF
    return {
        "decimal": str(number),
        "octal": f"0{a:o}.0{b:o}.0{c:o}.0{d:o}",
        "octal number": f"0{number:o}",
        "hex": f"0x{a:x}.0x{b:x}.0x{c:x}.0x{d:x}",
        "hex number": f"0x{number:08x}",
        "short 2": f"{a}.{number & 0xFFFFFF}",
        "short 3": f"{a}.{b}.{number & 0xFFFF}",
        "mapped": f"::ffff:{address}",
        "mapped hex": f"::ffff:{high:x}:{low:x}",
        "compatible": f"::{high:x}:{low:x}",
        "nat64": f"64:ff9b::{high:x}:{low:x}",
        "nat64 local": f"64:ff9b:1::{high:x}:{low:x}",
        "6to4": f"2002:{high:x}:{low:x}::",
        "teredo": f"2001:0:{high:x}:{low:x}::1",
        "isatap": f"2a00:1450::5efe:{high:x}:{low:x}",
    }


@pytest.mark.parametrize("address", BLOCKED_4.values(), ids=BLOCKED_4.keys())
def test_a_blocked_address_is_blocked_in_every_notation(address: str):
    assert not is_public(address)
    for notation, text in _notations(address).items():
        assert not is_public(text), notation
        host = f"[{text}]" if ":" in text else text
        with pytest.raises(AddressRefusedError):
            site(domains=(f"https://{host}",))
        here = site()
        for location in (f"https://{host}/", f"https://www.example.com@{host}/", f"//{host}/"):
            with pytest.raises(AddressRefusedError):
                here.redirected(here.page("/"), location)


@pytest.mark.parametrize("address", BLOCKED_6)
def test_special_ipv6_addresses_are_not_public(address: str):
    assert not is_public(address)


@pytest.mark.parametrize("address", ["93.184.216.34", "8.8.8.8", "172.32.0.1", "2606:2800:220:1::1", "2a00:1450::1"])
def test_ordinary_addresses_are_public(address: str):
    assert is_public(address)


def test_origins_are_compared_without_case_and_usual_ports():
    assert parse_origin("https://WWW.Example.com:443/") == parse_origin("https://www.example.com")
    assert str(parse_origin("https://www.example.com:8443")) == "https://www.example.com:8443"


@pytest.mark.parametrize("path", ["/metrics", "/metrics?x=1", "/%6detrics", "/metrics/", "/healthz", "/readyz"])
def test_what_the_gateway_says_of_itself_is_no_page_of_its_demo_site(path: str):
    demo = site("/metrics", "/healthz", "/readyz", domains=(str(DEMO), SHOP), demo=DEMO)
    with pytest.raises(AddressRefusedError) as refused:
        demo.page(path)
    assert refused.value.reason == "path_not_allowed"
    with pytest.raises(AddressRefusedError):
        demo.redirected(demo.at(demo.origins[1], "/metrics"), f"{DEMO}{path}")
    # A company's own site may well have a page of that name.
    assert str(demo.at(demo.origins[1], path)).startswith(SHOP)
