"""Arranges spans as a tree, and shows the tree as a waterfall."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from rich.cells import cell_len
from rich.table import Table
from rich.text import Text

from nexus_cli.terminal_text import plain
from nexus_cli.traces.spans import ServiceSpan
from runtime.observability.gen_ai import (
    INPUT_TOKENS,
    OUTPUT_TOKENS,
    SPAN_CHAT,
    SPAN_COMMIT,
    SPAN_CONTEXT,
    SPAN_QUEUE,
    SPAN_TOOL,
)

_FIGURES = 46
"""Terminal columns for service, step, start and duration, with the gaps between them."""
_LEAST_BAR = 12
_COLOURS = {
    "gateway": "cyan",
    "agent": "green",
    "tool-executor": "yellow",
    "memory": "magenta",
    "market-adapter": "blue",
}
_STEPS = (SPAN_QUEUE, SPAN_CONTEXT, SPAN_COMMIT)


@dataclass(frozen=True)
class WaterfallRow:
    """One row: a span and its depth in the tree."""

    span: ServiceSpan
    depth: int

    @property
    def step(self) -> str:
        """The turn's step that this span is: queue, context, model, tool or commit; empty for other spans."""
        name = self.span.recorded.name
        if self.span.service != "agent":
            return ""
        if name in _STEPS:
            return name
        return {SPAN_CHAT: "model", SPAN_TOOL: "tool"}.get(name.partition(" ")[0], "")


def rows(spans: Sequence[ServiceSpan]) -> list[WaterfallRow]:
    """The spans in depth-first order, each level by start. A span whose parent is missing is at the top level."""
    span_ids = {span.recorded.span_id for span in spans}
    children: dict[str | None, list[ServiceSpan]] = {}
    for span in spans:
        parent = span.recorded.parent_id
        children.setdefault(parent if parent in span_ids else None, []).append(span)
    tree_rows: list[WaterfallRow] = []

    def visit(parent: str | None, depth: int) -> None:
        for span in sorted(children.get(parent, ()), key=lambda span: (span.recorded.start, span.recorded.end)):
            tree_rows.append(WaterfallRow(span, depth))
            visit(span.recorded.span_id, depth + 1)

    visit(None, 0)
    return tree_rows


def view(turn: str, spans: Sequence[ServiceSpan]) -> dict[str, object]:
    """The waterfall as JSON: times in ms, from the first span's start."""
    start, end = _bounds(spans)
    return {
        "turnId": turn,
        "traceIds": sorted({span.trace_id for span in spans}),
        "startedAt": start,
        "durationMs": _ms(end - start),
        "services": sorted({span.service for span in spans}),
        "spans": [
            {
                "id": row.span.recorded.span_id,
                "parentId": row.span.recorded.parent_id,
                "service": row.span.service,
                "name": row.span.recorded.name,
                "step": row.step or None,
                "depth": row.depth,
                "startMs": _ms(row.span.recorded.start - start),
                "durationMs": _ms(row.span.recorded.end - row.span.recorded.start),
                "attributes": row.span.recorded.attributes,
                "error": row.span.recorded.error,
            }
            for row in rows(spans)
        ],
    }


def table(turn: str, spans: Sequence[ServiceSpan], width: int) -> Table:
    """The waterfall for a terminal `width` columns wide."""
    start, end = _bounds(spans)
    total = max(end - start, 1)
    tree_rows = rows(spans)
    widest_name = max(cell_len(_name(row)) for row in tree_rows)
    # Figures are never cut; if there is too little room, names are shortened first, then bars.
    name_width = min(widest_name, 48, max(width - _FIGURES - _LEAST_BAR, 20))
    bar_width = max(width - name_width - _FIGURES, _LEAST_BAR)
    grid = Table(title=f"turn {turn}", title_justify="left", box=None, pad_edge=False, collapse_padding=True)
    grid.add_column("service", no_wrap=True, min_width=14)
    grid.add_column("step", no_wrap=True, min_width=7)
    grid.add_column("span", no_wrap=True, max_width=name_width)
    grid.add_column("start", justify="right", no_wrap=True, min_width=8)
    grid.add_column("ms", justify="right", no_wrap=True, min_width=7)
    grid.add_column("", no_wrap=True, width=bar_width)
    for row in tree_rows:
        span = row.span.recorded
        colour = "red" if span.error else _COLOURS.get(row.span.service, "white")
        offset = int((span.start - start) / total * bar_width)
        length = max(round((span.end - span.start) / total * bar_width), 1)
        offset = min(offset, bar_width - 1)
        bar = Text(" " * offset + "█" * min(length, bar_width - offset), style=colour)
        grid.add_row(
            Text(row.span.service, style=colour),
            Text(plain(row.step), style="bold"),
            _name(row),
            f"{_ms(span.start - start):.1f}",
            f"{_ms(span.end - span.start):.1f}",
            bar,
        )
    services = len({span.service for span in spans})
    grid.caption = f"{_ms(total):.1f} ms, {len(tree_rows)} spans, {services} services"
    grid.caption_justify = "left"
    return grid


def _name(row: WaterfallRow) -> str:
    span = row.span.recorded
    text = "  " * row.depth + span.name
    if INPUT_TOKENS in span.attributes:
        text += f" ({span.attributes[INPUT_TOKENS]}+{span.attributes.get(OUTPUT_TOKENS, 0)} tokens)"
    return f"{text} !{span.error}" if span.error else text


def _bounds(spans: Sequence[ServiceSpan]) -> tuple[int, int]:
    return min(span.recorded.start for span in spans), max(span.recorded.end for span in spans)


def _ms(nanoseconds: int) -> float:
    return round(nanoseconds / 1e6, 3)
