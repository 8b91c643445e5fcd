"""`nexus doctor`: what is right, what is not, what to do."""

from __future__ import annotations

import asyncio
import json
from dataclasses import asdict

import typer

from nexus_cli.commands.options import DEFAULT_DATA, Data, Json

_MARKS = {"ok": "✓", "note": "·", "wrong": "✗"}


def doctor(data: Data = DEFAULT_DATA, as_json: Json = False) -> None:
    """Check versions, settings, keys and servers. Exit code 1 when something has to be done."""
    from nexus_cli.diagnosis import examine

    findings = asyncio.run(examine(data))
    if as_json:
        print(json.dumps([asdict(finding) for finding in findings], indent=2))
    else:
        for finding in findings:
            print(f"{_MARKS[finding.state]} {finding.subject:<16}{finding.text}")
            if finding.advice:
                print(f"  {'':<16}→ {finding.advice}")
    if any(finding.state == "wrong" for finding in findings):
        raise typer.Exit(1)
