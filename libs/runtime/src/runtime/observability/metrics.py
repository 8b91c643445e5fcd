"""Prometheus metrics that every service has. A service adds its own in its metrics.py, with the prefix `nexus_`."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from itertools import product
from typing import TypeVar

from prometheus_client import Counter, Gauge, Histogram
from prometheus_client.metrics import MetricWrapperBase

MetricT = TypeVar("MetricT", bound=MetricWrapperBase)


def cached(metric: MetricT) -> MetricT:
    """Returns the metric with its series cached: for metrics counted several times in a turn, to save a check and a
    lock."""
    metric.labels = cache(metric.labels)  # pyright: ignore[reportAttributeAccessIssue]
    return metric


def from_zero(metric: MetricT, *values: Iterable[str]) -> MetricT:
    """Starts a series at 0 for each combination of the labels' values and returns the metric: Prometheus does not see
    the first event of a series that starts at 1, so that no alert is raised."""
    for combination in product(*values):
        metric.labels(*combination)
    return metric


_FAST = (0.0005, 0.001, 0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)
_SLOW = (0.005, 0.01, 0.05, 0.1, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0, 120.0)

RPC_SECONDS = cached(
    Histogram("nexus_rpc_call_seconds", "Calls to other services", ("method", "outcome"), buckets=_FAST)
)
RPC_SERVED = cached(Counter("nexus_rpc_served_total", "Calls answered", ("method", "outcome")))
RPC_REPEATS = Counter(
    "nexus_rpc_repeats_total", "Requests repeated, or not for want of a budget", ("method", "outcome")
)
CONSUMED = cached(Counter("nexus_consumed_total", "Messages handled", ("consumer", "outcome")))
CONSUME_SECONDS = cached(Histogram("nexus_consume_seconds", "Time to handle a message", ("consumer",), buckets=_SLOW))
IN_WORK = cached(Gauge("nexus_in_work", "Messages being handled now", ("consumer",)))
DEAD_LETTERS = Counter("nexus_dead_letters_total", "Messages given up", ("service", "stream"))
PUBLISHED = cached(Counter("nexus_published_total", "Events appended to streams", ("stream", "outcome")))
APPENDS_REFUSED = Counter(
    "nexus_appends_refused_total", "Attempts that a stream did not take: full, no leader, disk", ("stream",)
)
CHECK_HOLDS = Gauge("nexus_check_holds", "1 while this check of /readyz holds", ("check",))
NATS_CONNECTED = Gauge("nexus_nats_connected", "1 while the bus answers")
NATS_RECONNECTS = Counter("nexus_nats_reconnects_total", "Reconnects to the bus")
LOOP_LAG = Gauge("nexus_event_loop_lag_seconds", "How late the event loop last woke up")
SPANS = from_zero(
    Counter("nexus_spans_total", "Spans for the stream TRACES", ("outcome",)), ("sent", "lost", "dropped")
)
SETTINGS_AGE = Gauge(
    "nexus_settings_unconfirmed_seconds", "For how long nobody could confirm company settings that are in use"
)
