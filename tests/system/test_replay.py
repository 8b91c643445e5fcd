"""`nexus replay` of a conversation that a stack has just had."""

import json
from pathlib import Path
from typing import Any

from nexus_cli.evaluation.cases import read_cases
from runtime.testing.servers import eventually
from tests.support.running_stack import RunningStack

QUESTIONS = ("What is AAPL trading at?", "Explain the RSI", "Buy 2 shares of IBM", "yes", "and what about MSFT?")


async def test_a_conversation_comes_out_the_same_with_the_same_model_and_settings(
    stack: RunningStack, tmp_path: Path
) -> None:
    page = tmp_path / "replay.html"
    async with stack.chat(stack.mint("user", "replayed", plan="pro"), locale="en") as customer:
        for question in QUESTIONS:
            await customer.ask(question)

    def replayed() -> dict[str, Any]:
        data = ["--data", str(stack.data)]
        done = stack.nexus("replay", customer.conversation or "", "--json", "--html", str(page), *data)
        assert done.returncode == 0, done.stderr
        found = json.loads(done.stdout)
        assert found["summary"]["turns"] == len(QUESTIONS)
        return found

    found = await eventually(replayed)
    assert found["summary"]["identical"] == len(QUESTIONS), found["turns"]
    assert found["summary"]["callsNotInRecord"] == 0
    assert next(turn["question"] for turn in found["turns"]) == "What is AAPL trading at?"
    assert "What is AAPL trading at?" in page.read_text()
    made = stack.nexus(
        "replay", customer.conversation or "", "--cases", str(tmp_path / "cases"), "--data", str(stack.data)
    )
    assert made.returncode == 0, made.stderr
    cases = {len(case.say): case for case in read_cases(tmp_path / "cases")}
    assert sorted(cases) == list(range(1, len(QUESTIONS) + 1))
    assert (cases[1].kind, cases[1].plan, cases[1].say) == ("copilot", "pro", [QUESTIONS[0]])
    assert cases[1].expect.tools == ["get_price"]
