"""`nexus dlq`: lists, shows and replays dead letters."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TypeVar

import typer

from nexus_cli.commands.bus import on_bus
from nexus_cli.commands.failures import print_json
from nexus_cli.commands.options import DEFAULT_DATA, Data, Json
from nexus_cli.terminal_text import plain

if TYPE_CHECKING:
    from runtime.workers.dead_letters import DeadLetters, Letter

T = TypeVar("T")
app = typer.Typer(help="Dead letters: list them, look at one, put one back.", no_args_is_help=True)
Sequence = Annotated[int, typer.Argument(metavar="SEQ", help="The letter's number in the list.", min=1)]


@app.command("list")
def list_letters(
    service: Annotated[str | None, typer.Option(help="Only this service's.")] = None,
    after: Annotated[int, typer.Option(help="Only letters behind this number.", min=0)] = 0,
    limit: Annotated[int, typer.Option(help="How many at most.", min=1, max=1000)] = 100,
    data: Data = DEFAULT_DATA,
    as_json: Json = False,
) -> None:
    """List dead letters, oldest first."""
    letters = _with_letters(data, lambda box: box.list(service=service, after=after, limit=limit))
    if as_json:
        print(json.dumps([_view(letter) for letter in letters], indent=2))
        return
    for letter in letters:
        print(f"{letter.seq:>8}  {letter.time:%Y-%m-%d %H:%M:%S}  {letter.service:<15}  {letter.subject}")
        print(plain(f"{'':>8}  {letter.reason[:160]}"))
    if not letters:
        print("no dead letters")


@app.command()
def show(seq: Sequence, data: Data = DEFAULT_DATA, as_json: Json = False) -> None:
    """Show one dead letter with its reason and its body."""
    view = _view(_with_letters(data, lambda box: box.get(seq)), with_body=True)
    if as_json:
        print_json(view)
        return
    body = view.pop("body")
    for key, value in view.items():
        print(plain(f"{key:<12}{value}"))
    print(plain(body if isinstance(body, str) else json.dumps(body, indent=2, ensure_ascii=False)))


@app.command()
def replay(seq: Sequence, data: Data = DEFAULT_DATA, as_json: Json = False) -> None:
    """Put a dead letter's message back where it came from. The letter stays in the list."""
    stored = _with_letters(data, lambda box: box.replay(seq))
    if as_json:
        print(json.dumps({"seq": stored.seq, "duplicate": stored.duplicate}))
    elif stored.duplicate:
        print(f"it has been replayed a moment ago already, as {stored.seq}")
    else:
        print(f"replayed as {stored.seq}")


def _with_letters(data: Path, work: Callable[[DeadLetters], Awaitable[T]]) -> T:
    from runtime.workers.dead_letters import DeadLetters

    return on_bus(data, lambda client: work(DeadLetters(client)))


def _view(letter: Letter, *, with_body: bool = False) -> dict[str, object]:
    view: dict[str, object] = {
        "seq": letter.seq,
        "time": letter.time.isoformat(),
        "service": letter.service,
        "stream": letter.stream,
        "subject": letter.subject,
        "originSeq": letter.origin_seq,
        "deliveries": letter.deliveries,
        "reason": letter.reason,
    }
    if with_body:
        view["headers"] = dict(letter.headers)
        try:
            view["body"] = json.loads(letter.body)
        except ValueError:
            view["body"] = letter.body.decode(errors="replace")
    return view
