"""`nexus company`: creates, lists, shows, changes and deletes companies, as the HTTP API does."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Annotated, Any, cast

import typer

from nexus_cli.commands.failures import fail, misuse
from nexus_cli.commands.options import DEFAULT_DATA, Data, Json, Language, confirmed, require_company
from nexus_cli.texts import TEXTS

app = typer.Typer(
    help="Companies: create one from its site, see and change its settings, delete it.", no_args_is_help=True
)

DEADLINE = 180.0
"""Seconds for a company that is made: a page is read and a question answered."""
Answer = dict[str, Any]
Company = Annotated[str, typer.Argument(help="The company's id, e.g. acme-rockets.", callback=require_company)]


@app.command()
def new(
    name: Annotated[str, typer.Argument(help="Its name; the id is made from it.")],
    site: Annotated[str, typer.Option(help="Where its site begins: https://www.example.com")],
    language: Annotated[str, typer.Option(help="The languages it speaks, its own first.")] = "es,en",
    profile: Annotated[str, typer.Option(help="Its product: support or trading.")] = "support",
    *,
    said: Language,
    data: Data = DEFAULT_DATA,
    as_json: Json = False,
) -> None:
    """Create a company: read its first page and print the tag that puts its chat there."""
    languages = [one.strip() for one in language.split(",") if one.strip()]
    body = {"name": name, "site": site, "languages": languages, "profile": profile}
    made = _ask(data, "POST", "", body, said=said)
    if as_json:
        _print_json(made)
        return
    tried = made.get("tried")
    read = TEXTS["company.pages_read"].in_language(said).format(pages=made["pages"], site=made["site"])
    _print_line("company", f"{made['companyId']} ({made['profile']}), {read}", said)
    _print_line("snippet", made["snippet"], said)
    if made.get("signInLink"):
        _print_line("sign_in", made["signInLink"], said)
    if tried:
        _print_line("question", tried["question"], said)
        _print_line("answer", tried["answer"], said)
    _print_missing(made, said)


@app.command("list")
def list_companies(*, said: Language, data: Data = DEFAULT_DATA, as_json: Json = False) -> None:
    """The companies of this installation."""
    items: list[Answer] = []
    cursor: str | None = ""
    while cursor is not None:
        page = _ask(data, "GET", f"?limit=200&cursor={cursor}", said=said)
        items += page["items"]
        cursor = page.get("next")
    if as_json:
        _print_json(items)
        return
    for one in items:
        answers = TEXTS[f"company.{'answers' if one['aiAutoResponseEnabled'] else 'silent'}"].in_language(said)
        print(f"{one['companyId']:<24} {one['profile']:<8} {answers:<11} {one.get('site') or '-'}")


@app.command()
def show(company: Company, *, said: Language, data: Data = DEFAULT_DATA, as_json: Json = False) -> None:
    """One company: its settings, its snippet and what is missing."""
    found = _ask(data, "GET", f"/{company}", said=said)
    if as_json:
        _print_json(found)
        return
    _print_line("snippet", found["snippet"], said)
    _print_missing(found, said)
    _print_warnings(_warnings(found), said)
    settings = {name: value for name, value in found["settings"].items() if name != "warnings"}
    for path, value in _leaves(settings):
        print(f"{path}={_text(value)}")


@app.command("get")
def get_settings(
    company: Company,
    keys: Annotated[list[str], typer.Argument(metavar="KEY…", help="e.g. toolConfig.maxIterations")],
    *,
    said: Language,
    data: Data = DEFAULT_DATA,
) -> None:
    """Print settings, each as `set` takes it."""
    settings = _ask(data, "GET", f"/{company}", said=said)["settings"]
    for key in keys:
        parent, _, name = key.rpartition(".")
        place = _found(settings, parent) if parent else settings
        if not isinstance(place, dict) or name not in place:
            fail(TEXTS["company.no_setting"].in_language(said).format(key=key, company=company))
        print(f"{key}={_text(_found(settings, key))}")


@app.command("set")
def set_settings(
    company: Company,
    settings: Annotated[list[str], typer.Argument(metavar="KEY=VALUE…", help="e.g. toolConfig.maxIterations=5")],
    *,
    said: Language,
    data: Data = DEFAULT_DATA,
    as_json: Json = False,
) -> None:
    """Change settings. VALUE is JSON or plain text; a list may be written a,b,c; null restores the default."""
    patch: Answer = {}
    for one in settings:
        key, equals, value = one.partition("=")
        if not equals or not key:
            misuse(f"{one}: write KEY=VALUE, e.g. profile=support")
        *path, last = key.split(".")
        place = patch
        for name in path:
            inner = place.setdefault(name, {})
            if not isinstance(inner, dict):
                misuse(f"{one}: {name} is given a value of its own too")
            place = cast(Answer, inner)
        place[last] = _value(key, value)
    known = _warnings(_ask(data, "GET", f"/{company}", said=said))
    changed = _ask(data, "PATCH", f"/{company}", patch, {"If-Match": "*"}, said=said)
    if as_json:
        _print_json(changed)
        return
    keys = [one.partition("=")[0] for one in settings]
    for key in keys:
        print(f"{key}={_text(_found(changed['settings'], key))}")
    _print_warnings([one for one in _warnings(changed) if one not in known or one["field"] in keys], said)


@app.command()
def call(
    company: Company,
    tool: Annotated[str, typer.Argument(help="One of its own tools; of an MCP server <server>_<tool>.")],
    arguments: Annotated[
        list[str] | None, typer.Argument(metavar="KEY=VALUE…", help="VALUE is JSON, or else text.")
    ] = None,
    *,
    said: Language,
    data: Data = DEFAULT_DATA,
) -> None:
    """Call one of a company's own tools (ownTools), as an assistant would. This makes a real call."""
    given: Answer = {}
    for one in arguments or ():
        key, equals, value = one.partition("=")
        if not equals or not key:
            misuse(f"{one}: write KEY=VALUE, e.g. order=A-17")
        given[key] = _value("", value)
    result = _ask(
        data, "POST", f"/{company}/tool-check", {"tool": tool, "arguments": given, "language": said}, said=said
    )
    _print_json(result)
    if not result["success"]:
        fail(result["error"]["message"])


@app.command("check-model")
def check_model(company: Company, *, said: Language, data: Data = DEFAULT_DATA, as_json: Json = False) -> None:
    """Ask the model of a company's settings for one word."""
    found = _ask(data, "POST", f"/{company}/model-check", {"language": said}, said=said)
    if as_json:
        _print_json(found)
    elif not found.get("error"):
        answered = TEXTS["company.answered"].in_language(said)
        print(f"{found['model']} ({found['provider']}) {answered} {found['ms']} ms: {found['text']}")
    if found.get("error"):
        fail(f"{found['model']} ({found['provider']}): {found['error']}")


@app.command("mcp-tools")
def mcp_tools(
    company: Company,
    server: Annotated[str, typer.Argument(help="The name of one of ownTools.mcp.")],
    *,
    said: Language,
    data: Data = DEFAULT_DATA,
) -> None:
    """List what an MCP server of a company's settings has to choose from, as ownTools.mcp[].tools takes it."""
    found = _ask(data, "POST", f"/{company}/mcp-tools", {"server": server, "language": said}, said=said)
    _print_json(found["tools"])


@app.command()
def delete(
    company: Company,
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask for confirmation.")] = False,
    *,
    said: Language,
    data: Data = DEFAULT_DATA,
) -> None:
    """Delete a company with everything it knows and all its conversations. For good."""
    if not yes and not confirmed(TEXTS["company.really"].in_language(said).format(company=company), said):
        fail(TEXTS["company.kept"].in_language(said))
    for one in _ask(data, "DELETE", f"/{company}", said=said)["removed"]:
        if one["removed"]:
            print(f"{one['place']:<24} {one['removed']}")
    print(TEXTS["company.deleted"].in_language(said).format(company=company))


def _found(settings: Any, key: str) -> Any:
    for name in key.split("."):
        settings = cast(Answer, settings).get(name) if isinstance(settings, dict) else None
    return settings


def _text(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _value(key: str, text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError as error:
        if not _is_list(key):
            return text
        if text.startswith(("[", "{")):
            misuse(f"{key}: this is no JSON: {error}")
        return [part.strip() for part in text.split(",")]


def _is_list(key: str) -> bool:
    """Whether a setting is a list of texts, by the interface's own schema."""
    from contracts.company import CompanyConfig

    schema = CompanyConfig.model_json_schema(by_alias=True)
    found: Answer = schema
    for name in key.split("."):
        while "$ref" in found:
            found = schema["$defs"][found["$ref"].rpartition("/")[2]]
        found = found.get("properties", {}).get(name) or {}
    return found.get("type") == "array"


def _leaves(value: Answer, path: str = "") -> list[tuple[str, Any]]:
    leaves: list[tuple[str, Any]] = []
    for name, one in value.items():
        inner = cast(Answer, one) if isinstance(one, dict) else {}
        leaves += _leaves(inner, f"{path}{name}.") if inner else [(f"{path}{name}", one)]
    return leaves


def _print_json(answer: object) -> None:
    print(json.dumps(answer, indent=2, ensure_ascii=False))


def _print_line(label: str, text: str, said: str) -> None:
    word = TEXTS[f"company.label.{label}"].in_language(said)
    print(f"{word:<9} {text}")


def _print_missing(found: Answer, said: str) -> None:
    for one in found["missing"]:
        _print_line("missing", one["message"], said)


def _warnings(found: Answer) -> list[Answer]:
    return found["settings"].get("warnings", [])


def _print_warnings(warnings: list[Answer], said: str) -> None:
    for one in warnings:
        _print_line("warning", f"{one['field']}: {one['message']}", said)


def _ask(
    data: Path,
    method: str,
    path: str,
    body: Answer | None = None,
    headers: dict[str, str] | None = None,
    *,
    said: str,
) -> Any:
    """The interface's answer, as an operator of the installation; ends the command where it is an error."""
    from nexus_cli.identity import development_token
    from nexus_cli.stack.errors import StackError
    from nexus_cli.target import find_target
    from runtime.errors import InvalidTokenError

    try:
        target = find_target(data)
        secret = target.jwt_secret
        token = development_token(secret, role="operator", user="nexus", company="-", plan="free", hours=1)
    except (StackError, InvalidTokenError, OSError) as error:
        fail(error)
    if target.gateway is None:
        fail("no gateway runs here: start one with `nexus up`")
    address = f"{target.gateway.rstrip('/')}/v2/companies{path}"
    told = {"Authorization": f"Bearer {token}", "Accept-Language": said, **(headers or {})}
    status, answer = asyncio.run(_sent(method, address, body, told))
    if status == 401:
        fail(TEXTS["company.other_secret"].in_language(said))
    if status >= 400:
        fail(refusal(status, answer))
    return answer


def refusal(status: int, answer: Answer) -> str:
    """A problem document in one line: its message, then the wrong fields that the message does not name."""
    problem = str(answer.get("detail") or answer.get("title") or status)
    faults = [f"{one['field']}: {one['message']}" for one in answer.get("errors") or ()]
    return "; ".join([problem, *(fault for fault in faults if fault not in problem)])


async def _sent(method: str, address: str, body: Answer | None, headers: dict[str, str]) -> tuple[int, Any]:
    import aiohttp

    limit = aiohttp.ClientTimeout(total=DEADLINE)
    try:
        async with (
            aiohttp.ClientSession(timeout=limit, trust_env=False) as http,
            http.request(method, address, json=body, headers=headers) as answer,
        ):
            return answer.status, await answer.json(content_type=None) if answer.status != 204 else {}
    except (aiohttp.ClientError, TimeoutError) as error:
        fail(f"the gateway does not answer at {address}: {error or type(error).__name__}")
