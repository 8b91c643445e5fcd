"""`nexus doctor`: what works, what does not, and what to do about it."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from nexus_cli.commands.options import DEFAULT_DATA, Data, Json, Services, places, require_company

if TYPE_CHECKING:
    from nexus_cli.doctor.diagnosis import Diagnosis

_MARKS = {"ok": "✓", "note": "·", "wrong": "✗"}


def doctor(
    data: Data = DEFAULT_DATA,
    live: Annotated[
        bool, typer.Option("--live", help="Look for problems in a running stack, for ten seconds.")
    ] = False,
    service: Services = None,
    company: Annotated[
        str, typer.Option(help="With --live, the company whose model is asked for a word.", callback=require_company)
    ] = "demo",
    as_json: Json = False,
) -> None:
    """Check versions, settings, keys and servers; with --live, what runs. Exit code 1 when something has to be done."""
    begin = time.monotonic()
    from nexus_cli.diagnosis import examine

    findings = _live(data, places(service), company, begin) if live else asyncio.run(examine(data))
    if as_json:
        print(json.dumps([asdict(finding) for finding in findings], indent=2))
    else:
        for finding in findings:
            print(f"{_MARKS[finding.state]} {finding.subject:<15} {finding.text}")
            if finding.advice:
                print(f"  {'':<16}→ {finding.advice}")
    if any(finding.state == "wrong" for finding in findings):
        raise typer.Exit(1)


def _live(data: Path, services: Mapping[str, Sequence[str]], company: str, begin: float) -> Sequence[Diagnosis]:
    """The findings. `begin`: when the command began, by the monotonic clock; imports take a part of its time."""
    from nexus_cli.diagnosis import room
    from nexus_cli.doctor import live
    from nexus_cli.target import find_addresses

    addresses = find_addresses(data, services)
    seconds = max(live.CHECK_SECONDS - (time.monotonic() - begin), live.MIN_CHECK_SECONDS)
    findings = asyncio.run(live.examine(addresses, company, seconds))
    return [*findings, *([room(data)] if data.exists() else [])]
