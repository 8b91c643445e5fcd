"""The tools that a model is shown by the question: counted over every labelled question that there is."""

import json
import tomllib
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from agent.domain.hand_over import offered_with_hand_over
from agent.domain.offered_tool import OfferedTool
from agent.domain.tool_choice import NAME, choose_tools
from agent.domain.turn.journal import Journal
from contracts.languages import Language
from memory.domain import demo
from nexus_cli.evaluation.cases import own_cases, read_cases
from tool_executor.catalogue.all_tools import all_tools

OBEYED = {"copilot-headline-orders", "trap-page-orders", "trap-page-plan"}
"""Cases in which a model does what a page tells it: no question needs those tools."""
TURN = Journal("t1", 1, 0.0, 60.0)


class Question(NamedTuple):
    """What is said, and the tools: one of each group is needed."""

    said: Sequence[str]
    needed: Sequence[frozenset[str]]
    language: Language


def offered(language: Language) -> tuple[OfferedTool, ...]:
    """Everything that a customer of the premium plan has."""
    tools = all_tools(None)  # pyright: ignore[reportArgumentType] - no page is read
    seen = [
        OfferedTool(
            tool.name,
            tool.description.in_language(language),
            tool.category,
            tool.input_schema,
            tool.label.in_language(language) if tool.label else tool.name,
        )
        for tool in tools
    ]
    return offered_with_hand_over(seen, language)


OFFERED: dict[Language, tuple[OfferedTool, ...]] = {"es": offered("es"), "en": offered("en")}
NAMES = {tool.name for tool in OFFERED["en"]}


def of_cases() -> Iterator[Question]:
    """The cases of `nexus eval` whose answer needs a tool of the catalogue."""
    for case in read_cases(own_cases()):
        needed = {*(case.expect.tools or ()), *(case.expect.tools_among or ())} & NAMES
        if case.say and needed and case.id not in OBEYED:
            groups = [frozenset({one}) for one in case.expect.tools or () if one in NAMES]
            yield Question(case.say, groups or [frozenset(needed)], case.language)


def of_people() -> Iterator[Question]:
    """The labelled questions beside this file."""
    found = tomllib.loads((Path(__file__).parent / "tool_questions.toml").read_text(encoding="utf-8"))
    for one in found["question"]:
        yield Question([one["text"]], [frozenset(one["any"])], one["language"])


def size(tools: Sequence[OfferedTool]) -> int:
    """Bytes as a model is sent them."""
    functions = [
        {"type": "function", "function": {"name": t.name, "description": t.description, "parameters": t.parameters}}
        for t in tools
    ]
    return len(json.dumps(functions, ensure_ascii=False, separators=(",", ":")).encode())


def test_no_question_is_a_tool_short_and_few_tools_are_shown() -> None:
    questions = [*of_cases(), *of_people()]
    assert len(questions) > 90
    short: list[tuple[str, list[str]]] = []
    tools = whole = sent = 0
    for question in questions:
        shown = choose_tools(OFFERED[question.language], question.said, TURN, question.language)
        names = {tool.name for tool in shown}
        short += [(question.said[-1], sorted(group)) for group in question.needed if not group & names]
        tools, sent = tools + len(shown), sent + size(shown)
        whole += size(OFFERED[question.language])
        # What is not shown can be asked for.
        hidden = next(tool for tool in shown if tool.name == NAME).parameters["properties"]["names"]["items"]["enum"]
        assert set(hidden) | names == NAMES | {NAME}
    assert short == []
    assert tools / len(questions) <= 8
    assert sent / whole < 0.3


def test_a_tool_of_another_service_is_found_by_its_own_words() -> None:
    schema = {"type": "object", "properties": {"order": {"type": "string", "description": "The parcel's number"}}}
    parcel = OfferedTool("track_parcel", "Where a parcel is and when it arrives", "logistics", schema, "Looking…")
    bills = OfferedTool("list_invoices", "The customer's invoices, newest first", "billing", schema, "Looking…")
    tools = (*OFFERED["en"], parcel, bills)
    for text, name in (
        ("Where is my parcel?", "track_parcel"),
        ("Has the package, I mean parcel 77, arrived?", "track_parcel"),
        ("Send me my last invoice", "list_invoices"),
    ):
        assert name in {tool.name for tool in choose_tools(tools, [text], TURN, "en")}
    # Several messages about orders do not outweigh the newest.
    cash = OfferedTool("withdraw", "Withdraw cash from the account", "own", schema, "Looking…")
    order = "order: buy 3 AAPL at limit 150, with a position of at most 1% of my risk"
    waiting = (
        "The order waits: buy 3 AAPL, type limit, quantity 3, price 150, no stop, status pending. Confirm or cancel it."
    )
    said = [order, waiting, order, waiting, "withdraw money please"]
    assert "withdraw" in {tool.name for tool in choose_tools((*tools, cash), said, TURN, "en")}


def test_the_words_before_count_where_the_newest_say_little() -> None:
    said = ["Will IBM rise next week, by your model?", "The signal is neutral.", "And why?"]
    assert "get_ml_features" in {tool.name for tool in choose_tools(OFFERED["en"], said, TURN, "en")}


def test_few_tools_are_all_shown() -> None:
    few = OFFERED["en"][:5]
    assert choose_tools(few, ["hello"], TURN, "en") == few


def test_the_demos_visitors_have_the_free_tools_of_the_market() -> None:
    categories = {"market", "calculate", "education"}
    free = {
        tool.name
        for tool in all_tools(None)  # pyright: ignore[reportArgumentType] - no page is read
        if tool.required_plan == "free" and tool.category in categories and "watchlist" not in tool.name
    }
    assert set(demo.TOOLS) == free
