"""Internal addresses that a company's URL must never reach, in every spelling that has passed a check somewhere."""

from __future__ import annotations

from collections.abc import Iterator

V4 = {
    "this network": "0.0.0.0",
    "private 10": "10.1.2.3",
    "shared": "100.64.0.1",
    "metadata of Alibaba": "100.100.100.200",
    "loopback": "127.0.0.1",
    "loopback end": "127.255.255.254",
    "host agent of Azure": "168.63.129.16",
    "metadata": "169.254.169.254",
    "private 172": "172.16.0.1",
    "metadata of Oracle": "192.0.0.192",
    "private 192": "192.168.1.1",
    "benchmark": "198.18.0.1",
    "multicast": "224.0.0.1",
    "broadcast": "255.255.255.255",
}
V6 = (
    "::",
    "::1",
    "0:0:0:0:0:0:0:1",
    "0000:0000:0000:0000:0000:0000:0000:0001",
    "100::1",
    "2001::1",
    "2001:db8::1",
    "2002:7f00:1::",
    "3fff::1",
    "5f00::1",
    "fc00::1",
    "fd00:ec2::254",
    "fd20:ce::254",
    "fe80::1",
    "fe80::1%25lo",
    "febf::1",
    "fec0::1",
    "ff02::1",
)
_WIDE = str.maketrans("0123456789.", "０１２３４５６７８９．")
_CIRCLED = str.maketrans("0123456789", "⓪①②③④⑤⑥⑦⑧⑨")


def spellings(address: str) -> Iterator[tuple[str, str]]:
    """Yields spellings of an IPv4 address as the host of a URL: the name of the spelling, and the host."""
    a, b, c, d = (int(part) for part in address.split("."))
    number = (a << 24) | (b << 16) | (c << 8) | d
    high, low = number >> 16, number & 0xFFFF
    yield "plain", address
    yield "trailing dot", f"{address}."
    yield "decimal", str(number)
    yield "octal", f"0{a:o}.0{b:o}.0{c:o}.0{d:o}"
    yield "octal, padded", f"0000{a:o}.0{b:o}.0{c:o}.0{d:o}"
    yield "octal number", f"0{number:o}"
    yield "hex", f"0x{a:x}.0x{b:x}.0x{c:x}.0x{d:x}"
    yield "hex number", f"0x{number:08X}"
    yield "mixed", f"0x{a:x}.0{b:o}.{c}.{d}"
    yield "two parts", f"{a}.{number & 0xFFFFFF}"
    yield "three parts", f"{a}.{b}.{number & 0xFFFF}"
    yield "full width", address.translate(_WIDE)
    yield "circled", address.translate(_CIRCLED)
    yield "ideographic stops", address.replace(".", "。")
    yield "escaped", "".join(f"%{ord(character):02x}" for character in address)
    yield "escaped dots", address.replace(".", "%2e")
    yield "soft hyphen", f"{address[0]}\u00ad{address[1:]}"
    yield "mapped", f"[::ffff:{address}]"
    yield "mapped in hex", f"[::ffff:{high:x}:{low:x}]"
    yield "mapped at length", f"[0:0:0:0:0:ffff:{high:x}:{low:x}]"
    yield "compatible", f"[::{high:x}:{low:x}]"
    yield "translated", f"[::ffff:0:{high:x}:{low:x}]"
    yield "NAT64", f"[64:ff9b::{high:x}:{low:x}]"
    yield "NAT64, dotted", f"[64:ff9b::{address}]"
    yield "NAT64 of one's own", f"[64:ff9b:1::{high:x}:{low:x}]"
    yield "6to4", f"[2002:{high:x}:{low:x}::]"
    yield "Teredo", f"[2001:0:{high:x}:{low:x}::1]"
    yield "Teredo's client", f"[2001:0:4136:e378:8000:63bf:{high ^ 0xFFFF:x}:{low ^ 0xFFFF:x}]"
    yield "ISATAP", f"[2a00:1450::5efe:{high:x}:{low:x}]"
    yield "ISATAP, global", f"[2a00:1450::200:5efe:{high:x}:{low:x}]"


NAMES = ("localhost", "LOCALHOST", "localhost.", "ｌｏｃａｌｈｏｓｔ", "loc%61lhost", "lⓄcalhost")
HOSTS = {
    **{f"{name}, {how}": host for name, address in V4.items() for how, host in spellings(address)},
    **{f"IPv6 {address}": f"[{address}]" for address in V6},
    **{f"name {name}": name for name in NAMES},
}
"""The hosts by the name of the test case."""

FORMS = {
    "userinfo": "https://shop.example@{host}:{port}/",
    "userinfo and password": "https://shop.example:443@{host}:{port}/",
    "two at signs": "https://a@shop.example@{host}:{port}/",
    "backslash": "https://shop.example\\@{host}:{port}/",
    "fragment first": "https://{host}:{port}#@shop.example/",
    "query first": "https://{host}:{port}?@shop.example/",
    "no slashes": "https:{host}:{port}/",
    "three slashes": "https:///{host}:{port}/",
    "tab": "https://\t{host}:{port}/",
    "line end": "https://{host}\r\n:{port}/",
    "blank before": " https://{host}:{port}/",
    "upper case": "HTTPS://{host}:{port}/",
    "no scheme": "//{host}:{port}/",
    "http": "http://{host}:{port}/",
    "file": "file://{host}/etc/passwd",
    "ftp": "ftp://{host}:{port}/",
    "gopher": "gopher://{host}:{port}/_x",
    "websocket": "ws://{host}:{port}/",
}
"""URL forms that look like another address or have another scheme."""
