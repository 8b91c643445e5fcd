"""The offline assistant's one decision: from the messages of a model call to tool calls or an answer."""

import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

from agent.domain.offline.answers import NOTICE, answer_from, plain_answer
from agent.domain.offline.intents import wish_in
from agent.domain.offline.reading import language_of
from agent.domain.prompt.layers import Language

_Result = tuple[str, dict[str, Any], dict[str, Any]]
_SPANISH = "/es"
"""Where sites in English, the demo's among them, keep their pages in Spanish."""


@dataclass(frozen=True, slots=True)
class Say:
    """The answer."""

    text: str


@dataclass(frozen=True, slots=True)
class Use:
    """Tool calls, by name with arguments."""

    calls: tuple[tuple[str, dict[str, Any]], ...]


def respond(
    messages: Sequence[Mapping[str, Any]],
    offered: Collection[str],
    language: Language,
    page_url: str | None = None,
    *,
    introduced: bool = False,
) -> Say | Use:
    """What a model would do with this prompt. `offered`: the tools that may be called now; `introduced`: that it is
    offline was said before these messages.
    """
    question, after = _question(messages)
    language = language_of(question, language)
    results = _results(after)
    # Where the person is on the site, its Spanish pages are looked for first, whichever language the page is in.
    wish = wish_in(question, offered, site_prefix=_SPANISH if language == "es" and page_url else "")
    if wish.calls and not wish.missing and not results:
        return Use(wish.calls)
    missed = [one for one in results if _has_no_spanish(one)]
    if missed and missed == results and "fetch_page" in offered:
        return Use(tuple((tool, {"path": _in_general(arguments["path"])}) for tool, arguments, _ in missed))
    results = [one for one in results if one not in missed] or results
    if results:
        text = "\n".join(answer_from(tool, arguments, body, question, language) for tool, arguments, body in results)
    else:
        text = plain_answer(wish, language)
    return Say(text if introduced or _has_said(messages) else f"{NOTICE[language]} {text}")


def _has_no_spanish(result: _Result) -> bool:
    """Whether the site does not give the page under its Spanish address."""
    tool, arguments, body = result
    path = str(arguments.get("path", ""))
    return tool == "fetch_page" and "error" in body and path != _in_general(path)


def _in_general(path: str) -> str:
    """/es/pricing as /pricing; what is not under /es as it is."""
    return (path.removeprefix(_SPANISH) or "/") if f"{path}/".startswith(f"{_SPANISH}/") else path


def _question(messages: Sequence[Mapping[str, Any]]) -> tuple[str, Sequence[Mapping[str, Any]]]:
    """The newest user message, and what came after it."""
    for index in range(len(messages) - 1, -1, -1):
        if messages[index]["role"] == "user":
            return str(messages[index]["content"]), messages[index + 1 :]
    return "", ()


def _has_said(messages: Sequence[Mapping[str, Any]]) -> bool:
    """Whether the notice was given in what the prompt holds of the conversation."""
    said = (str(message.get("content") or "") for message in messages if message["role"] == "assistant")
    return any(notice in text for text in said for notice in NOTICE.values())


def _results(messages: Sequence[Mapping[str, Any]]) -> list[_Result]:
    """(tool, arguments, data or error) of each call that has come back."""
    calls: dict[str, tuple[str, dict[str, Any]]] = {}
    results: list[_Result] = []
    for message in messages:
        for call in message.get("tool_calls") or ():
            calls[call["id"]] = (call["function"]["name"], json.loads(call["function"]["arguments"]))
        if message["role"] == "tool" and message["tool_call_id"] in calls:
            results.append((*calls[message["tool_call_id"]], _body(str(message["content"]))))
    return results


def _body(content: str) -> dict[str, Any]:
    start, end = content.find("<page_data>\n"), content.rfind("\n</page_data>")
    text = content[start + len("<page_data>\n") : end] if start >= 0 and end > start else content
    try:
        parsed = json.loads(text)
    except json.JSONDecodeError:
        # A tool of the caller's own may answer in words.
        return {"text": text}
    body = cast("dict[str, Any]", parsed) if isinstance(parsed, dict) else {}
    return cast("dict[str, Any]", body["result"]) if "note" in body and isinstance(body.get("result"), dict) else body
