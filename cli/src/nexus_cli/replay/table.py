"""Shows compared turns in the terminal."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from rich.table import Table
from rich.text import Text

from nexus_cli.replay.summary import Turn, money, summary, tool_text, verdict
from nexus_cli.terminal_text import plain

_COLOURS = {"identical": "green", "same answer": "green", "other answer": "yellow", "no answer": "red"}


def table(turns: Sequence[Turn]) -> Table:
    """A row for each turn: the question, and both answers with what they used."""
    drawn = Table(show_lines=True, title_justify="left", expand=True)
    drawn.add_column("", width=12)
    drawn.add_column("asked", ratio=2)
    drawn.add_column("recorded", ratio=4)
    drawn.add_column("replayed", ratio=4)
    for turn in turns:
        word = verdict(turn)
        first = Text(word, style=_COLOURS[word])
        first.append(f"\n{turn['at'][11:19]}", style="dim")
        drawn.add_row(first, Text(plain(turn["question"])), _side(turn, "recorded"), _side(turn, "replayed"))
    return drawn


def figures(turns: Sequence[Turn]) -> Table:
    """The two sides in figures."""
    found = summary(turns)
    drawn = Table(box=None, pad_edge=False, title_justify="left")
    for name in ("", "models", "tokens in", "out", "cost", "median ms", "tool calls"):
        drawn.add_column(name, justify="left" if name in ("", "models") else "right")
    for side in ("recorded", "replayed"):
        used: dict[str, Any] = found[side]
        drawn.add_row(
            side,
            ", ".join(used["models"]) or "-",
            str(used["promptTokens"]),
            str(used["completionTokens"]),
            money(used["cost"]),
            f"{used['medianLatencyMs']:.0f}",
            str(used["toolCalls"]),
        )
    return drawn


def closing(turns: Sequence[Turn]) -> str:
    found = summary(turns)
    parts = [
        f"{found['turns']} turns",
        f"{found['sameText']} with the same answer",
        f"{found['identical']} identical in the journal",
    ]
    if found["callsNotInRecord"]:
        parts.append(f"{found['callsNotInRecord']} tool calls not in the record")
    if found["failed"]:
        parts.append(f"{found['failed']} without an answer")
    return ", ".join(parts)


def _side(turn: Turn, side: str) -> Text:
    data = turn[side]
    text = Text(plain(data["text"] or "-"))
    if data.get("error"):
        text = Text(plain(data["error"]), style="red")
    for use in data["tools"]:
        text.append(f"\n• {plain(tool_text(use))}", style="cyan" if use["inRecord"] else "red")
    text.append(
        f"\n{data['model'] or '-'}, {data['promptTokens']}+{data['completionTokens']} tokens, "
        f"{money(data['cost'])}, {data['latencyMs']:.0f} ms",
        style="dim",
    )
    if side == "replayed":
        for note in turn["notes"]:
            text.append(f"\n! {note}", style="yellow")
    return text
