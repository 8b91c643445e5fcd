"""The alerts on a stack that has just started: Prometheus misses the first event of a series that is not there yet."""

import re
from collections.abc import Iterable, Mapping

import aiohttp
from prometheus_client.parser import text_string_to_metric_families

from contracts.streams import STREAMS
from nexus_cli.stack.datadir import DataDirectory
from tests.deploy.test_observability import rules, selectors
from tests.support.running_stack import RunningStack

Labels = Mapping[str, str]


async def scraped(stack: RunningStack) -> dict[str, list[Labels]]:
    """Returns the labels of all series of all services, by the name of the series."""
    found: dict[str, list[Labels]] = {}
    async with aiohttp.ClientSession() as http:
        for process in DataDirectory(stack.data).recorded()["processes"]:
            if process["url"].startswith("http"):
                async with http.get(f"{process['url']}/metrics") as response:
                    for family in text_string_to_metric_families(await response.text()):
                        for sample in family.samples:
                            found.setdefault(sample.name, []).append({"job": process["name"], **sample.labels})
    return found


def matched(series: Iterable[Labels], matchers: Iterable[tuple[str, str, str]]) -> list[Labels]:
    """The series that a selector takes. A matcher: label, operator as the parser names it, value."""

    def fits(labels: Labels) -> bool:
        for label, operator, value in matchers:
            pattern = value if "Re" in operator else re.escape(value)
            if (re.fullmatch(pattern, labels.get(label, "")) is None) != ("Not" in operator):
                return False
        return True

    return [labels for labels in series if fits(labels)]


async def test_every_series_of_an_alert_is_there_before_its_fault(stack: RunningStack) -> None:
    found = await scraped(stack)
    missing: list[str] = []
    for rule in rules():
        for selector in selectors(rule["expr"]):
            matchers = [(one.name, str(one.op), one.value) for one in selector.matchers.matchers]
            if selector.name != "up" and not matched(found.get(selector.name, ()), matchers):
                missing.append(f"{rule['alert']}: {selector.prettify()}")
    assert not missing
    refusing = {labels["stream"] for labels in found["nexus_appends_refused_total"]}
    assert refusing == {stream.name for stream in STREAMS}
