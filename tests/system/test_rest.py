"""A company's first day over HTTP: its admin sets it up, its people write with help, its customer sees what is kept."""

import uuid
from typing import Any

from gateway.testing.http import Http
from runtime.testing.servers import eventually
from tests.support.running_stack import RunningStack


async def test_an_admin_sets_the_company_up_and_sees_what_it_used(
    stack: RunningStack, http: Http, company: str
) -> None:
    admin = stack.mint("admin", "root", company)
    path = f"/v2/llm/config/{company}"
    async with stack.visit(company, locale="en") as visitor:
        await visitor.ask("what can you do?")

        ana = stack.mint("commercial", "ana", company)
        asked = {"conversationId": visitor.conversation}
        status, body, _ = await http("POST", "/v2/llm/suggestions", token=ana, json=asked)
        assert status == 200, body
        assert len(set(body["suggestions"])) == 3
        status, body, _ = await http("POST", "/v2/llm/improve", token=ana, json={"text": "we open at 9"})
        assert status == 200, body
        assert body["text"]

        _, _, headers = await http("GET", path, token=admin)
        patch = {"aiSuggestionsEnabled": False}
        changed = await http("PATCH", path, token=admin, headers={"If-Match": headers["etag"]}, json=patch)
        assert changed[0] == 200, changed[1]
        assert (await http("POST", "/v2/llm/suggestions", token=ana, json=asked))[0] == 403

    # Without a key the rules answered: a turn that used no tokens, and there is nothing to pay.
    async def used() -> Any:
        _, usage, _ = await http("GET", "/v2/usage", token=admin)
        return usage if any(day["turns"] for day in usage["days"]) else None

    usage = await eventually(used)
    assert usage["budget"] == {"dailyTokens": None, "usedToday": 0}
    (day,) = usage["days"]
    assert day == {
        "date": day["date"], "turns": 1, "promptTokens": 0, "completionTokens": 0, "cost": 0, "currency": "USD",
            "unpricedTokens": None,
    }  # fmt: skip


async def test_a_customer_reads_corrects_takes_along_and_deletes_what_is_kept(
    stack: RunningStack, http: Http, company: str
) -> None:
    customer = stack.mint("user", f"u-{uuid.uuid4().hex}", company, plan="pro")
    async with stack.chat(customer, locale="en") as client:
        await client.ask("what is IBM trading at?")
        conversation = client.conversation
    status, body, _ = await http("PATCH", "/v2/memory", token=customer, json={"userNotes": ["no leverage"]})
    assert (status, body["userNotes"]) == (200, ["no leverage"])

    async def exported() -> Any:
        _, whole, _ = await http("GET", "/v2/memory/export", token=customer)
        texts = [message["text"] for part in whole["conversations"] for message in part["messages"]]
        return whole if "what is IBM trading at?" in texts and len(texts) == 2 else None

    whole = await eventually(exported)
    assert (whole["memory"]["userNotes"], whole["missing"]) == (["no leverage"], [])
    assert (await http("DELETE", "/v2/users/me", token=customer))[0] == 200
    assert "userNotes" not in [
        name for name, value in (await http("GET", "/v2/memory", token=customer))[1].items() if value
    ]
    _, whole, _ = await http("GET", "/v2/memory/export", token=customer)
    assert whole["conversations"] == []
    assert (await http("GET", f"/v2/conversations/{conversation}", token=customer))[0] == 404


async def test_providers_are_listed_with_their_models(stack: RunningStack, http: Http, company: str) -> None:
    admin = stack.mint("admin", "root", company)
    status, body, _ = await http("GET", "/v2/llm/config/providers", token=admin)
    assert status == 200, body
    providers = {one["id"]: one for one in body["providers"]}
    assert providers["offline"]["configured"]
    default = [model["id"] for model in providers["groq"]["models"] if model.get("default")]
    assert default == ["llama-3.3-70b-versatile"]
