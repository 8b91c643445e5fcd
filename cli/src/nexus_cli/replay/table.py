"""Shows compared turns in the terminal."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from rich.table import Table
from rich.text import Text

from nexus_cli.replay.summary import SIDES, Turn, money, summary, tool_text, verdict
from nexus_cli.terminal_text import plain

_COLOURS = {"identical": "green", "same answer": "green", "other answer": "yellow", "no answer": "red"}


def table(turns: Sequence[Turn]) -> Table:
    """Table with a row for each turn: the question, and both answers with their usage."""
    grid = Table(show_lines=True, title_justify="left", expand=True)
    grid.add_column("", width=12)
    grid.add_column("asked", ratio=2)
    grid.add_column("recorded", ratio=4)
    grid.add_column("replayed", ratio=4)
    for turn in turns:
        word = verdict(turn)
        verdict_cell = Text(word, style=_COLOURS[word])
        verdict_cell.append(f"\n{turn['at'][11:19]}", style="dim")
        grid.add_row(verdict_cell, Text(plain(turn["question"])), _side(turn, "recorded"), _side(turn, "replayed"))
    return grid


def figures(turns: Sequence[Turn]) -> Table:
    """Table with the total usage of the two sides."""
    counts = summary(turns)
    grid = Table(box=None, pad_edge=False, title_justify="left")
    for name in ("", "models", "tokens in", "out", "cost", "median ms", "tool calls"):
        grid.add_column(name, justify="left" if name in ("", "models") else "right")
    for side in SIDES:
        usage: dict[str, Any] = counts[side]
        grid.add_row(
            side,
            ", ".join(usage["models"]) or "-",
            str(usage["promptTokens"]),
            str(usage["completionTokens"]),
            money(usage["cost"]),
            f"{usage['medianLatencyMs']:.0f}",
            str(usage["toolCalls"]),
        )
    return grid


def closing(turns: Sequence[Turn]) -> str:
    counts = summary(turns)
    parts = [
        f"{counts['turns']} turns",
        f"{counts['sameText']} with the same answer",
        f"{counts['identical']} identical in the journal",
    ]
    if counts["callsNotInRecord"]:
        parts.append(f"{counts['callsNotInRecord']} tool calls not in the record")
    if counts["failed"]:
        parts.append(f"{counts['failed']} without an answer")
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
