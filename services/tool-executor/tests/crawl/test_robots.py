"""A robots.txt of many wildcards costs little for each address, and what it forbids stays forbidden."""

from tool_executor.crawl.robots import MAX_PATTERNS, Robots
from tool_executor.domain.site_address import SiteUrl, parse_origin

OTHERS = "User-agent: OtherBot\n" + "".join(f"Disallow: /other{i}/*/x\n" for i in range(MAX_PATTERNS + 9))


def address(path: str) -> SiteUrl:
    return SiteUrl(parse_origin("https://x.test"), path)


def test_more_wildcards_than_are_tried_forbid_what_begins_like_them() -> None:
    count = MAX_PATTERNS + 500
    rules = "".join(f"Disallow: /p{i}/*/x\n" for i in range(count))
    robots = Robots(f"User-agent: *\n{rules}Allow: /p{count - 1}/open*\nDisallow: /q\n")
    assert robots.allows(address("/p3/a/y"))
    assert not robots.allows(address("/p3/a/x"))
    assert not robots.allows(address(f"/p{count - 1}/a/x"))
    assert not robots.allows(address(f"/p{count - 1}/open")), "a rule that allows is left out"
    assert not robots.allows(address("/q/1"))
    assert robots.allows(address("/r"))


def test_rules_of_other_readers_do_not_count() -> None:
    robots = Robots(f"{OTHERS}\nUser-agent: *\nDisallow: /p/*/x\n")
    assert robots.allows(address("/p/a/y"))
    assert not robots.allows(address("/p/a/x"))
    assert robots.allows(address("/other1/a/x"))
