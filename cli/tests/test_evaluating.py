"""The cases of `nexus eval`, and how they are judged."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import aiohttp
import pytest
from nats.aio.client import Client

from nexus_cli.evaluation.cases import BadCaseError, Case, Expect, own_cases, read_cases
from nexus_cli.evaluation.checks import checks
from nexus_cli.evaluation.conversation_cases import own_conversations, read_conversations, verdict
from nexus_cli.evaluation.figures import figures_in, recomputed, unknown_figures
from nexus_cli.evaluation.observed import Observed, ObservedCall
from nexus_cli.evaluation.results import BadRunError, RunView, closing, compared, read_run, sign_test, view
from nexus_cli.evaluation.runner import Result, Trial, absent
from nexus_cli.evaluation.stage import NoModelError, Stage, StageModels, chosen_models
from nexus_cli.target import Target


def case(kind: str = "visitor", **fields: Any) -> Case:
    expect = {name: fields.pop(name) for name in list(fields) if name in Expect.model_fields and name != "tickers"}
    base: dict[str, Any] = {"id": "c", "about": "a", "kind": kind, "expect": expect}
    base |= {"visitor": {"say": ["hello"]}, "tool": {"tool": "t"}, "analysis": {"query": "q"}}.get(kind, {})
    return Case.model_validate({**base, **fields})


def failing(wanted: Case, seen: Observed) -> list[str]:
    return [check.name for check in checks(wanted, seen) if not check.passed]


def test_our_own_cases_are_many_and_cover_both_languages_and_every_face() -> None:
    cases = read_cases(own_cases())
    assert sum(not case.needs_model for case in cases) >= 40
    assert {case.kind for case in cases} == {"visitor", "copilot", "tool", "analysis"}
    for kind in ("visitor", "copilot", "tool", "analysis"):
        assert {case.language for case in cases if case.kind == kind} == {"es", "en"}
    assert any(case.needs_model for case in cases)
    assert any(case.model for case in cases)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("about = 1", "about"),
        ('about = "x"\nkind = "visitor"\n[expect]', "say"),
        ('about = "x"\nkind = "tool"\ntool = "t"\n[expect]\nsayz = ["a"]', "sayz"),
        ("about = ", "Invalid value"),
    ],
)
def test_a_case_that_cannot_be_read_is_named_with_what_is_wrong(tmp_path: Path, text: str, told: str) -> None:
    (tmp_path / "broken.toml").write_text(text)
    with pytest.raises(BadCaseError, match=told) as error:
        read_cases(tmp_path)
    assert "broken.toml" in str(error.value)


def test_a_folder_without_cases_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(BadCaseError, match="no cases"):
        read_cases(tmp_path)


def test_two_recorded_models_cannot_be_asked_the_same(tmp_path: Path) -> None:
    text = 'about = "x"\nkind = "visitor"\nsay = ["{}"]\n[[model]]\ntext = "a"\n[expect]\n'
    (tmp_path / "one.toml").write_text(text.format("What is it?"))
    (tmp_path / "two.toml").write_text(text.format("So: What is it?"))
    with pytest.raises(BadCaseError, match=r"one and two|two and one"):
        read_cases(tmp_path)


PRICE = ObservedCall(
    "get_price", {"symbol": "IBM"}, {"success": True, "data": {"price": 213.9, "change_percent": 0.0272}}
)
REFUSED = ObservedCall("create_paper_order", {}, {"success": False, "error": {"code": "PLAN_REQUIRED"}})
ANSWER = Observed(text="IBM is at 213.90.", uses=(PRICE,), model_calls=2, citations=("http://x/pricing",), question="?")


def test_an_answer_is_held_against_everything_that_a_case_names() -> None:
    good = case(
        tools=["get_price"], arguments=[{"symbol": "IBM"}], says=["ibm is"], says_not=["aapl"], errors=[], actions=0,
        citations=["/pricing"], calls_at_most=1, model_calls_at_most=2, figures_from_tools=True, seconds=1.0,
    )  # fmt: skip
    assert failing(good, ANSWER) == []
    wrong = case(
        tools=["get_news"], arguments=[{"symbol": "MSFT"}], says=["aapl"], says_not=["ibm"], errors=["X"], actions=1,
        citations=[], calls_at_most=0, model_calls_at_most=1, tools_not=["get_price"], seconds=1.0,
    )  # fmt: skip
    assert len(failing(wrong, replace(ANSWER, seconds=2.0))) == 11


def test_an_order_that_does_not_wait_is_said_with_what_failed() -> None:
    (check,) = (check for check in checks(case(actions=1), replace(ANSWER, uses=(REFUSED,))) if check.name == "actions")
    assert check.detail == "0 wait for a yes; failed: create_paper_order PLAN_REQUIRED"


def test_what_the_rules_say_is_not_asked_of_a_model() -> None:
    wanted = case(says_by_rules=["word for word"])
    assert failing(wanted, replace(ANSWER, model="gpt")) == []
    assert failing(wanted, replace(ANSWER, model="offline-rules")) == ["says word for word"]


def test_a_turn_that_failed_or_never_was_does_not_pass() -> None:
    assert failing(case(), replace(ANSWER, code="DEADLINE")) == ["is answered"]
    assert failing(case(), Observed(problem="the gateway closed")) == ["ran"]
    assert failing(case(code="BUDGET_SPENT"), replace(ANSWER, code="BUDGET_SPENT")) == []
    assert failing(case(errors=["PLAN_REQUIRED"]), replace(ANSWER, uses=(REFUSED,))) == []


def test_a_tools_result_is_held_against_status_code_and_data() -> None:
    body = {"success": True, "data": {"bars": [{"close": 1.5}], "name": None}}
    seen = Observed(status=200, body=body)
    assert failing(case("tool", status=200, data={"bars.0.close": 1.5}, present=["bars"], absent=["name"]), seen) == []
    assert failing(case("tool", data={"bars.1.close": 1.5}, present=["name"]), seen) == [
        "bars.1.close = 1.5",
        "has name",
    ]
    refused = Observed(status=403, body={"success": False, "error": {"code": "PLAN_REQUIRED", "requiredPlan": "pro"}})
    assert failing(case("tool", status=403, error="PLAN_REQUIRED", required_plan="pro"), refused) == []
    assert failing(case("tool"), refused) == ["succeeds"]


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("It is 1,234.5 or 1.234,5 USD", [1234.5, 1234.5]),
        ("up 2.7 %, -1,3 %", [2.7, -1.3]),
        ("on 2012-09-05T20:00:00Z, in 2013, 3 of them", []),
        ("104,507,000,000 in sales", [104_507_000_000.0]),
    ],
)
def test_figures_are_read_in_both_spellings(text: str, values: list[float]) -> None:
    assert [figure.value for figure in figures_in(text)] == values


def test_a_figure_that_nobody_gave_is_found() -> None:
    results = [{"price": 213.9, "returns": {"1y": 0.027236}, "revenue": 104_507_000_000, "note": "14.37 per share"}]
    assert unknown_figures("213.90, +2.7 %, 104.5 bn, EPS 14.37, risk 2.5", results, "with 2.5?") == []
    assert unknown_figures("It will reach 300 and is at 214.", results, "") == ["300"]


def test_figures_of_a_report_are_worked_out_anew_by_the_textbook() -> None:
    bars = [{"time": f"2013-01-{day:02}T21:00:00Z", "close": close} for day, close in enumerate([10, 12, 9, 9.9], 1)]
    assert recomputed(bars, "returns.1d") == pytest.approx(0.1)
    assert recomputed(bars, "max_drawdown") == pytest.approx(-0.25)
    assert recomputed(bars, "current_drawdown") == pytest.approx(9.9 / 12 - 1)
    assert recomputed(bars, "sma_3") == pytest.approx(10.3)
    assert recomputed(bars, "returns.1y") is None
    assert recomputed([], "price") is None


def run_of(outcomes: dict[str, bool | None], seconds: float = 1.0) -> RunView:
    results: list[Result] = []
    for name, passed in outcomes.items():
        one = case().model_copy(update={"id": name, "needs_model": passed is None})
        seen = replace(ANSWER, text="hello" if passed else "", seconds=seconds)
        results.append(Result(one, None if passed is None else checks(one, seen), seconds))
    return view(results, None, 3.0)


def test_a_run_counts_what_passed_failed_and_was_left_out() -> None:
    run = run_of({"a": True, "b": False, "c": None})
    assert (run["passed"], run["failed"], run["skipped"]) == (1, 1, 1)
    assert {"id", "passed", "checks", "seconds", "needs_model"} <= run["cases"][0].keys()
    assert [one["passed"] for one in run["cases"]] == [True, False, None]


def test_what_could_not_be_tried_is_an_error_and_no_failed_case() -> None:
    one = case()
    run = view([Result(one, None, error="the gateway is away")], None, 1.0)
    assert (run["passed"], run["failed"], run["skipped"], run["errors"]) == (0, 0, 0, 1)
    assert run["cases"][0].get("error") == "the gateway is away"
    assert "1 could not be tried" in closing(run)


def test_a_case_that_is_repeated_passes_when_each_time_does_and_tells_its_spread() -> None:
    one = case()
    good, bad = checks(one, ANSWER), checks(one, replace(ANSWER, code="DEADLINE"))
    times = [Result(one, good, 1.0), Result(one, bad, 4.0), Result(one, good, 2.0), Result(one, None, error="away")]
    run = view(times, None, 9.0)
    (shown,) = run["cases"]
    assert (run["passed"], run["failed"], run["errors"], shown["passed"], shown["seconds"]) == (0, 1, 0, False, 2.0)
    spread = {"least": 1.0, "median": 2.0, "most": 4.0}
    assert shown.get("runs") == {"tried": 3, "passed": 2, "errors": 1, "seconds": spread}


@pytest.mark.parametrize(
    ("better", "worse", "p"), [(0, 0, 1.0), (3, 0, 0.25), (6, 0, 0.0312), (9, 1, 0.0215), (5, 5, 1.0), (7, 3, 0.3438)]
)
def test_the_sign_test_is_the_textbooks(better: int, worse: int, p: float) -> None:
    pairs = [*[(0.0, 1.0)] * better, *[(1.0, 0.0)] * worse]
    found = sign_test([*pairs, (1.0, 1.0), (None, 1.0)])
    assert found == {"better": better, "worse": worse, "ties": 1, "p": p}


def test_two_runs_are_compared_case_by_case(tmp_path: Path) -> None:
    before, after = tmp_path / "a.json", tmp_path / "b.json"
    before.write_text(json.dumps(run_of({"a": True, "b": False, "gone": True})))
    after.write_text(json.dumps(run_of({"a": False, "b": True, "new": True}, seconds=3.0)))
    found = compared(read_run(before), read_run(after))
    assert [change["id"] for change in found["worse"]] == ["a"]
    assert [change["id"] for change in found["better"]] == ["b"]
    assert (found["added"], found["removed"]) == (["new"], ["gone"])
    assert [change["id"] for change in found["seconds"]] == ["a", "b"]
    broken = tmp_path / "c.json"
    for text in ("[]", '{"cases": []}', '{"cases": [{"id": "a", "passed": "yes"}], "passed": 1, "failed": 0}'):
        broken.write_text(text)
        with pytest.raises(BadRunError, match=r"c\.json"):
            read_run(broken)


def test_a_model_is_served_under_a_name_that_recorded_ones_do_not_use(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("GROQ_API_KEY", "OPENAI_API_KEY", "ANTHROPIC_API_KEY", "NEXUS_LLM_BASE_URL"):
        monkeypatch.delenv(name, raising=False)
    assert chosen_models(None) == StageModels()
    with pytest.raises(NoModelError, match="OPENAI_API_KEY"):
        chosen_models("gpt-4.1")
    monkeypatch.setenv("OPENAI_API_KEY", "k")
    chosen = chosen_models("gpt-4.1")
    assert (chosen.provider, chosen.model, chosen.recorded) == ("openai", "gpt-4.1", "groq")
    assert chosen.environment == {"OPENAI_API_KEY": "k"}
    monkeypatch.setenv("NEXUS_LLM_BASE_URL", "http://127.0.0.1:9/v1")
    chosen = chosen_models("mine")
    assert (chosen.provider, chosen.model, chosen.recorded) == ("openai", "mine", "groq")
    assert chosen.environment["NEXUS_LLM_OPENAI_BASE_URL"] == "http://127.0.0.1:9/v1"


async def test_a_server_that_is_away_is_an_error_of_the_run(nats_client: Client) -> None:
    target = Target("http://127.0.0.1:1", "", "secret", "key")
    async with aiohttp.ClientSession() as http:
        trial = Trial(Stage(target, "http://127.0.0.1:1", StageModels()), nats_client, http)
        result = await trial.run(case(), "acme")
    assert (result.passed, result.checks) == (None, None)
    assert result.error


@pytest.mark.parametrize("code", ["UNAVAILABLE", "TIMEOUT"])
def test_a_tool_that_does_not_answer_is_an_error_of_the_run_unless_the_case_asks_for_it(code: str) -> None:
    away = ObservedCall("get_portfolio", {}, {"success": False, "error": {"code": code}})
    refused = ObservedCall("get_portfolio", {}, {"success": False, "error": {"code": "PLAN_REQUIRED"}})
    assert absent(case(), replace(ANSWER, uses=(refused, away)), is_real_model=False) == "get_portfolio did not answer"
    assert absent(case(), replace(ANSWER, uses=(refused,)), is_real_model=False) is None
    assert absent(case(errors=[code]), replace(ANSWER, uses=(away,)), is_real_model=False) is None


def test_each_turn_of_our_own_conversations_is_a_case_behind_those_before_it() -> None:
    cases = read_conversations(own_conversations())
    assert len(cases) >= 20
    assert all(len(case.say) == int(case.id.rsplit("-", 1)[1]) for case in cases)


def test_an_answer_that_does_not_know_is_no_wrong_one() -> None:
    wanted = case(say=["what is a stop?"], says=["order"])
    unknown = "I do not know: I cannot find it on the site, and I will not make it up."
    judged = [
        verdict(Result(wanted, checks(wanted, Observed(text=text)), text=text))
        for text in ("an order", unknown, "29 USD")
    ]
    assert judged == ["acceptable", "unknown", "wrong"]
    assert verdict(Result(wanted, None, error="away")) is None
