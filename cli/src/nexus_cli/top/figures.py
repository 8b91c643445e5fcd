"""Reads all services' metrics twice: the current values, and what was counted in between."""

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

ANSWER = 3.0
Labels = tuple[tuple[str, str], ...]


@dataclass
class Sample:
    """One reading of all services. `away`: those that did not answer."""

    at: float
    values: dict[str, dict[Labels, dict[str, float]]] = field(
        default_factory=lambda: defaultdict(lambda: defaultdict(dict[str, float]))
    )
    """The values by metric, labels and process."""
    counted: set[str] = field(default_factory=set[str])
    """The metrics that somebody who answered exports, those without a value too; of counters without `_total`."""
    away: list[str] = field(default_factory=list[str])

    def take(self, process: str, text: str) -> None:
        """Adds what one process exports."""
        for family in text_string_to_metric_families(text):
            self.counted.add(family.name)
            for one in family.samples:
                if one.name.startswith("nexus_") and not math.isnan(one.value):
                    self.values[one.name][tuple(sorted(one.labels.items()))][process] = one.value

    def total(self, name: str) -> float | None:
        """The sum over all processes, for what each counts by itself. None: nobody who knows it has answered."""
        values = self._values(name)
        return sum(values) if values else None

    def most(self, name: str) -> float | None:
        """The maximum over all processes, for what each reports about all. None: nobody who knows it has answered."""
        return max(self._values(name), default=None)

    def most_by(self, name: str, label: str, digits: int) -> dict[str, float] | None:
        """`most` by the value of a label, sorted, where it is not 0."""
        if name not in self.values:
            return None
        found: dict[str, float] = defaultdict(float)
        for labels, values in self.values[name].items():
            value = dict(labels).get(label, "")
            found[value] = max(found[value], *values.values())
        return {value: round(figure, digits) for value, figure in sorted(found.items()) if figure}

    def by(self, name: str, label: str) -> dict[str, float]:
        """Totals by the value of a label."""
        found: dict[str, float] = defaultdict(float)
        for labels, values in self.values.get(name, {}).items():
            found[dict(labels).get(label, "")] += sum(values.values())
        return dict(found)

    def since(self, before: Sample, name: str, label: str) -> dict[str, float]:
        """Returns how much each value has grown. A process that did not answer before adds nothing, since its counts
        are not new."""
        found: dict[str, float] = defaultdict(float)
        known = before.processes
        for labels, values in self.values.get(name, {}).items():
            was = before.values.get(name, {}).get(labels, {})
            for process, value in values.items():
                if process in known:
                    found[dict(labels).get(label, "")] += max(value - was.get(process, 0.0), 0.0)
        return dict(found)

    @property
    def processes(self) -> set[str]:
        return {process for rows in self.values.values() for found in rows.values() for process in found}

    def _values(self, name: str) -> list[float]:
        return [value for found in self.values.get(name, {}).values() for value in found.values()]


async def read(services: Mapping[str, Sequence[str]]) -> Sample:
    """Asks every service for /metrics at once."""
    sample = Sample(time.monotonic())

    async def one(http: aiohttp.ClientSession, name: str, url: str) -> None:
        try:
            async with http.get(f"{url}/metrics") as answer:
                sample.take(url, await answer.text())
        except (aiohttp.ClientError, TimeoutError, OSError, ValueError):
            sample.away.append(f"{name} ({url})")

    async with aiohttp.ClientSession(timeout=aiohttp.ClientTimeout(total=ANSWER)) as http:
        await asyncio.gather(*(one(http, name, url) for name, urls in services.items() for url in urls))
    return sample


def view(before: Sample | None, now: Sample) -> dict[str, Any]:
    """Returns what is shown; None where nobody who knows it has answered. Rates are per minute, and 0 where nothing was
    read before; totals count since each process began."""
    minutes = (now.at - before.at) / 60 if before is not None else math.inf

    def rates(name: str, label: str, digits: int = 1) -> dict[str, float] | None:
        if name.removesuffix("_total").removesuffix("_count") not in now.counted:
            return None
        grown = now.since(before, name, label) if before is not None else dict.fromkeys(now.by(name, label), 0.0)
        return {key: round(value / minutes, digits) for key, value in grown.items()}

    costs, grown = now.by("nexus_model_cost_total", "currency"), rates("nexus_model_cost_total", "currency", 4)
    return {
        "away": sorted(now.away),
        "turns": {
            "due": _whole(now.most("nexus_turns_due")),
            "oldestDueSeconds": _rounded(now.most("nexus_oldest_due_seconds"), 1),
            "running": _whole(now.total("nexus_turns_running")),
            "perMinute": rates("nexus_turns_total", "outcome"),
        },
        "sockets": _whole(now.total("nexus_gateway_sockets")),
        "handovers": {
            "waiting": _whole(now.most("nexus_handovers_waiting")),
            "oldestSeconds": _whole(now.most("nexus_handover_oldest_seconds")),
        },
        "tools": {
            "due": _whole(now.most("nexus_tool_calls_due")),
            "perMinute": rates("nexus_tool_calls_total", "outcome"),
        },
        "models": {
            "perMinute": rates("nexus_model_seconds_count", "outcome"),
            "tokensPerMinute": rates("nexus_model_tokens_total", "kind"),
        },
        "cost": None
        if grown is None
        else {
            currency: {"total": round(total, 4), "perMinute": grown.get(currency, 0.0)}
            for currency, total in costs.items()
        },
        "lag": now.most_by("nexus_consumer_behind", "consumer", 0),
        "fill": now.most_by("nexus_stream_fill_ratio", "stream", 3),
        "deadLetters": _whole(now.total("nexus_dead_letters_total")),
        "loopLagSeconds": _rounded(now.most("nexus_event_loop_lag_seconds"), 3),
    }


def _whole(value: float | None) -> int | None:
    return None if value is None else round(value)


def _rounded(value: float | None, digits: int) -> float | None:
    return None if value is None else round(value, digits)
