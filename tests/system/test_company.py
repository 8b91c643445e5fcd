"""A company's first hour: made with one command over its own site on this machine, answering, changed, deleted."""

import asyncio
import json
from typing import Any

import aiohttp

from gateway.testing.http import Http
from tests.support import raw_scan
from tests.support.own_site import own_site
from tests.support.running_stack import RunningStack

TRADERS = {"market", "portfolio", "news", "ml", "trading", "alerts", "calculate", "education"}
ORDER = {"symbol": "IBM", "side": "buy", "quantity": 1, "order_type": "market"}


async def nexus(stack: RunningStack, *arguments: str) -> str:
    done = await asyncio.to_thread(stack.nexus, *arguments, "--data", str(stack.data))
    assert done.returncode == 0, done.stderr
    return done.stdout


async def test_a_company_is_made_answers_on_its_own_site_and_is_deleted_with_one_command_each(
    stack: RunningStack,
) -> None:
    async with own_site() as site, aiohttp.ClientSession() as session:
        http = Http(stack.url, session)
        made = json.loads(
            await nexus(stack, "company", "new", "Clínica Sol", "--site", site, "--language", "es,en", "--json")
        )
        company = made["companyId"]
        assert (company, made["profile"], made["pages"]) == ("clinica-sol", "support", 1)
        assert f'data-company="{company}"' in made["snippet"]
        assert "9 a 14" in made["tried"]["answer"], made["tried"]
        assert {one["step"] for one in made["missing"]} == {"model", "widget"}
        token = made["signInLink"].partition("#token=")[2]
        status, settings, _ = await http("GET", f"/v2/llm/config/{company}", token=token)
        assert (status, settings["profile"], settings["name"]) == (200, "support", "Clínica Sol")

        # Its own origin on this machine may embed the chat; another one may not.
        assert (await http("POST", "/v2/visitors", json={"companyId": company}, headers={"Origin": site}))[0] == 201
        other = {"Origin": "http://127.0.0.1:1"}
        assert (await http("POST", "/v2/visitors", json={"companyId": company}, headers=other))[0] == 403

        listed = json.loads(await nexus(stack, "company", "list", "--json"))
        assert {"demo", company} <= {one["companyId"] for one in listed}
        changed = await nexus(
            stack, "company", "set", company, "responseDelayMs=0", "languages=es", "assistant.name=Lía",
            "toolConfig.enabledTools=get_price", "--locale", "en",
        )  # fmt: skip
        assert 'languages=["es"]' in changed
        assert "warning   toolConfig.enabledTools" in changed
        shown = await nexus(stack, "company", "show", company)
        assert "assistant.name=Lía" in shown

        await no_market_over_any_door(stack, http, company)
        async with stack.visit(company, locale="en") as chat:
            # It speaks Spanish alone, whoever asks.
            assert "9 a 14" in (await chat.ask("¿Cuál es el horario de consulta?"))["text"]

        assert f"{company} is deleted" in await nexus(stack, "company", "delete", company, "--yes", "--locale", "en")
        assert company not in await nexus(stack, "company", "list")
        assert (await http("POST", "/v2/visitors", json={"companyId": company}))[0] == 404
        left = await raw_scan.streams(stack) | await raw_scan.databases(stack)
        assert [place for place, text in left.items() if "9 a 14" in text] == []


async def no_market_over_any_door(stack: RunningStack, http: Http, company: str) -> None:
    """A customer of the highest plan finds nothing of a trading platform: tools, MCP, completions, chat, analyses."""
    customer = stack.mint("user", "ana", company, "premium")
    _, tools, _ = await http("GET", "/v2/tools", token=customer)
    assert {tool["category"] for tool in tools["tools"]}.isdisjoint(TRADERS), tools
    status, result, _ = await http("POST", "/v2/tools/create_paper_order", token=customer, json={"arguments": ORDER})
    assert (status, result["error"]["code"]) == (404, "TOOL_NOT_FOUND")
    assert (await http("POST", "/v2/analysis", token=customer, json={"query": "How has IBM done?"}))[0] == 403
    body: dict[str, Any] = {"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {}}
    accept = {"Accept": "application/json, text/event-stream"}
    _, listed, _ = await http("POST", "/mcp", token=customer, json=body, headers=accept)
    assert "create_paper_order" not in str(listed)
    assert "search_memory" in str(listed)
    asked = {"model": "nexus", "messages": [{"role": "user", "content": "compra 3 IBM"}]}
    _, completed, _ = await http("POST", "/v1/chat/completions", token=customer, json=asked)
    said = completed["choices"][0]["message"]["content"]
    assert "plan" not in said.lower(), said
    assert "IBM" not in said, said
    async with stack.chat(customer, locale="es") as chat:
        for text in ("compra 3 IBM", "muestra mi cartera", "sí, confirma la orden", "What is AAPL trading at?"):
            answer = await chat.ask(text)
            assert not answer["actions"], answer
            assert not any(word in answer["text"] for word in ("AAPL", "USD", "plan ", "orden")), answer["text"]
