"""`nexus replay`: runs recorded conversations again."""

from __future__ import annotations

import sys
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from nexus_cli.commands.failures import fail, misuse, print_json
from nexus_cli.commands.options import DEFAULT_DATA, Data, Json

if TYPE_CHECKING:
    from nexus_cli.replay.summary import Turn


def replay(
    conversation: Annotated[
        str | None, typer.Argument(metavar="[CONVERSATION]", help="The conversation; or a day of them with --day.")
    ] = None,
    day: Annotated[
        datetime | None,
        typer.Option(formats=["%Y-%m-%d"], metavar="YYYY-MM-DD", help="All turns that began on this day (UTC)."),
    ] = None,
    model: Annotated[
        str | None, typer.Option(help="Another model: its name, provider:name, or offline. Default: as recorded.")
    ] = None,
    prompt: Annotated[
        Path | None,
        typer.Option(help="A text file: the company's own system prompt instead.", exists=True, dir_okay=False),
    ] = None,
    settings: Annotated[
        Path | None,
        typer.Option(
            help="JSON or TOML: settings to change, as PATCH of the config takes them.", exists=True, dir_okay=False
        ),
    ] = None,
    cases: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR",
            help="Make a case of nexus eval of each turn, in this folder; nothing is asked.",
            file_okay=False,
        ),
    ] = None,
    turn: Annotated[str | None, typer.Option(help="With --cases: of this turn alone.")] = None,
    html: Annotated[Path | None, typer.Option(help="Write the comparison as one HTML page.", dir_okay=False)] = None,
    company: Annotated[str | None, typer.Option(help="Whose conversations. Default: whichever it is.")] = None,
    data: Data = DEFAULT_DATA,
    as_json: Json = False,
) -> None:
    """Run recorded turns again, with another model, prompt or settings, and compare. Nothing is executed: tool results
    come from the record."""
    from nexus_cli.target import find_target

    if (conversation is None) == (day is None):
        misuse("name a conversation, or a day with --day")
    if cases is not None and (model or prompt or settings or html):
        misuse("--cases makes cases of what is recorded: leave out --model, --prompt, --settings and --html")
    if turn is not None and cases is None:
        misuse("--turn goes with --cases DIR")
    day_text = f"{day:%Y-%m-%d}" if day else None
    choices = {"company": company, "conversation": conversation, "day": day_text, "model": model}
    choices |= {"prompt": prompt and str(prompt), "settings": settings and str(settings)}
    options = [word for name, value in choices.items() if value for word in (f"--{name}", value)]
    options += ["--cases"] if cases else []
    turns = _collect(find_target(data).nats, options, quiet=as_json)
    if cases is not None:
        _make_cases(cases, turns, turn)
        return
    title = f"Replay of {conversation or day_text}" + (f" with {model}" if model else "")
    _report(turns, title, html, as_json=as_json)


def _make_cases(directory: Path, turns: list[Turn], only: str | None) -> None:
    from nexus_cli.replay.made_cases import write_cases

    if only is not None and all(candidate["turnId"] != only for candidate in turns):
        fail(f"no turn {only} among the {len(turns)} that are recorded here")
    try:
        files = write_cases(directory, turns, only)
    except OSError as error:
        fail(f"{directory} cannot be written: {error.strerror}")
    for file in files:
        print(file)
    print(f"{len(files)} cases made; nexus eval --cases {directory} tries them", file=sys.stderr)


def _collect(nats: str, options: list[str], *, quiet: bool) -> list[Turn]:
    from nexus_cli.replay.runner import replay_lines

    lines = replay_lines(nats, options)
    turns: list[Turn] = []
    total = 0
    for line in lines:
        if line["type"] == "plan":
            total = line["turns"]
        else:
            turns.append({key: value for key, value in line.items() if key != "type"})
        if not quiet and sys.stderr.isatty():
            print(f"\rnexus: {len(turns)} of {total} turns", end="", file=sys.stderr, flush=True)
    if not quiet and sys.stderr.isatty():
        print("\r\033[K", end="", file=sys.stderr, flush=True)
    return turns


def _report(turns: list[Turn], title: str, html: Path | None, *, as_json: bool) -> None:
    from rich.console import Console

    from nexus_cli.replay import page, table
    from nexus_cli.replay.summary import summary

    if html is not None:
        try:
            html.write_text(page.page(title, turns), "utf-8")
        except OSError as error:
            fail(f"{html} cannot be written: {error.strerror}")
    if as_json:
        print_json({"turns": turns, "summary": summary(turns)})
        return
    console = Console()
    console.print(table.table(turns))
    console.print(table.figures(turns))
    console.print(table.closing(turns))
    if html is not None:
        console.print(f"{html} holds the same as a page", markup=False)
