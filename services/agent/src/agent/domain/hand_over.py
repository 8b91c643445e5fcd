"""Hands a conversation over to a person: the tool as a model sees it, and what the person reads."""

import json
import re
from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import cache

from agent.domain.assist import conversation_language
from agent.domain.context.compression import PromptMessage
from agent.domain.offered_tool import OfferedTool
from agent.domain.offline.answers import is_unknown, without_notice
from agent.domain.offline.person_words import only_asks_for_person
from agent.domain.text_features import is_plain_yes, one_line
from agent.domain.tool_results import data_of
from agent.domain.turn.journal import Journal, TurnCall
from agent.texts import TEXTS
from contracts.events.chat import MAX_SUMMARY_LINE, MAX_SUMMARY_LINES
from contracts.languages import Language

NAME = "hand_off"
CATEGORY = "people"
ASKED = "asked"
MISSED = "missed"
RULE = "rule"
REASONS = (ASKED, MISSED, RULE)
PARAMETERS: dict[str, object] = {
    "type": "object",
    "properties": {
        "reason": {
            "type": "string",
            "enum": list(REASONS),
            "description": "asked: they want a person; missed: it could not be answered; rule: the company says so",
        },
        "summary": {
            "type": "string",
            "maxLength": MAX_SUMMARY_LINES * MAX_SUMMARY_LINE,
            "description": "For that person, five short lines at most: what was asked, what was tried, what was found",
        },
    },
    "required": ["reason", "summary"],
    "additionalProperties": False,
}
_NOTES: dict[str, str] = {
    "asked": "A person of the team was asked for and has been told. If you read this, nobody has taken the "
    "conversation, and it is yours to answer again: say nothing that would promise somebody, do not ask for a person "
    "again unless they do, and answer what is still open as well as you can.",
    "before": "A person was asked for since their last message, and the conversation is yours to answer again. Do not "
    "ask again unless they do: answer what is still open as well as you can.",
    "there": "A person has been asked for, or has the conversation, already.",
    "taken": "Nobody of the team is there now. Their message has been taken, the team sees it, and `told` stands "
    "before your answer: do not repeat it, promise nobody sooner, and do not ask for a person again unless they "
    "do. Answer what is still open as well as you can.",
}


def offered_with_hand_over(tools: Sequence[OfferedTool], language: Language) -> tuple[OfferedTool, ...]:
    """The tools with the hand-over tool, which every requester has."""
    return (*tools, _offered(language))


@cache
def _offered(language: Language) -> OfferedTool:
    return OfferedTool(
        NAME,
        TEXTS["hand_over.description"].in_language(language),
        CATEGORY,
        PARAMETERS,
        TEXTS["hand_over.label"].in_language(language),
    )


def complete_call(
    call: TurnCall, spoken: Sequence[PromptMessage], journal: Journal, language: Language, by: str | None = None
) -> TurnCall:
    """The call with everything that the person receives; missing summary lines are made from the conversation. `by`:
    the author of the change of owner, if it is not the AI."""
    arguments: dict[str, object] = json.loads(call.arguments)
    reason = arguments.get("reason")
    lines = [one_line(line, MAX_SUMMARY_LINE) for line in str(arguments.get("summary") or "").splitlines()]
    summary_lines = [re.sub(r"^[-*•\d.) ]+(?=\S)", "", line) for line in lines if line]
    summary = summary_lines[:MAX_SUMMARY_LINES] or summary_of(spoken, journal.calls, language)
    completed = {"reason": reason if reason in REASONS else ASKED, "summary": summary, "language": language, "by": by}
    return replace(call, arguments=json.dumps(completed | {"basis": journal.basis}, ensure_ascii=False))


def summary_of(
    spoken: Sequence[PromptMessage], calls: Iterable[TurnCall], language: Language | None = None
) -> list[str]:
    """What was asked, tried and found, without a model: from the visitor's messages and the last answer. `language`:
    None for the conversation's own."""
    language = language or conversation_language(spoken)

    def line(name: str, text: str = "") -> str:
        return TEXTS[f"hand_over.lines.{name}"].in_language(language).format(text=text)[:MAX_SUMMARY_LINE]

    visitor_messages = [message for message in spoken if not message.mine and message.text.strip()]
    # "get me a person, I was charged twice" names a topic, "I demand to talk to a person" does not.
    questions = [
        message
        for message in visitor_messages
        if not only_asks_for_person(message.text, beside=2) and not is_plain_yes(message.text)
    ]
    lines = [line("asked", f"«{one_line(questions[-1].text, 240)}»")] if questions else [line("only")]
    if len(questions) > 1:
        lines.append(line("before", "; ".join(f"«{one_line(message.text, 80)}»" for message in questions[-3:-1])))
    tools = dict.fromkeys(call.tool for call in calls if call.tool != NAME)
    if tools:
        lines.append(line("tried", ", ".join(tools)))
    if questions and (answers := [message for message in spoken if message.mine]):
        answer = next((message for message in answers if message.seq > questions[-1].seq), answers[-1]).text
        found = one_line(without_notice(answer), 240)
        lines.append(line("nothing") if is_unknown(answer) else line("found", f"«{found}»"))
    return lines[:MAX_SUMMARY_LINES]


def result(state: str, seq: int = 0) -> str:
    """The result of a call. `state`: asked, before (since their last message) or there; `seq`: of the change of owner
    that the call made."""
    data: dict[str, object] = {"state": state, "note": _NOTES[state]}
    return json.dumps({"success": True, "data": data | ({"seq": seq} if seq else {})}, ensure_ascii=False)


def message_taken_result(seq: int, told: str, opens_at: str) -> str:
    """The result of a call outside office hours: a message was taken. `told`: the text for the visitor."""
    data = {"state": "taken", "note": _NOTES["taken"], "told": told, "opensAt": opens_at, "seq": seq}
    return json.dumps({"success": True, "data": data}, ensure_ascii=False)


def away_notice_in(journal: Journal) -> str | None:
    """The text that begins the answer if the turn asked for a person while nobody was there; None otherwise."""
    notices = [data_of(call.result).get("told") for call in journal.calls if call.tool == NAME]
    return next((str(notice) for notice in reversed(notices) if notice), None)


def owner_change_seq(results: Iterable[str]) -> int:
    """The sequence of the change of owner in results of the tool; 0 if there was none."""
    return max((int(str(data_of(result).get("seq") or 0)) for result in results), default=0)


def last_handed_over_seq(journal: Journal) -> int:
    """The sequence of the newest visitor message for which a person was asked for, in this turn or the unanswered ones
    before it; 0 if there is none."""
    steps = (step for step in journal.steps if any(call.tool == NAME and call.result for call in step.calls))
    return max((step.basis for step in steps), default=0)
