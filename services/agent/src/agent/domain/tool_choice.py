"""Chooses which of a requester's tools a model is shown: those that the question is about, and one that shows the
others.

Thirty definitions are 15 KB in every call of a model, for a question that needs one or two of them. The eight most
likely are shown: by the words that people use for them (CUES, for tools of the catalogue), and by the words that a tool
shares with the question (any tool, also announced ones). Tools that the turn has called stay. `show_tools` names the
rest: a model that asks for one has it in the next step, and a call of a tool that is not shown runs like any other.
"""

import json
import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from typing import cast

from agent.domain.offered_tool import OfferedTool
from agent.domain.text_features import plain, stems
from agent.domain.tool_cues import CUES, DEFAULT_RANKS
from agent.domain.turn.journal import Journal
from agent.texts import TEXTS
from contracts.languages import Language

NAME = "show_tools"
MAX_TOOLS, MAX_BYTES = 8, 6144
MIN_TOOLS = 6
"""The number of tools that are shown, including `show_tools`; down to MIN_TOOLS if their JSON would be larger than
MAX_BYTES."""
NEWEST_WEIGHT, EARLIER_WEIGHT = 1.0, 0.35
"""The weights of the newest message's words, and of the earlier message that has most of a tool: several of them about
one subject do not outweigh a new one."""
MAX_EARLIER_MESSAGES = 3
MAX_MESSAGE_LENGTH = 2_000
"""Characters of each message that are read."""
ALWAYS = frozenset(("hand_off", "market_analysis"))
"""Any question may need a person; an analysis is only offered if one is asked for."""
SHOW_TOOLS_BYTES = 800
"""Roughly the bytes of `show_tools`."""
CUE_WEIGHT = 4.0
"""The weight of the first cue of a tool in a message; each further one counts half."""
DESCRIPTION_WEIGHT = 0.4
"""The weight of a word of the description for a tool that has cues. A tool without cues is recognised by its
description alone."""


def choose_tools(
    tools: Sequence[OfferedTool], spoken: Sequence[str], journal: Journal, language: Language
) -> tuple[OfferedTool, ...]:
    """The tools that a model is shown, in their original order. `spoken`: the messages of both sides, newest last."""
    if len(tools) <= MAX_TOOLS and sum(tool.size for tool in tools) <= MAX_BYTES:
        return tuple(tools)
    called = _called(journal) | ALWAYS
    rank = _rank_tools(tools, spoken)
    ordered = sorted(tools, key=lambda tool: (tool.name not in called, -rank[tool.name]))
    shown: list[OfferedTool] = []
    size = 0
    for tool in ordered:
        is_required = tool.name in called
        size += tool.size
        if not is_required and (
            len(shown) >= MAX_TOOLS - 1 or (len(shown) >= MIN_TOOLS and size > MAX_BYTES - SHOW_TOOLS_BYTES)
        ):
            break
        shown.append(tool)
    names = {tool.name for tool in shown}
    hidden = tuple(tool.name for tool in tools if tool.name not in names)
    shown_in_order = tuple(tool for tool in tools if tool.name in names)
    return (*shown_in_order, _show_tools(hidden, language)) if hidden else shown_in_order


def show_tools_result(arguments: str, tools: Iterable[OfferedTool]) -> str:
    """The result of a call of `show_tools`: which of the named tools are shown from the next step on."""
    known_names = {tool.name for tool in tools}
    shown = [name for name in _names(arguments) if name in known_names]
    missing = [name for name in _names(arguments) if name not in known_names]
    data = {"shown": shown, **({"unknown": missing} if missing else {})}
    return json.dumps({"success": True, "data": data}, ensure_ascii=False)


@lru_cache(maxsize=256)
def _show_tools(hidden: tuple[str, ...], language: Language) -> OfferedTool:
    names = {"type": "array", "items": {"type": "string", "enum": list(hidden)}, "minItems": 1}
    parameters = {"type": "object", "properties": {"names": names}, "required": ["names"]}
    return OfferedTool(
        NAME,
        TEXTS["tool.description"].in_language(language),
        "tools",
        parameters,
        TEXTS["tool.label"].in_language(language),
    )


def _called(journal: Journal) -> frozenset[str]:
    """The tools that the turn called or asked to be shown."""
    names = {call.tool for call in journal.calls}
    requested = (name for call in journal.calls if call.tool == NAME for name in _names(call.arguments))
    return frozenset(names) | frozenset(requested)


def _names(arguments: str) -> list[str]:
    try:
        names: object = json.loads(arguments).get("names")
    except (ValueError, AttributeError):
        return []
    return [name for name in cast("list[object]", names) if isinstance(name, str)] if isinstance(names, list) else []


def _rank_tools(tools: Sequence[OfferedTool], spoken: Sequence[str]) -> dict[str, float]:
    """A score for each tool: how likely it is to be needed."""
    spread = Counter(word for tool in tools for word in tool.words)
    scores = [_message_scores(tools, spread, text[:MAX_MESSAGE_LENGTH]) for text in spoken[-MAX_EARLIER_MESSAGES - 1 :]]
    newest, earlier = (scores[-1] if scores else {}), scores[:-1]
    return {
        tool.name: DEFAULT_RANKS.get(tool.name, 0.0)
        + NEWEST_WEIGHT * newest.get(tool.name, 0.0)
        + EARLIER_WEIGHT * max((score[tool.name] for score in earlier), default=0.0)
        for tool in tools
    }


def _message_scores(tools: Sequence[OfferedTool], spread: Counter[str], text: str) -> dict[str, float]:
    words, cues = _message_features(text)
    scores: dict[str, float] = {}
    for tool in tools:
        shared = sum(math.log(1 + len(tools) / spread[word]) for word in words & tool.words)
        scores[tool.name] = shared * (DESCRIPTION_WEIGHT if tool.name in CUES else 1.0) + cues.get(tool.name, 0.0)
    return scores


@lru_cache(maxsize=2048)
def _message_features(text: str) -> tuple[frozenset[str], Mapping[str, float]]:
    """The significant words of a message, and the weight of its cues for each tool."""
    folded = plain(text)
    counts = {name: len({match[0] for match in cues.finditer(folded)}) for name, cues in CUES.items()}
    return frozenset(stems(text)), {
        name: CUE_WEIGHT * (min(count, 3) + 1) / 2 for name, count in counts.items() if count
    }
