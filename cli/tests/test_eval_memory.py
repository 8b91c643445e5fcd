"""`nexus eval memory`: the cases it reads, what it prints, and the targets that our own cases reach."""

from __future__ import annotations

import asyncio
import json
from datetime import datetime, timedelta
from pathlib import Path
from queue import Queue
from threading import Event, Thread
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from agent.scripted_model.script import ScriptedReply
from agent.scripted_model.server import scripted_model
from contracts.memory_rpc import fact_id
from memory.domain.lesson import FinishedTurn, with_lesson
from memory.domain.proposals import ground, judged
from memory.domain.remembered import Remembered, current_facts
from nexus_cli.evaluation.memory_cases import KINDS, MemoryCase, read_memory_cases
from nexus_cli.evaluation.memory_models import Proposes, labels, obedient
from nexus_cli.evaluation.memory_report import START, TARGETS, figures, measure, plainly_wrong
from nexus_cli.main import app

EXAMPLES = Path(__file__).parents[2] / "examples"
DATA = EXAMPLES / "memory.json"
HELD_OUT = EXAMPLES / "memory_held_out.json"


def evaluate(*arguments: str) -> Result:
    return CliRunner().invoke(app, ["eval", "memory", *arguments], env={"NO_COLOR": "1"})


def written(tmp_path: Path, content: Any) -> str:
    path = tmp_path / "data.json"
    path.write_text(content if isinstance(content, str) else json.dumps(content))
    return str(path)


@pytest.mark.parametrize("data", [DATA, HELD_OUT])
def test_our_cases_reach_the_targets_of_the_rules(data: Path) -> None:
    outcomes = measure(read_memory_cases(data))
    missed = [figure for figure in figures(outcomes) if figure.target is not None and figure.share < figure.target]
    assert missed == []
    assert plainly_wrong(outcomes) == 0


@pytest.mark.parametrize("data", [DATA, HELD_OUT])
@pytest.mark.parametrize("model", [labels, obedient])
def test_our_cases_reach_the_targets_with_a_model_and_hold_against_the_worst(data: Path, model: Proposes) -> None:
    outcomes = measure(read_memory_cases(data), model)
    found = figures(outcomes, with_model=True)
    missed = [one for one in found if one.target is not None and one.share < one.target]
    assert missed == []
    assert next(one.share for one in found if one.kind == "nothing") == 1
    assert plainly_wrong(outcomes) == 0


@pytest.mark.parametrize("model", [labels, obedient])
def test_what_is_proposed_before_the_rules_have_learned_the_turn_comes_to_the_same(model: Proposes) -> None:
    def ends(case: MemoryCase, *, rules_first: bool) -> tuple[set[str], set[tuple[str, datetime, str | None]]]:
        state = Remembered()
        for number, text in enumerate(case.said):
            turn, at = f"t{number}", START + timedelta(days=number)
            lesson = FinishedTurn(turn, at, (text,), frozenset())
            state = with_lesson(state, lesson) if rules_first else state
            state = judged(state, turn, at, [text], model(case, number, ground(state.memory, [text]))).state
            state = state if rules_first else with_lesson(state, lesson)
        past = {(one.value, one.until, one.by) for one in state.memory.superseded}
        return set(current_facts(state.memory)), past

    for case in read_memory_cases(HELD_OUT):
        assert ends(case, rules_first=True) == ends(case, rules_first=False), case.said


def test_a_models_answers_are_recorded_over_a_socket_and_replayed(tmp_path: Path) -> None:
    home, gone = "I live in Lima", "I have unpacked my boxes in Bogotá"
    path = written(tmp_path, {"cases": [{"kind": "change", "language": "en", "said": [home, gone], "ends": True}]})
    answer = json.dumps({"changes": [{"do": "end", "id": fact_id(home), "quote": gone}]})
    served = Event()
    address: Queue[str] = Queue()

    async def serve() -> None:
        async with scripted_model(default=ScriptedReply(text=f"Here you are: {answer}")) as model:
            address.put(model.base_url)
            await asyncio.to_thread(served.wait, 60)

    server = Thread(target=lambda: asyncio.run(serve()))
    server.start()
    try:
        keys = {"GROQ_API_KEY": "", "OPENAI_API_KEY": "", "ANTHROPIC_API_KEY": "", "NO_COLOR": "1"}
        environment = {**keys, "NEXUS_LLM_BASE_URL": address.get(timeout=20), "NEXUS_LLM_MODEL": "scripted"}
        recording = tmp_path / "recorded.json"
        made = CliRunner().invoke(
            app, ["eval", "memory", "--data", path, "--record", str(recording), "--json"], env=environment
        )
    finally:
        served.set()
        server.join()
    assert made.exit_code == 0, made.stderr
    assert json.loads(made.stdout)["kinds"]["change"]["right"] == 1
    assert json.loads(recording.read_text())["model"] == "scripted"
    assert json.loads(evaluate("--data", path, "--json").stdout)["kinds"]["change"]["right"] == 0
    again = evaluate("--data", path, "--model", str(recording), "--json")
    assert again.stdout == made.stdout
    other = written(tmp_path, {"cases": [{"kind": "fact", "said": ["My knees are ruined"]}]})
    refused = evaluate("--data", other, "--model", str(recording))
    assert (refused.exit_code, refused.stdout) == (1, "")
    assert "--record" in refused.stderr


def test_there_are_cases_of_every_kind_in_both_languages() -> None:
    cases = read_memory_cases(DATA)
    assert len(cases) >= 200
    assert {(case.kind, case.language) for case in cases} == {
        (kind, spoken) for kind in KINDS for spoken in ("es", "en")
    }
    held_out = {case.said for case in read_memory_cases(HELD_OUT)}
    assert not held_out & {case.said for case in cases}


def test_the_targets_are_printed_beside_the_figures() -> None:
    shown = evaluate("--data", str(DATA))
    assert shown.exit_code == 0
    lines = {line.split()[0]: line.split() for line in shown.stdout.splitlines() if line.strip()}
    assert [lines[kind][-1] for kind in TARGETS] == ["100%", "75%", "60%"]
    report = json.loads(evaluate("--data", str(DATA), "--json").stdout)
    assert list(report["kinds"]) == list(KINDS)
    assert report["kinds"]["bothTrue"]["share"] == 1
    assert report["plainlyWrongCurrent"] == 0


def test_what_is_wrong_is_named(tmp_path: Path) -> None:
    cases = [
        {"kind": "bothTrue", "said": ["I live in Lima", "I moved to Quito"]},
        {"kind": "change", "said": ["I live in Lima", "I like tea"]},
        {"kind": "change", "said": ["Hello", "I moved to Quito"]},
        {"kind": "change", "said": ["I live in Lima", "I no longer live in Lima"]},
        {"kind": "fact", "said": ["I have two kids"], "keeps": ["three"]},
        {"kind": "nothing", "said": ["I have two kids"]},
        {"kind": "paraphrase", "said": ["Good morning"], "asked": "Who am I?"},
    ]
    path = written(tmp_path, {"cases": cases})
    report = json.loads(evaluate("--data", path, "--json").stdout)
    assert [one["why"] for one in report["wrong"]] == [
        "not remembered as true: I live in Lima",
        "still stands as true: I live in Lima",
        "the first was not remembered",
        "what replaces it is not remembered",
        "not remembered: three",
        "remembered: i have two kids",
        "a prompt is not told it",
    ]
    assert report["plainlyWrongCurrent"] == 1
    assert "a prompt is not told it" in evaluate("--data", path).stdout


@pytest.mark.parametrize(
    ("content", "says"),
    [
        ("{", "JSON"),
        ({"cases": []}, "cases"),
        ({"cases": [{"kind": "rumour", "said": ["x"]}]}, "cases.0.kind"),
        ({"cases": [{"kind": "change", "said": ["x"]}]}, "two texts"),
        ({"cases": [{"kind": "paraphrase", "said": ["x"]}]}, "asked"),
        ({"cases": [{"kind": "fact", "said": ["x"], "kept": ["x"]}]}, "cases.0.kept"),
    ],
)
def test_a_file_that_holds_no_cases_is_one_clear_line(tmp_path: Path, content: Any, says: str) -> None:
    refused = evaluate("--data", written(tmp_path, content))
    assert (refused.exit_code, refused.stdout) == (1, "")
    assert len(refused.stderr.splitlines()) == 1
    assert says in refused.stderr
    assert evaluate("--data", str(tmp_path / "none.json")).exit_code == 1
