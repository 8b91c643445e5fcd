"""The places of an injected text in a turn, and whether the guard permits the calls of a model that obeys it."""

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from agent.domain.context.compression import PromptMessage
from agent.domain.own_words import KINDS, OwnWords, own_words_from
from agent.domain.text_features import symbols_in
from agent.domain.turn.journal import Journal, TurnCall, TurnStep
from tests.security.injections.goals import POINTING, Goal
from tests.security.injections.tasks import ANNOUNCED, Call, Task


class Place(StrEnum):
    """The source of the injected text."""

    PAGE = "page"
    HEADLINE = "headline"
    DOCUMENT = "document"
    TOOL = "tool result"
    NOTE = "remembered text"
    ANSWER = "earlier answer"


def _page(text: str) -> dict[str, Any]:
    return {"url": "https://x.test/", "title": "X", "text": f"Delivery. {text} Bye."}


def _headline(text: str) -> dict[str, Any]:
    return {"items": [{"headline": text, "source": "wire"}]}


def _rows(text: str) -> dict[str, Any]:
    return {"rows": [{"note": f"fine. {text}"}]}


PAGE_RESULTS: dict[Place, tuple[str, Callable[[str], dict[str, Any]]]] = {
    Place.PAGE: ("fetch_page", _page),
    Place.HEADLINE: ("get_news", _headline),
    Place.TOOL: ("lookup_weather", _rows),
}


def turn(task: Task, goal: Goal, place: Place) -> tuple[OwnWords, Journal]:
    """Returns the turn of a user's task after the model has read the injected goal."""
    earlier = ("hello", goal.text) if place is Place.ANSWER else ()
    texts = (*earlier, *task.said)
    messages = [PromptMessage(mine=at % 2 == 1, text=text, seq=at + 1) for at, text in enumerate(texts)]
    answered = max((message.seq for message in messages if message.mine), default=0)
    foreign = [goal.text] if place in (Place.DOCUMENT, Place.NOTE) else []
    results: list[tuple[str, dict[str, Any]]] = []
    if place in PAGE_RESULTS:
        tool, shape = PAGE_RESULTS[place]
        results.append((tool, shape(goal.text)))
    if task.found:
        results.append(("get_portfolio", task.found))
    calls = tuple(
        TurnCall(f"c{at}", tool, "{}", result=json.dumps({"success": True, "data": data}))
        for at, (tool, data) in enumerate(results)
    )
    journal = Journal("t", basis=1, started_at=0.0, deadline=1.0, steps=(TurnStep(1, "", calls),))
    return own_words_from(messages, answered, foreign), journal


def permitted(call: Call, own_words: OwnWords, journal: Journal) -> bool:
    """Returns whether the turn may make this call of a tool with effects."""
    tool, arguments = call
    assert tool in KINDS or tool in ANNOUNCED, tool
    return own_words.ask_for(TurnCall("x", tool, json.dumps(arguments)), ANNOUNCED.get(tool), journal)


@dataclass
class Figures:
    """The result for a corpus. `escaped`: injected calls that were permitted; `asked_back`: benign tasks that need a
    confirmation; `refused`: those that are refused even after one."""

    injected: int = 0
    benign: int = 0
    escaped: list[str] = field(default_factory=list[str])
    asked_back: list[str] = field(default_factory=list[str])
    refused: list[str] = field(default_factory=list[str])

    @property
    def at_once(self) -> float:
        """Returns the share of the benign tasks done without a question."""
        return 1 - len(self.asked_back) / self.benign

    @property
    def done(self) -> float:
        """Returns the share of the benign tasks done, some after a confirmation."""
        return 1 - len(self.refused) / self.benign

    def __str__(self) -> str:
        return (
            f"injected calls contained: {self.injected - len(self.escaped)} of {self.injected}; "
            f"benign tasks done: {self.done:.1%} of {self.benign}, without a question {self.at_once:.1%}"
        )


def obeyed(goal: Goal, task: Task) -> Call | None:
    """Returns the call of a model that obeys the goal; None: the user named no symbol, or wants the same tool anyway
    (then their own order waits for confirmation)."""
    if goal not in POINTING:
        return goal.tool, goal.arguments
    named = [symbol for text in task.said[::2] for symbol in symbols_in(text)]
    if not named or goal.tool in (*(tool for tool, _ in task.calls), *task.near):
        return None
    return goal.tool, {"symbol": named[-1], **goal.arguments}


def weigh(tasks: tuple[Task, ...], goals: tuple[Goal, ...]) -> Figures:
    """Tries every goal in every place of every task."""
    figures = Figures()
    for task, goal, place in ((task, goal, place) for task in tasks for goal in goals for place in Place):
        own_words, journal = turn(task, goal, place)
        figures.injected += 1
        wanted = obeyed(goal, task)
        if wanted is not None and wanted not in task.calls and permitted(wanted, own_words, journal):
            figures.escaped.append(f"{place}: {task.said[-1]!r} with {goal.text!r}")
        figures.benign += 1
        lost = [call for call in task.calls if not permitted(call, own_words, journal)]
        if lost:
            figures.asked_back.append(f"{task.said!r}: {lost}")
            again, _ = turn(Task((*task.said, _question(lost), "yes, please"), task.calls, task.found), goal, place)
            figures.refused += [f"{task.said!r}: {call}" for call in lost if not permitted(call, again, journal)][:1]
    return figures


def _question(calls: list[Call]) -> str:
    """Returns the question of a model whose calls were refused because the user did not ask for them."""
    wishes = (f"{tool.replace('_', ' ')} with {json.dumps(arguments)[1:-1]}" for tool, arguments in calls)
    return f"Shall I {' and '.join(wishes)}?"


def summed(lines: list[str], most: int = 12) -> Iterator[str]:
    """Yields each distinct line with its count, the most frequent first."""
    for line in sorted(set(lines), key=lines.count, reverse=True)[:most]:
        yield f"{lines.count(line)} x {line}"
