"""`nexus company`: creates, lists, shows, changes and deletes companies, as the HTTP API does."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Annotated, Any, cast

import typer

from nexus_cli.commands.failures import fail, misuse, print_json
from nexus_cli.commands.options import DEFAULT_DATA, Data, Json, Language, confirmed, require_company
from nexus_cli.texts import TEXTS

app = typer.Typer(
    help="Companies: create one from its site, see and change its settings, delete it.", no_args_is_help=True
)

DEADLINE = 180.0
"""Seconds to create a company, which includes reading a page and answering a question."""
Answer = dict[str, Any]
Company = Annotated[str, typer.Argument(help="The company's id, e.g. acme-rockets.", callback=require_company)]


@app.command()
def new(
    name: Annotated[str, typer.Argument(help="Its name; the id is made from it.")],
    site: Annotated[str, typer.Option(help="Where its site begins: https://www.example.com")],
    language: Annotated[str, typer.Option(help="The languages it speaks, its own first.")] = "es,en",
    profile: Annotated[str, typer.Option(help="Its product: support or trading.")] = "support",
    *,
    locale: Language,
    data: Data = DEFAULT_DATA,
    as_json: Json = False,
) -> None:
    """Create a company: read its first page and print the tag that puts its chat there."""
    languages = [tag.strip() for tag in language.split(",") if tag.strip()]
    body = {"name": name, "site": site, "languages": languages, "profile": profile}
    created = _ask(data, "POST", "", body, locale=locale)
    if as_json:
        print_json(created)
        return
    trial = created.get("tried")
    pages_read = _text("pages_read", locale, pages=created["pages"], site=created["site"])
    _print_line("company", f"{created['companyId']} ({created['profile']}), {pages_read}", locale)
    _print_line("snippet", created["snippet"], locale)
    if created.get("signInLink"):
        _print_line("sign_in", created["signInLink"], locale)
    if trial:
        _print_line("question", trial["question"], locale)
        _print_line("answer", trial["answer"], locale)
    _print_missing(created, locale)


@app.command("list")
def list_companies(*, locale: Language, data: Data = DEFAULT_DATA, as_json: Json = False) -> None:
    """The companies of this installation."""
    items: list[Answer] = []
    cursor: str | None = ""
    while cursor is not None:
        page = _ask(data, "GET", f"?limit=200&cursor={cursor}", locale=locale)
        items += page["items"]
        cursor = page.get("next")
    if as_json:
        print_json(items)
        return
    for company in items:
        answers = _text("answers" if company["aiAutoResponseEnabled"] else "silent", locale)
        print(f"{company['companyId']:<24} {company['profile']:<8} {answers:<11} {company.get('site') or '-'}")


@app.command()
def show(company: Company, *, locale: Language, data: Data = DEFAULT_DATA, as_json: Json = False) -> None:
    """One company: its settings, its snippet and what is missing."""
    company_view = _ask(data, "GET", f"/{company}", locale=locale)
    if as_json:
        print_json(company_view)
        return
    _print_line("snippet", company_view["snippet"], locale)
    _print_missing(company_view, locale)
    _print_warnings(_warnings(company_view), locale)
    settings = {name: value for name, value in company_view["settings"].items() if name != "warnings"}
    for path, value in _leaves(settings):
        print(f"{path}={_to_text(value)}")


@app.command("get")
def get_settings(
    company: Company,
    keys: Annotated[list[str], typer.Argument(metavar="KEY…", help="e.g. toolConfig.maxIterations")],
    *,
    locale: Language,
    data: Data = DEFAULT_DATA,
) -> None:
    """Print settings, each as `set` takes it."""
    settings = _ask(data, "GET", f"/{company}", locale=locale)["settings"]
    for key in keys:
        parent, _, name = key.rpartition(".")
        section = _setting_at(settings, parent) if parent else settings
        if not isinstance(section, dict) or name not in section:
            fail(_text("no_setting", locale, key=key, company=company))
        print(f"{key}={_to_text(_setting_at(settings, key))}")


@app.command("set")
def set_settings(
    company: Company,
    settings: Annotated[list[str], typer.Argument(metavar="KEY=VALUE…", help="e.g. toolConfig.maxIterations=5")],
    *,
    locale: Language,
    data: Data = DEFAULT_DATA,
    as_json: Json = False,
) -> None:
    """Change settings. VALUE is JSON or plain text; a list may be written a,b,c; null restores the default."""
    patch: Answer = {}
    for setting in settings:
        key, equals, value = setting.partition("=")
        if not equals or not key:
            misuse(_text("write_setting", locale, argument=setting))
        *path, leaf = key.split(".")
        parent = patch
        for name in path:
            inner = parent.setdefault(name, {})
            if not isinstance(inner, dict):
                misuse(_text("set_twice", locale, argument=setting, name=name))
            parent = cast(Answer, inner)
        parent[leaf] = _parse_value(key, value, locale)
    earlier_warnings = _warnings(_ask(data, "GET", f"/{company}", locale=locale))
    changed = _ask(data, "PATCH", f"/{company}", patch, {"If-Match": "*"}, locale=locale)
    if as_json:
        print_json(changed)
        return
    keys = [setting.partition("=")[0] for setting in settings]
    for key in keys:
        print(f"{key}={_to_text(_setting_at(changed['settings'], key))}")
    _print_warnings(
        [warning for warning in _warnings(changed) if warning not in earlier_warnings or warning["field"] in keys],
        locale,
    )


@app.command()
def call(
    company: Company,
    tool: Annotated[str, typer.Argument(help="One of its own tools; of an MCP server <server>_<tool>.")],
    arguments: Annotated[
        list[str] | None, typer.Argument(metavar="KEY=VALUE…", help="VALUE is JSON, or else text.")
    ] = None,
    *,
    locale: Language,
    data: Data = DEFAULT_DATA,
) -> None:
    """Call one of a company's own tools (ownTools), as an assistant would. This makes a real call."""
    values: Answer = {}
    for argument in arguments or ():
        key, equals, value = argument.partition("=")
        if not equals or not key:
            misuse(_text("write_argument", locale, argument=argument))
        values[key] = _parse_value("", value, locale)
    result = _ask(
        data, "POST", f"/{company}/tool-check", {"tool": tool, "arguments": values, "language": locale}, locale=locale
    )
    print_json(result)
    if not result["success"]:
        fail(result["error"]["message"])


@app.command("check-model")
def check_model(company: Company, *, locale: Language, data: Data = DEFAULT_DATA, as_json: Json = False) -> None:
    """Ask the model of a company's settings for one word."""
    check = _ask(data, "POST", f"/{company}/model-check", {"language": locale}, locale=locale)
    if as_json:
        print_json(check)
    elif not check.get("error"):
        print(f"{check['model']} ({check['provider']}) {_text('answered', locale)} {check['ms']} ms: {check['text']}")
    if check.get("error"):
        fail(f"{check['model']} ({check['provider']}): {check['error']}")


@app.command("mcp-tools")
def mcp_tools(
    company: Company,
    server: Annotated[str, typer.Argument(help="The name of one of ownTools.mcp.")],
    *,
    locale: Language,
    data: Data = DEFAULT_DATA,
) -> None:
    """List what an MCP server of a company's settings has to choose from, as ownTools.mcp[].tools takes it."""
    listing = _ask(data, "POST", f"/{company}/mcp-tools", {"server": server, "language": locale}, locale=locale)
    print_json(listing["tools"])


@app.command()
def delete(
    company: Company,
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask for confirmation.")] = False,
    *,
    locale: Language,
    data: Data = DEFAULT_DATA,
) -> None:
    """Delete a company with everything it knows and all its conversations. For good."""
    if not yes and not confirmed(_text("really", locale, company=company), locale):
        fail(_text("kept", locale))
    for entry in _ask(data, "DELETE", f"/{company}", locale=locale)["removed"]:
        if entry["removed"]:
            print(f"{entry['place']:<24} {entry['removed']}")
    print(_text("deleted", locale, company=company))


def _text(name: str, locale: str, /, **values: object) -> str:
    return TEXTS[f"company.{name}"].in_language(locale).format(**values)


def _setting_at(settings: Any, key: str) -> Any:
    for name in key.split("."):
        settings = cast(Answer, settings).get(name) if isinstance(settings, dict) else None
    return settings


def _to_text(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _parse_value(key: str, text: str, locale: str) -> Any:
    try:
        return json.loads(text)
    except ValueError as error:
        if not _is_list(key):
            return text
        if text.startswith(("[", "{")):
            misuse(_text("no_json", locale, key=key, error=error))
        return [part.strip() for part in text.split(",")]


def _is_list(key: str) -> bool:
    """Whether a setting is a list, according to the schema of the settings."""
    from contracts.company import CompanyConfig

    schema = CompanyConfig.model_json_schema(by_alias=True)
    field_schema: Answer = schema
    for name in key.split("."):
        while "$ref" in field_schema:
            field_schema = schema["$defs"][field_schema["$ref"].rpartition("/")[2]]
        field_schema = field_schema.get("properties", {}).get(name) or {}
    return field_schema.get("type") == "array"


def _leaves(value: Answer, path: str = "") -> list[tuple[str, Any]]:
    leaves: list[tuple[str, Any]] = []
    for name, field_value in value.items():
        inner = cast(Answer, field_value) if isinstance(field_value, dict) else {}
        leaves += _leaves(inner, f"{path}{name}.") if inner else [(f"{path}{name}", field_value)]
    return leaves


def _print_line(label: str, text: str, locale: str) -> None:
    print(f"{_text(f'label.{label}', locale):<9} {text}")


def _print_missing(company_view: Answer, locale: str) -> None:
    for entry in company_view["missing"]:
        _print_line("missing", entry["message"], locale)


def _warnings(company_view: Answer) -> list[Answer]:
    return company_view["settings"].get("warnings", [])


def _print_warnings(warnings: list[Answer], locale: str) -> None:
    for warning in warnings:
        _print_line("warning", f"{warning['field']}: {warning['message']}", locale)


def _ask(
    data: Path,
    method: str,
    path: str,
    body: Answer | None = None,
    headers: dict[str, str] | None = None,
    *,
    locale: str,
) -> Any:
    """Calls /v2/companies as an operator of the installation and returns the answer. An error ends the command."""
    from nexus_cli.identity import development_token
    from nexus_cli.target import find_target

    target = find_target(data)
    secret = target.jwt_secret
    token = development_token(secret, role="operator", user="nexus", company="-", plan="free", hours=1)
    if target.gateway is None:
        fail(_text("no_gateway", locale))
    address = f"{target.gateway.rstrip('/')}/v2/companies{path}"
    all_headers = {"Authorization": f"Bearer {token}", "Accept-Language": locale, **(headers or {})}
    status, answer = asyncio.run(_send(method, address, body, all_headers, locale))
    if status == 401:
        fail(_text("other_secret", locale))
    if status >= 400:
        fail(refusal(status, answer))
    return answer


def refusal(status: int, answer: Answer) -> str:
    """A problem document as one line: its message, then the faults that the message does not contain."""
    problem = str(answer.get("detail") or answer.get("title") or status)
    faults = [f"{entry['field']}: {entry['message']}" for entry in answer.get("errors") or ()]
    return "; ".join([problem, *(fault for fault in faults if fault not in problem)])


async def _send(
    method: str, address: str, body: Answer | None, headers: dict[str, str], locale: str
) -> tuple[int, Any]:
    import aiohttp

    timeout = aiohttp.ClientTimeout(total=DEADLINE)
    try:
        async with (
            aiohttp.ClientSession(timeout=timeout, trust_env=False) as http,
            http.request(method, address, json=body, headers=headers) as answer,
        ):
            return answer.status, await answer.json(content_type=None) if answer.status != 204 else {}
    except (aiohttp.ClientError, TimeoutError) as error:
        fail(_text("no_answer", locale, address=address, error=error or type(error).__name__))
