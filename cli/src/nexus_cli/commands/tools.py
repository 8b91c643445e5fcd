"""`nexus tools` and `nexus call`: lists the tools, and calls one over the bus."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from nexus_cli.commands.bus import on_bus
from nexus_cli.commands.chat import Who
from nexus_cli.commands.failures import fail, misuse, print_json
from nexus_cli.commands.options import DEFAULT_DATA, Data, Json, Language, require_company

if TYPE_CHECKING:
    from nats.aio.client import Client

    from contracts.events.tool import ToolResult

Company = Annotated[str, typer.Option(help="The company of the caller.", callback=require_company)]


def tools(
    plan: Annotated[Who, typer.Option("--plan", help="A customer's plan, or visitor.")] = Who.PREMIUM,
    company: Company = "demo",
    *,
    language: Language,
    data: Data = DEFAULT_DATA,
    as_json: Json = False,
) -> None:
    """List the tools that a plan may use."""
    from nexus_cli.tool_calls import TerminalCaller, catalogue

    listed = on_bus(data, lambda client: catalogue(client, TerminalCaller.of(plan, company, language)))
    if as_json:
        print_json([tool.to_wire() for tool in listed])
        return
    for tool in listed:
        required = tool.parameters.get("required", [])
        arguments = " ".join(
            f"{name}=…" if name in required else f"[{name}=…]" for name in tool.parameters.get("properties", {})
        )
        print(f"{tool.name} {arguments}".rstrip())
        print(f"    {tool.category}, {tool.required_plan}: {tool.description}")


def call(
    tool: Annotated[str, typer.Argument(help="The tool's name, as `nexus tools` shows it.")],
    arguments: Annotated[list[str] | None, typer.Argument(metavar="[KEY=VALUE]…", help="The tool's arguments.")] = None,
    who: Annotated[Who, typer.Option("--as", help="A customer of this plan, or a visitor.")] = Who.PREMIUM,
    company: Company = "demo",
    *,
    language: Language,
    data: Data = DEFAULT_DATA,
    as_json: Json = False,
) -> None:
    """Call one tool through the bus and print the data of its result (with --json the whole result)."""
    from nexus_cli.target import find_target
    from nexus_cli.tool_calls import TerminalCaller, call_tool, catalogue, read_arguments

    caller = TerminalCaller.of(who, company, language)

    async def ask(client: Client) -> ToolResult:
        declared = {entry.name: entry for entry in await catalogue(client, caller)}
        try:
            values = read_arguments(arguments or [], declared[tool].parameters if tool in declared else {})
        except ValueError as error:
            misuse(error)
        category = declared[tool].category if tool in declared else "market"
        return await call_tool(client, caller, find_target(data).principal_key, tool, category, values)

    result = on_bus(data, ask)
    if as_json:
        print_json(result.to_wire())
    elif result.success:
        print_json(result.data)
    if result.error is not None:
        message = result.error.message
        # Most messages name the fields already.
        faults = [
            f"{field.field}: {field.message}" for field in result.error.fields or [] if field.message not in message
        ]
        details = f" ({'; '.join(faults)})" if faults else ""
        fail(f"{result.error.code}: {message}{details}")
