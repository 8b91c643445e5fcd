"""The executor's metrics: calls by tool and outcome, and their duration."""

from collections.abc import Iterable

from prometheus_client import Counter, Gauge, Histogram

from contracts.errors import ToolCode
from contracts.events.tool import ToolResult
from runtime.observability.metrics import from_zero

_CALLS = Counter("nexus_tool_calls_total", "Tool calls answered", ("tool", "outcome", "cached"))
_SECONDS = Histogram(
    "nexus_tool_call_seconds",
    "Time from taking a call to its result",
    ("tool",),
    buckets=(0.0005, 0.001, 0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0),
)
CALLS_DUE = Gauge("nexus_tool_calls_due", "Calls that wait for an executor; each executor tells the same")
OLDEST_CALL = Gauge("nexus_tool_calls_oldest_due_seconds", "For how long the oldest of them has waited")
PAGES = Counter("nexus_crawl_pages_total", "Pages of companies' sites, by what came of them", ("outcome", "reason"))
RUNS = Counter("nexus_crawl_runs_total", "Readings of companies' sites that ended", ("state",))
FILES = Counter("nexus_uploads_read_total", "Uploaded documents, by what came of them", ("outcome",))
UNKNOWN = "unknown"
"""Label for all unknown tool names, so that callers cannot create any number of series."""


_FAULTS = (ToolCode.UNAVAILABLE, ToolCode.TIMEOUT, ToolCode.EXECUTION_ERROR, ToolCode.UNKNOWN_OUTCOME)
"""The outcomes that are no caller's mistake; NexusToolsFail counts them."""


def count_from_zero(tools: Iterable[str]) -> None:
    """Starts the series of the tools, so that the first failure of each is seen."""
    from_zero(_CALLS, tools, ("ok", *_FAULTS), ("no",))


def count_call(tool: str, result: ToolResult) -> None:
    """Counts one answered call; `tool` is a known name, or UNKNOWN."""
    outcome = "ok" if result.error is None else str(result.error.code)
    _CALLS.labels(tool, outcome, "yes" if result.metadata.cached else "no").inc()
    _SECONDS.labels(tool).observe(result.metadata.execution_time / 1000)
