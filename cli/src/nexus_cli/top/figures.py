"""Reads the metrics of all services: their current values, and the growth since the previous reading."""

from __future__ import annotations

import asyncio
import math
import time
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import aiohttp
from prometheus_client.parser import text_string_to_metric_families

ANSWER_SECONDS = 3.0
Labels = tuple[tuple[str, str], ...]


@dataclass
class Sample:
    """One reading of all services. `at` is the monotonic time; `away`: the services that did not answer."""

    at: float
    values: dict[str, dict[Labels, dict[str, float]]] = field(
        default_factory=lambda: defaultdict(lambda: defaultdict(dict[str, float]))
    )
    """The values by metric, labels and process."""
    exported: set[str] = field(default_factory=set[str])
    """Names of all metrics that the services export, even without a value; counters without `_total`."""
    away: list[str] = field(default_factory=list[str])

    def add(self, process: str, text: str) -> None:
        """Adds the metrics of one process."""
        for family in text_string_to_metric_families(text):
            self.exported.add(family.name)
            for sample in family.samples:
                if sample.name.startswith("nexus_") and not math.isnan(sample.value):
                    self.values[sample.name][tuple(sorted(sample.labels.items()))][process] = sample.value

    def total(self, name: str) -> float | None:
        """Sum over all processes, for a metric that each counts for itself. None if no process that answered has it."""
        values = self._values(name)
        return sum(values) if values else None

    def maximum(self, name: str) -> float | None:
        """Maximum over all processes, for a metric that each reports for all. None if no process that answered has
        it."""
        return max(self._values(name), default=None)

    def maximum_by(self, name: str, label: str, digits: int) -> dict[str, float] | None:
        """The maximum for each value of a label, sorted, without zeros."""
        if name not in self.values:
            return None
        maxima: dict[str, float] = defaultdict(float)
        for labels, values in self.values[name].items():
            value = dict(labels).get(label, "")
            maxima[value] = max(maxima[value], *values.values())
        return {value: round(figure, digits) for value, figure in sorted(maxima.items()) if figure}

    def total_by(self, name: str, label: str) -> dict[str, float]:
        """The sum for each value of a label."""
        totals: dict[str, float] = defaultdict(float)
        for labels, values in self.values.get(name, {}).items():
            totals[dict(labels).get(label, "")] += sum(values.values())
        return dict(totals)

    def growth_since(self, previous: Sample, name: str, label: str) -> dict[str, float]:
        """Growth since the previous reading, for each value of a label. A process that did not answer then is left out,
        since its counts are not new."""
        growth: dict[str, float] = defaultdict(float)
        known_processes = previous.processes
        for labels, values in self.values.get(name, {}).items():
            previous_values = previous.values.get(name, {}).get(labels, {})
            for process, value in values.items():
                if process in known_processes:
                    growth[dict(labels).get(label, "")] += max(value - previous_values.get(process, 0.0), 0.0)
        return dict(growth)

    @property
    def processes(self) -> set[str]:
        return {process for rows in self.values.values() for by_process in rows.values() for process in by_process}

    def _values(self, name: str) -> list[float]:
        return [value for by_process in self.values.get(name, {}).values() for value in by_process.values()]


async def read(services: Mapping[str, Sequence[str]]) -> Sample:
    """Reads /metrics of all services at the same time."""
    sample = Sample(time.monotonic())

    async def read_one(http: aiohttp.ClientSession, name: str, url: str) -> None:
        try:
            async with http.get(f"{url}/metrics") as response:
                sample.add(url, await response.text())
        except (aiohttp.ClientError, TimeoutError, OSError, ValueError):
            sample.away.append(f"{name} ({url})")

    async with aiohttp.ClientSession(timeout=aiohttp.ClientTimeout(total=ANSWER_SECONDS)) as http:
        await asyncio.gather(*(read_one(http, name, url) for name, urls in services.items() for url in urls))
    return sample


def view(previous: Sample | None, current: Sample) -> dict[str, Any]:
    """The figures to show, by name; None if no service that answered has the metric. Rates are per minute, and 0
    without a previous reading; totals count since the start of each process."""
    minutes = (current.at - previous.at) / 60 if previous is not None else math.inf

    def rates(name: str, label: str, digits: int = 1) -> dict[str, float] | None:
        if name.removesuffix("_total").removesuffix("_count") not in current.exported:
            return None
        growth = (
            current.growth_since(previous, name, label)
            if previous is not None
            else dict.fromkeys(current.total_by(name, label), 0.0)
        )
        return {key: round(value / minutes, digits) for key, value in growth.items()}

    costs, cost_rates = (
        current.total_by("nexus_model_cost_total", "currency"),
        rates("nexus_model_cost_total", "currency", 4),
    )
    return {
        "away": sorted(current.away),
        "turns": {
            "due": _whole(current.maximum("nexus_turns_due")),
            "oldestDueSeconds": _rounded(current.maximum("nexus_oldest_due_seconds"), 1),
            "running": _whole(current.total("nexus_turns_running")),
            "perMinute": rates("nexus_turns_total", "outcome"),
        },
        "sockets": _whole(current.total("nexus_gateway_sockets")),
        "handovers": {
            "waiting": _whole(current.maximum("nexus_handovers_waiting")),
            "oldestSeconds": _whole(current.maximum("nexus_handover_oldest_seconds")),
        },
        "tools": {
            "due": _whole(current.maximum("nexus_tool_calls_due")),
            "perMinute": rates("nexus_tool_calls_total", "outcome"),
        },
        "models": {
            "perMinute": rates("nexus_model_seconds_count", "outcome"),
            "tokensPerMinute": rates("nexus_model_tokens_total", "kind"),
        },
        "cost": None
        if cost_rates is None
        else {
            currency: {"total": round(total, 4), "perMinute": cost_rates.get(currency, 0.0)}
            for currency, total in costs.items()
        },
        "lag": current.maximum_by("nexus_consumer_behind", "consumer", 0),
        "fill": current.maximum_by("nexus_stream_fill_ratio", "stream", 3),
        "deadLetters": _whole(current.total("nexus_dead_letters_total")),
        "loopLagSeconds": _rounded(current.maximum("nexus_event_loop_lag_seconds"), 3),
    }


def _whole(value: float | None) -> int | None:
    return None if value is None else round(value)


def _rounded(value: float | None, digits: int) -> float | None:
    return None if value is None else round(value, digits)
