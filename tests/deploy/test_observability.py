"""Dashboards and rules name only what is exported; every alert has its page."""

import json
import re
from collections.abc import Iterator
from typing import Any, cast

import promql_parser
import pytest

from nexus_cli.stack.services import SERVICES
from tests.deploy.exported import ROOT, collectors, series, yaml_documents, yaml_of

OBSERVABILITY = ROOT / "deploy/observability"
RUNBOOKS = ROOT / "docs/runbooks"
SCRAPED = {"job", "instance", "namespace", "pod", "service"}
"""Labels that Prometheus gives to all that it scrapes."""
SECTIONS = ["What it means", "What to look at", "What to do", "How to know that it is over"]
DURATION = re.compile(r"\d+[smhd]")


def rules() -> list[dict[str, Any]]:
    document = cast("dict[str, Any]", yaml_of((OBSERVABILITY / "rules.yaml").read_text()))
    assert set(document) == {"groups"}
    groups = cast("list[dict[str, Any]]", document["groups"])
    assert all(set(group) == {"name", "rules"} for group in groups)
    assert len({group["name"] for group in groups}) == len(groups)
    return [rule for group in groups for rule in group["rules"]]


def expressions() -> Iterator[tuple[str, str]]:
    """Where each expression stands, and the expression."""
    for rule in rules():
        yield rule["alert"], rule["expr"]
    for path in sorted((OBSERVABILITY / "dashboards").glob("*.json")):
        for panel in json.loads(path.read_text())["panels"]:
            for target in panel["targets"]:
                yield f"{path.stem}: {panel['title']}", target["expr"]
    for path in sorted((ROOT / "deploy/kubernetes").rglob("*.yaml")):
        for document in yaml_documents(path.read_text()):
            if isinstance(document, dict) and cast("dict[str, Any]", document).get("kind") == "ScaledObject":
                for trigger in cast("dict[str, Any]", document)["spec"]["triggers"]:
                    if trigger["type"] == "prometheus":
                        yield f"{path.name}: {document['metadata']['name']}", trigger["metadata"]["query"]
    adapter = yaml_of((ROOT / "deploy/kubernetes/autoscaling/hpa/adapter-values.yaml").read_text())
    for rule in adapter["rules"]["external"]:
        yield f"adapter: {rule['name']['as']}", rule["metricsQuery"]


def selectors(expr: str) -> Iterator[Any]:
    """Every selector of series in an expression that a PromQL parser takes."""
    found: list[Any] = []

    def visit(node: Any) -> bool:
        if isinstance(node, promql_parser.VectorSelector):
            found.append(node)
        return True

    promql_parser.walk(promql_parser.parse(expr), visit)
    return iter(found)


EXPRESSIONS = list(expressions())


@pytest.mark.parametrize(("where", "expr"), EXPRESSIONS, ids=[where for where, _ in EXPRESSIONS])
def test_every_metric_and_label_that_is_asked_for_is_exported(where: str, expr: str) -> None:
    known = series() | {"up": set[str]()}
    asked = list(selectors(expr))
    assert asked, where
    for selector in asked:
        assert selector.name in known, f"{where}: nobody exports {selector.name}"
        labels = {matcher.name for matcher in selector.matchers.matchers} - {"__name__"}
        assert labels <= known[selector.name] | SCRAPED, f"{where}: {selector.name} has no {labels}"
    grouped = {label.strip() for group in re.findall(r"\bby \(([^)]*)\)", expr) for label in group.split(",")}
    assert grouped <= set().union(*(known[one.name] for one in asked)) | SCRAPED, where


def test_a_metric_that_is_not_there_is_found() -> None:
    (selector,) = selectors('sum(rate(nexus_nothing_total{outcome="x"}[5m]))')
    assert selector.name not in series()
    with pytest.raises(ValueError, match=r"."):
        promql_parser.parse("sum(rate(nexus_turns_total[5m])")


def test_the_list_of_metrics_is_what_the_services_say() -> None:
    """Against the registry of a service that is loaded."""
    from prometheus_client import REGISTRY, generate_latest

    import agent.metrics  # noqa: F401  # pyright: ignore[reportUnusedImport]
    import runtime.observability.metrics  # noqa: F401  # pyright: ignore[reportUnusedImport]

    said = set(re.findall(r"^# HELP (nexus_\w+) ", generate_latest(REGISTRY).decode(), re.MULTILINE))
    listed = {name.removesuffix("_total") + "_total" if kind == "Counter" else name for kind, name, _ in collectors()}
    assert {"nexus_turns_due", "nexus_turns_total", "nexus_rpc_call_seconds"} <= said
    assert {name for name in said if not name.endswith("_created")} <= listed


def test_every_alert_has_its_runbook_and_every_runbook_its_alert() -> None:
    alerts = [rule["alert"] for rule in rules()]
    assert len(set(alerts)) == len(alerts)
    assert set(alerts) == {path.stem for path in RUNBOOKS.glob("*.md")} - {"README"}
    index = (RUNBOOKS / "README.md").read_text()
    for alert in alerts:
        assert f"[{alert}]({alert}.md)" in index
        page = (RUNBOOKS / f"{alert}.md").read_text()
        assert re.findall(r"^## (.+)$", page, re.MULTILINE) == SECTIONS
        named = set(re.findall(r"\bnexus_\w+", page))
        assert named <= {sery.removesuffix("_bucket").removesuffix("_count") for sery in series()} | set(series()), (
            alert
        )


def test_a_service_without_any_process_is_an_alert() -> None:
    """Nobody then exports `up`, nor the figures of the other alerts."""
    (expr,) = [rule["expr"] for rule in rules() if rule["alert"] == "NexusServiceDown"]
    assert set(re.findall(r'absent\(up\{job="nexus-([a-z-]+)"\}\)', expr)) == set(SERVICES)


def test_a_projection_that_stands_wakes_somebody_within_five_minutes_however_little_waits() -> None:
    (rule,) = [rule for rule in rules() if rule["alert"] == "NexusProjectionStands"]
    (seconds,) = re.findall(r"^max\(nexus_memory_projection_standing_seconds\) > (\d+)$", rule["expr"])
    assert int(seconds) + 60 * int(rule["for"].removesuffix("m")) < 300
    assert rule["labels"]["severity"] == "page"


def test_every_check_of_readiness_is_in_an_alert() -> None:
    """Balancers send nothing to who is not ready, so that the fault itself need not be met again."""
    (expr,) = [rule["expr"] for rule in rules() if rule["alert"] == "NexusNotReady"]
    for left_out in re.findall(r'check!~"([a-z|]+)"', expr)[0].split("|"):
        watched = "nexus_nats_connected" if left_out == "nats" else f'nexus_check_holds{{check="{left_out}"}}'
        assert any(watched in rule["expr"] for rule in rules()), left_out


def test_a_single_event_wakes_nobody_up() -> None:
    """A server that restarts refuses for a moment. `rate(…[window]) > 0` holds for the window after one event, so an
    alert that pages must last as long as that."""
    for rule in rules():
        for window in re.findall(r"rate\(\w+\[(\d+)m\]\)\) > 0\b", rule["expr"]):
            if rule["labels"]["severity"] == "page" and float(window) > int(rule["for"].removesuffix("m")):
                pytest.fail(f"{rule['alert']}: one event in {window} minutes is enough")


def test_room_is_compared_with_what_the_same_process_has_read() -> None:
    """A process that has read nothing yet says 0 for both."""
    (expr,) = [rule["expr"] for rule in rules() if rule["alert"] == "NexusStorageRunsOut"]
    assert re.findall(r"\b(\w+)\(", expr)[0] == "count"
    assert not re.search(r"\b(min|max|sum)\(", expr)


def test_every_rule_is_whole() -> None:
    for rule in rules():
        assert set(rule) == {"alert", "expr", "for", "labels", "annotations"}, rule["alert"]
        assert DURATION.fullmatch(rule["for"])
        assert rule["labels"]["severity"] in {"page", "ticket"}
        assert rule["annotations"]["runbook"] == f"docs/runbooks/{rule['alert']}.md"
        assert rule["annotations"]["summary"]


def test_dashboards_are_whole_and_differ() -> None:
    pages = [json.loads(path.read_text()) for path in sorted((OBSERVABILITY / "dashboards").glob("*.json"))]
    assert {page["uid"] for page in pages} == {
        f"nexus-{name}" for name in ("overview", "turns", "tools", "models", "bus", "stores")
    }
    for page in pages:
        assert len({panel["id"] for panel in page["panels"]}) == len(page["panels"])
        places = {(panel["gridPos"]["x"], panel["gridPos"]["y"]) for panel in page["panels"]}
        assert len(places) == len(page["panels"])


def test_no_label_names_a_conversation_or_a_user() -> None:
    forbidden = re.compile(r"conversation|user|visitor|company|session|message|turn|principal|trace|(^|_)id$")
    for _, name, labels in collectors():
        assert not [label for label in labels if forbidden.search(label)], name
