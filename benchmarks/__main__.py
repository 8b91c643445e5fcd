"""``python -m benchmarks [NAME …] [--json FILE]``: runs all benchmarks, or those that are named."""

import argparse
import asyncio
from pathlib import Path

from benchmarks import (
    abuse,
    at_once,
    bus_client,
    context,
    doors,
    first_token,
    growth,
    inbox_frames,
    inbox_search,
    indicators,
    knowledge_search,
    memory_search,
    open_sockets,
    start,
    tool_calls,
)
from benchmarks.report import Figure, show, write

QUESTIONS = {
    "abuse": abuse.run,
    "at_once": at_once.run,
    "bus_client": bus_client.run,
    "context": context.run,
    "doors": doors.run,
    "first_token": first_token.run,
    "growth": growth.run,
    "indicators": indicators.run,
    "inbox_frames": inbox_frames.run,
    "inbox_search": inbox_search.run,
    "knowledge_search": knowledge_search.run,
    "memory_search": memory_search.run,
    "open_sockets": open_sockets.run,
    "start": start.run,
    "tool_calls": tool_calls.run,
}


async def _run(names: list[str]) -> list[Figure]:
    figures: list[Figure] = []
    for name in names:
        figures += await QUESTIONS[name]()
    return figures


def main() -> None:
    """Runs the benchmarks, prints the table, and writes the JSON."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", choices=[[], *QUESTIONS], help="which ones; all when none is named")
    parser.add_argument("--json", type=Path, default=Path("bench-results.json"))
    options = parser.parse_args()
    figures = asyncio.run(_run(options.names or list(QUESTIONS)))
    show(figures)
    write(figures, options.json)


if __name__ == "__main__":
    main()
