"""`nexus chat`: a conversation in the terminal, streamed."""

from __future__ import annotations

import asyncio
import sys
from enum import StrEnum
from typing import Annotated

import typer

from nexus_cli.commands.failures import fail, misuse
from nexus_cli.commands.options import DEFAULT_DATA, Data, Json, Language, require_company


class Who(StrEnum):
    """Who is writing: a visitor of the site, or a customer of one of the plans."""

    VISITOR = "visitor"
    FREE = "free"
    PRO = "pro"
    PREMIUM = "premium"


def chat(
    who: Annotated[Who, typer.Option("--as", help="A visitor, or a customer of this plan.")] = Who.VISITOR,
    company: Annotated[
        str, typer.Option(help="The company whose assistant answers.", callback=require_company)
    ] = "demo",
    *,
    locale: Language,
    url: Annotated[str | None, typer.Option(help="Address of a gateway; else the local stack's.")] = None,
    data: Data = DEFAULT_DATA,
    as_json: Json = False,
) -> None:
    """Chat in the terminal. Each line is a message; end of input (Ctrl-D) ends it.

    Works in a pipe too: `echo "What does the Pro plan cost?" | nexus chat`.
    """
    from nexus_cli.chat.terminal import converse
    from nexus_cli.identity import development_token
    from nexus_cli.target import find_target

    if url is not None and not url.startswith(("http://", "https://")):
        misuse(f"--url {url}: write http://host:port")
    gateway, token = url, None
    if url is None or who is not Who.VISITOR:
        target = find_target(data)
        gateway = url or target.gateway
        if who is not Who.VISITOR:
            token = development_token(
                target.jwt_secret, role="user", user=f"demo-{who}", company=company, plan=str(who)
            )
    if gateway is None:
        fail("no gateway is running here: `nexus up` starts one, or name one with --url")
    try:
        asyncio.run(converse(gateway, token=token, company=company, locale=locale, as_json=as_json))
    except KeyboardInterrupt:
        print(file=sys.stderr)
