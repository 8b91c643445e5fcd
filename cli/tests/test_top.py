"""`nexus top`: figures of several processes put together."""

from __future__ import annotations

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
"""


def sample(at: float, *texts: str) -> Sample:
    found = Sample(at)
    for number, text in enumerate(texts):
        found.take(f"http://{number}", text)
    return found


def test_what_each_tells_of_all_is_not_added_up_and_what_is_its_own_is() -> None:
    seen = view(None, sample(0, FIRST, FIRST.replace("due 4", "due 5")))
    assert (seen["turns"]["due"], seen["turns"]["running"]) == (5, 4)
    assert seen["cost"] == {"USD": {"total": 3.0, "perMinute": 0.0}}
    assert seen["turns"]["oldestDueSeconds"] == 0.0


def test_rates_are_per_minute_and_a_process_that_began_anew_costs_nothing() -> None:
    later = (
        FIRST.replace('"answered"} 10', '"answered"} 25').replace('"failed"} 1', '"failed"} 0').replace("1.5", "2.0")
    )
    seen = view(sample(0, FIRST), sample(30, later))
    assert seen["turns"]["perMinute"] == {"answered": 30.0, "failed": 0.0}
    assert seen["cost"]["USD"]["perMinute"] == 1.0


def test_what_a_process_counted_while_it_did_not_answer_is_no_rate() -> None:
    later = FIRST.replace('"answered"} 10', '"answered"} 11')
    both, one = sample(60, later, later), sample(0, FIRST)
    assert view(one, both)["turns"]["perMinute"] == {"answered": 1.0, "failed": 0.0}
