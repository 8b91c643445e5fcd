"""Reads the messages of a prompt: the newest question, what was said before it, and what tools returned."""

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any, cast

from agent.domain.offline.listed import chosen_reading
from agent.domain.offline.questions import terms
from agent.domain.offline.step_results import Result
from agent.domain.offline.subjects import with_subject
from agent.domain.shortcuts.steps import FORGET, REMEMBER
from agent.domain.text_features import plain
from agent.domain.turn.journal import TurnCall
from contracts.company import CompanyConfig
from contracts.events.chat import MAX_TEXT


def question_in(messages: Sequence[Mapping[str, Any]]) -> tuple[str, Sequence[Mapping[str, Any]], list[str], list[str]]:
    """The newest user message, the messages after it, and the earlier texts of the user and of the assistant. Only the
    end of each message is read, as much as one in a chat may have: a program may send thirty times as much."""
    spoken: dict[str, list[str]] = {"user": [], "assistant": []}
    newest = max((i for i, entry in enumerate(messages) if entry["role"] == "user"), default=len(messages))
    for message in messages[:newest]:
        if message["role"] in spoken and message.get("content"):
            text = str(message["content"])[-MAX_TEXT:]
            spoken[str(message["role"])].append(_completed(text, spoken) if message["role"] == "user" else text)
    question = str(messages[newest]["content"])[-MAX_TEXT:] if newest < len(messages) else ""
    question = _completed(question, spoken)
    return question, messages[newest + 1 :], spoken["user"], spoken["assistant"]


def _completed(text: str, spoken: Mapping[str, Sequence[str]]) -> str:
    """The user's text as it is meant after the newest answer: the reading that it chooses, or with the share that the
    answer chose."""
    answer, earlier_text = (spoken["assistant"] or [""])[-1], (spoken["user"] or [""])[-1]
    return chosen_reading(text, answer) or with_subject(text, earlier_text, answer)


def results_in(messages: Sequence[Mapping[str, Any]]) -> list[Result]:
    """(tool, arguments, data or error) of each call that was answered."""
    calls: dict[str, tuple[str, dict[str, Any]]] = {}
    results: list[Result] = []
    for message in messages:
        for call in message.get("tool_calls") or ():
            calls[call["id"]] = (call["function"]["name"], json.loads(call["function"]["arguments"]))
        if message["role"] == "tool" and message["tool_call_id"] in calls:
            results.append((*calls[message["tool_call_id"]], _body(str(message["content"]))))
    return results


def rule_calls_in(messages: Sequence[Mapping[str, Any]]) -> list[TurnCall]:
    """The calls that the agent made by its own rules in this turn, each with its result."""
    functions = {call["id"]: call["function"] for message in messages for call in message.get("tool_calls") or ()}
    contents = {message["tool_call_id"]: str(message["content"]) for message in messages if message["role"] == "tool"}
    return [
        TurnCall(call_id, function["name"], function["arguments"], result=_as_result(_body(contents[call_id])))
        for call_id, function in functions.items()
        if function["name"] in (FORGET, REMEMBER) and call_id in contents
    ]


def _as_result(body: Mapping[str, Any]) -> str:
    return json.dumps({"success": "error" not in body, "data": body, "error": body.get("error")})


def _body(content: str) -> dict[str, Any]:
    start, end = content.find("<page_data>\n"), content.rfind("\n</page_data>")
    text = content[start + len("<page_data>\n") : end] if start >= 0 and end > start else content
    try:
        parsed = json.loads(text)
    except json.JSONDecodeError:
        # A caller's own tool may answer in words
        return {"text": text}
    body = cast("dict[str, Any]", parsed) if isinstance(parsed, dict) else {}
    return cast("dict[str, Any]", body["result"]) if "note" in body and isinstance(body.get("result"), dict) else body


def with_you_for_name(question: str, company: CompanyConfig | None) -> str:
    """The question with "you" instead of the company's name. A name of one word may be another word, and so may the
    first word of a longer name; it is replaced only in a question what the company is ("what is Northwind?")."""
    name = company.name.strip() if company and company.name else ""
    if not name:
        return question
    if " " in name:
        full_name = rf"\b(?:{re.escape(name)}|{re.escape(plain(name))})(?!\w)"
        question = re.sub(full_name, "you", question, flags=re.IGNORECASE)
    first_word = rf"\b(is|does|about|es|hace|dedica|sobre|de) {re.escape(name.split()[0])}(?!\w)"
    addressed = re.sub(first_word, r"\1 you", question, flags=re.IGNORECASE)
    return addressed if addressed != question and not terms(addressed) else question
