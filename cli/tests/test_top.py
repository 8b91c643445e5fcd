"""`nexus top`: figures of several processes put together."""

from __future__ import annotations

import io
import subprocess
import sys

from rich.console import Console

from nexus_cli.commands.top import table_of
from nexus_cli.top.figures import Sample, view

FIRST = """
# TYPE nexus_turns_due gauge
nexus_turns_due 4
# TYPE nexus_turns_running gauge
nexus_turns_running 2
# TYPE nexus_turns_total counter
nexus_turns_total{outcome="answered"} 10
nexus_turns_total{outcome="failed"} 1
# TYPE nexus_model_cost_total counter
nexus_model_cost_total{provider="groq",currency="USD"} 1.5
# TYPE nexus_oldest_due_seconds gauge
nexus_oldest_due_seconds NaN
# TYPE nexus_consumer_behind gauge
nexus_consumer_behind{stream="CHAT",consumer="agent"} 7
# TYPE nexus_stream_fill_ratio gauge
nexus_stream_fill_ratio{stream="CHAT"} 0.25
"""


def sample(at: float, *texts: str) -> Sample:
    found = Sample(at)
    for number, text in enumerate(texts):
        found.add(f"http://{number}", text)
    return found


def test_what_each_tells_of_all_is_not_added_up_and_what_is_its_own_is() -> None:
    seen = view(None, sample(0, FIRST, FIRST.replace("due 4", "due 5")))
    assert (seen["turns"]["due"], seen["turns"]["running"]) == (5, 4)
    assert seen["cost"] == {"USD": {"total": 3.0, "perMinute": 0.0}}
    assert seen["lag"] == {"agent": 7}
    assert seen["fill"] == {"CHAT": 0.25}


def test_what_nobody_who_knows_it_has_told_is_not_0() -> None:
    seen = view(None, sample(0, FIRST))
    assert seen["turns"]["oldestDueSeconds"] is None  # the agent itself does not know
    assert (seen["sockets"], seen["handovers"]["waiting"], seen["tools"]["due"]) == (None, None, None)
    nobody = view(None, sample(0))
    assert (nobody["lag"], nobody["turns"]["perMinute"], nobody["cost"]) == (None, None, None)
    assert view(None, sample(0, "# TYPE nexus_turns counter"))["turns"]["perMinute"] == {}, "who knows it counts none"
    seen["away"] = ["gateway (http://127.0.0.1:8080)"]
    console = Console(width=60, file=io.StringIO())
    with console.capture() as shown:
        console.print(table_of(seen))
    assert "away" in shown.get().splitlines()[2]  # the first row: a small terminal shows no others
    assert "2 running, 4 due, the oldest for – s" in shown.get()


def test_rates_are_per_minute_and_a_process_that_began_anew_costs_nothing() -> None:
    later = (
        FIRST.replace('"answered"} 10', '"answered"} 25')
        .replace('"failed"} 1', '"failed"} 0')
        .replace("1.5", "1.50615")
    )
    seen = view(sample(0, FIRST), sample(30, later))
    assert seen["turns"]["perMinute"] == {"answered": 30.0, "failed": 0.0}
    assert seen["cost"]["USD"]["perMinute"] == 0.0123


def test_what_a_process_counted_while_it_did_not_answer_is_no_rate() -> None:
    later = FIRST.replace('"answered"} 10', '"answered"} 11')
    both, one = sample(60, later, later), sample(0, FIRST)
    assert view(one, both)["turns"]["perMinute"] == {"answered": 1.0, "failed": 0.0}


def test_in_a_pipe_it_prints_one_reading_and_ends() -> None:
    asked = [sys.executable, "-m", "nexus_cli", "top", "--service", "agent=http://127.0.0.1:9", "--every", "0.5"]
    done = subprocess.run(asked, capture_output=True, text=True, timeout=60, check=True)
    assert "away" in done.stdout
    assert done.stdout.count("dead letters") == 1
