"""Shows compared turns as one self-contained HTML page: no scripts, no links, light and dark."""

from __future__ import annotations

import difflib
import re
from collections.abc import Sequence
from datetime import UTC, datetime
from html import escape
from importlib.resources import files

from nexus_cli.replay.summary import SIDES, Turn, money, summary, tool_text, verdict

_WORDS = re.compile(r"\s+|[^\s]+")


def page(title: str, turns: Sequence[Turn], made_at: datetime | None = None) -> str:
    """The HTML page. Everything that people or models wrote is escaped."""
    style = files("nexus_cli.replay").joinpath("page.css").read_text("utf-8")
    counts = summary(turns)
    made_text = (made_at or datetime.now(UTC)).strftime("%Y-%m-%d %H:%M UTC")
    same_text = f"{counts['sameText']} of {counts['turns']} with the same answer"
    comparison = f"{same_text}, {counts['identical']} identical in the journal"
    heads = "".join(f"<th>{name}</th>" for name in ("", "Models", "Tokens in", "Tokens out", "Cost", "Median", "Tools"))
    rows = "".join(_figures(side, counts[side]) for side in SIDES)
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{escape(title)}</title>\n<style>{style}</style>\n</head>\n<body>\n<main>\n"
        f'<h1>{escape(title)}</h1>\n<p class="sub">{comparison}. Made {made_text}.</p>\n'
        f'<table class="figures"><thead><tr>{heads}</tr></thead><tbody>{rows}</tbody></table>\n'
        + "\n".join(_article(turn) for turn in turns)
        + "\n</main>\n</body>\n</html>\n"
    )


def _figures(side: str, used: Turn) -> str:
    cells = (
        side,
        ", ".join(used["models"]) or "-",
        f"{used['promptTokens']:,}",
        f"{used['completionTokens']:,}",
        money(used["cost"]),
        f"{used['medianLatencyMs']:.0f} ms",
        str(used["toolCalls"]),
    )
    return "<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in cells) + "</tr>"


def _article(turn: Turn) -> str:
    word = verdict(turn)
    recorded_html, replayed_html = _marked(turn["recorded"]["text"], turn["replayed"]["text"])
    notes = "".join(f'<p class="note">{escape(note)}</p>' for note in turn["notes"])
    return (
        f'<article><header><span class="badge {word.partition(" ")[0]}">{word}</span>'
        f"<p>{escape(turn['question'])}</p><time>{escape(turn['at'][:19].replace('T', ' '))}</time></header>"
        f'<div class="sides">{_side("Recorded", turn["recorded"], recorded_html, "")}'
        f"{_side('Replayed', turn['replayed'], replayed_html, notes)}</div></article>"
    )


def _side(title: str, data: Turn, text: str, notes: str) -> str:
    answer = f'<div class="said">{text}</div>' if text else ""
    if data.get("error"):
        answer += f'<div class="error">{escape(data["error"])}</div>'
    uses = "".join(f"<li{_mark(use)}>{escape(tool_text(use))}</li>" for use in data["tools"])
    usage = (
        f"{data['model'] or '-'} · {data['promptTokens']:,} + {data['completionTokens']:,} tokens · "
        f"{money(data['cost'])} · {data['latencyMs']:.0f} ms"
    )
    tool_list = f"<ul>{uses}</ul>" if uses else ""
    return f'<section><h2>{title}</h2>{answer}{tool_list}<p class="used">{escape(usage)}</p>{notes}</section>'


def _mark(use: Turn) -> str:
    return "" if use["inRecord"] else ' class="missing"'


def _marked(recorded: str, replayed: str) -> tuple[str, str]:
    """Both texts escaped, with the words marked that only one of them has."""
    if recorded == replayed or not recorded or not replayed:
        return escape(recorded), escape(replayed)
    words_before, words_after = _WORDS.findall(recorded), _WORDS.findall(replayed)
    marked_before, marked_after = "", ""
    for kind, a, b, c, d in difflib.SequenceMatcher(None, words_before, words_after, autojunk=False).get_opcodes():
        removed, added = escape("".join(words_before[a:b])), escape("".join(words_after[c:d]))
        marked_before += removed if kind == "equal" else f"<del>{removed}</del>" if removed else ""
        marked_after += added if kind == "equal" else f"<ins>{added}</ins>" if added else ""
    return marked_before, marked_after
