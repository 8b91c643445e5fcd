"""Every number that the documents and the specification name, at N and at N+1: taken there, refused here by name."""

import asyncio
import json
import re
import time
import uuid
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from contracts.json_values import JsonObject, list_of, object_of, objects_of
from gateway.testing.http import Http
from tests.support.chat_client import ChatClient, Frame
from tests.support.json_schema import resolved
from tests.support.running_stack import RunningStack

ASYNCAPI = object_of(json.loads((Path(__file__).parents[2] / "docs/asyncapi/asyncapi.json").read_text()))
ADDRESSES = {"address", "url", "issuer", "siteUrl", "sitemap", "site", "allowedDomains", "allowedOrigins"}
"""Fields whose texts are addresses, whatever their pattern says."""
MORE = {
    "ChatMessage": {"role": "user", "content": "hi"},
    "InputItem": {"role": "user", "content": "hi"},
    "ClientTool": {"type": "function", "name": "f%s"},
}
"""What a schema needs beyond what it requires, since its fields depend on each other; %s: its number."""
IDS = re.compile(r"\^\[[^\]]*\]\{(\d+),(\d+)\}\$")
"""A pattern that bounds a length alone."""
AT_ONCE = 8
WITHIN = 120.0


@dataclass(frozen=True)
class Bound:
    """One bound of one field, with a value at it and one beyond it, each in a body that is else as small as can be."""

    field: str
    kind: str
    at: object
    beyond: object


class Bounds:
    """Those of a document's schemas."""

    def __init__(self, document: JsonObject) -> None:
        self._document = document

    def of(self, schema: JsonObject, name: str = "", seen: frozenset[str] = frozenset()) -> Iterator[Bound]:
        """All below this schema; an object is what is required of it, and the one field."""
        reference = str(schema.get("$ref", ""))
        if reference in seen:
            return
        seen |= {reference} if reference else frozenset()
        schema = resolved(schema, self._document)
        yield from self._own(schema, name)
        for key in ("anyOf", "oneOf", "allOf"):
            for one in list_of(schema.get(key, [])):
                yield from self.of(object_of(one), name, seen)
        for key, item in object_of(schema.get("properties", {})).items():
            whole = object_of(self.least(schema))
            for bound in self.of(object_of(item), key, seen):
                yield Bound(
                    f"{name}.{bound.field}".strip("."),
                    bound.kind,
                    {**whole, key: bound.at},
                    {**whole, key: bound.beyond},
                )
        if items := object_of(schema.get("items", {})):
            more = [self.least(items)] * (int(str(schema.get("minItems", 1))) - 1)
            for bound in self.of(items, name, seen):
                yield Bound(bound.field, f"each {bound.kind}", [bound.at, *more], [bound.beyond, *more])
        if values := _values(schema):
            for bound in self.of(values, name, seen):
                yield Bound(bound.field, f"each {bound.kind}", {"en": bound.at}, {"en": bound.beyond})

    def least(self, schema: JsonObject, name: str = "", number: int = 0) -> object:
        """The smallest value that fits; `number` tells several of them apart."""
        more = MORE.get(str(schema.get("$ref", "")).rpartition("/")[2].rpartition("__")[2], {})
        schema = resolved(schema, self._document)
        for key in ("anyOf", "oneOf", "allOf"):
            if variants := list_of(schema.get(key, [])):
                return self.least(object_of(variants[0]), name, number)
        if "const" in schema:
            return schema["const"]
        if given := list_of(schema.get("enum", [])):
            return given[number % len(given)]
        match schema.get("type"):
            case "object":
                required = list_of(schema.get("required", []))
                made = {
                    key: self.least(object_of(item), key, number)
                    for key, item in object_of(schema.get("properties", {})).items()
                    if key in required
                }
                return made | {key: item.replace("%s", str(number)) for key, item in more.items()}
            case "array":
                items = object_of(schema.get("items", {}))
                return [self.least(items, name, at) for at in range(int(str(schema.get("minItems", 0))))]
            case "string":
                return text(schema, int(str(schema.get("minLength", 1))) + len(str(number)), name, str(number))
            case "integer" | "number":
                return schema.get("minimum", 1)
            case "boolean":
                return False
            case _:
                return None

    def _own(self, schema: JsonObject, name: str) -> Iterator[Bound]:
        whole = schema.get("type") == "integer"
        for key, step in (("maximum", 1), ("minimum", -1)):
            if key in schema:
                most = float(str(schema[key]))
                at, beyond = (int(most), int(most) + step) if whole else (most, most + step * 0.001)
                yield Bound(name, key, at, beyond)
        lengths = {"maxLength": 1, "minLength": -1}
        if (bounded := IDS.fullmatch(str(schema.get("pattern", "")))) is not None:
            least, most = map(int, bounded.groups())
            schema = {**schema, "minLength": least, "maxLength": most}
        for key, step in lengths.items():
            if key in schema and "format" not in schema:
                most = int(str(schema[key]))
                yield Bound(name, key, text(schema, most, name), text(schema, most + step, name))
        items = object_of(schema.get("items", {}))
        for key, step in (("maxItems", 1), ("minItems", -1)):
            if key in schema and schema.get("type") == "array":
                most = int(str(schema[key]))
                made = [self.least(items, name, at) for at in range(most + 1)]
                yield Bound(name, key, made[:most], made[: most + step])
        if "maxProperties" in schema:
            most, values = int(str(schema["maxProperties"])), _values(schema)
            made = {f"k{at}": self.least(values, name, at) for at in range(most + 1)}
            yield Bound(name, "maxProperties", dict(list(made.items())[:most]), made)


def _values(schema: JsonObject) -> JsonObject:
    """The schema of a table's values."""
    patterns = list(object_of(schema.get("patternProperties", {})).values())
    return object_of(patterns[0] if patterns else schema.get("additionalProperties", {}))


def text(schema: JsonObject, length: int, name: str, end: str = "") -> str:
    """A text of that length that the pattern takes."""
    pattern = str(schema.get("pattern", ""))
    if schema.get("format") == "date-time":
        return "2026-01-02T10:00:00Z"
    if schema.get("format") == "date":
        return f"2026-01-{int(end or 0) % 28 + 1:02}"
    if "https?" in pattern or name in ADDRESSES:
        if length < 8 and not end:
            return "a" * length
        path = "" if name.startswith("allowed") else "/".ljust(length, "a")
        return f"https://shop{end}.example{path}"[: max(length, 20)]
    if "a-fA-F" in pattern:
        return str(uuid.uuid4())
    if "@" in pattern:
        return ("a" * length + "@b.example")[-length:] if length > 3 else "a@b"[:length]
    if name == "language":
        return f"es{'-variants' * 9}"[:length]
    if pattern.startswith("^#"):
        return "#a1b2c3"
    return ("a" * (length - len(end)) + end)[:length]


COMPANY = "limits"
OF_CUSTOMERS = (
    "/v2/tools",
    "/v2/memory",
    "/v2/analysis",
    "/v1/",
    "/v2/ui",
    "/v2/ag-ui",
    "/v2/users/me",
    "/v2/visitors/me",
)
ELSEWHERE = {"/v2/channels/chatwoot/{channelId}", "/a2a", "/v2/knowledge/refresh"}
"""A webhook is answered 200 whatever it says; JSON-RPC answers in its own errors (below); and a company without a site
has nothing to refresh."""
CUT = ("page.url", "page.title", "team.signedOut")
"""What a site says of itself, and who was signed out long ago, is cut, not refused."""


def token_for(stack: RunningStack, path: str) -> str:
    """Of a role that may do it."""
    role = "service" if path == "/v2/principals" else "user" if path.startswith(OF_CUSTOMERS) else "admin"
    return stack.mint(role, f"me-{role}", COMPANY, plan="premium")


async def test_every_bound_of_every_operation_holds_at_n_and_at_n_plus_one(stack: RunningStack, http: Http) -> None:
    await stack.create_company(COMPANY)
    document = object_of((await http("GET", "/openapi.json"))[1])
    bounds, wrong, places = Bounds(document), list[str](), asyncio.Semaphore(AT_ONCE)

    async def refused(method: str, path: str, name: str, options: dict[str, Any]) -> tuple[bool, object]:
        async with places:
            status, body, _ = await http(method, path, token=token_for(stack, path), **options)
        # A tool call answers with a result, everything else with a problem document.
        problems = objects_of(object_of(body).get("errors") or object_of(object_of(body).get("error")).get("fields"))
        faults = {part for problem in problems for part in str(problem["field"]).split(".") if not part.isdigit()}
        named = name in re.sub(r"\[\d+\]", "", str(body)) if path.startswith("/v1/") else name.split(".")[-1] in faults
        return status in (400, 422) and named, (status, body)

    async def tried(method: str, path: str, bound: Bound, place: str) -> None:
        for value, wanted in ((bound.at, False), (bound.beyond, True)):
            options: dict[str, Any] = {"json": value}
            address = path
            if place == "query":
                options = {"params": {bound.field: str(value)}}
            elif place == "header":
                options = {"headers": {bound.field: str(value)}}
            elif place == "path":
                options, address = {}, path.replace(f"{{{bound.field}}}", str(value) or "-")
            address = re.sub(r"\{companyId\}", COMPANY, address)
            address = re.sub(r"\{\w+\}", "a1", address)
            is_refused, told = await refused(method, address, bound.field, options)
            if is_refused is not wanted:
                wrong.append(
                    f"{method} {path} {place} {bound.field} {bound.kind} {'N+1' if wanted else 'N'}: {str(told)[:300]}"
                )

    async with asyncio.TaskGroup() as tasks:
        for path, operations in object_of(document["paths"]).items():
            for method, found in object_of(operations).items():
                operation = object_of(found)
                if path in ELSEWHERE or (method, path) == ("delete", "/v2/companies/{companyId}"):
                    continue
                for one in list_of(operation.get("parameters", [])):
                    parameter = object_of(one)
                    for bound in bounds.of(object_of(parameter["schema"]), str(parameter["name"])):
                        if parameter["in"] == "path" and bound.kind == "minLength":
                            continue  # an empty one is another path
                        tasks.create_task(tried(method.upper(), path, bound, str(parameter["in"])))
                content = object_of(object_of(operation.get("requestBody", {})).get("content", {}))
                for bound in bounds.of(object_of(object_of(content.get("application/json", {})).get("schema", {}))):
                    if bound.field in CUT:
                        continue
                    tasks.create_task(tried(method.upper(), path, bound, "body"))
    assert wrong == [], "\n".join([f"{len(wrong)}", *wrong])


async def test_every_bound_of_every_frame_holds_at_n_and_at_n_plus_one(visitor: ChatClient) -> None:
    wrong: list[str] = []
    bounds = Bounds(ASYNCAPI)
    for name, item in object_of(object_of(ASYNCAPI["components"])["messages"]).items():
        if not name.startswith("ws-client-") or name == "ws-client-hello":
            continue
        for bound in bounds.of(object_of(object_of(item)["payload"])):
            if bound.field in CUT:
                continue
            for value, wanted in ((bound.at, False), (bound.beyond, True)):
                mark = len(visitor.frames)
                await visitor.send_raw(json.dumps({"v": 1, **object_of(value)}))
                await visitor.send_frame("action.confirm", actionId=f"behind-{mark}")
                await visitor.wait_for("error", lambda frame, ref=f"behind-{mark}": frame.get("ref") == ref, after=mark)
                told = [frame for frame in visitor.frames[mark:] if frame["type"] == "error"][:-1]
                last = bound.field.split(".")[-1]
                refused = any(
                    frame["code"] in {"BAD_FIELD", "TEXT_TOO_LONG", "EMPTY_TEXT"} and last in frame["message"]
                    for frame in told
                )
                if refused is not wanted:
                    wrong.append(f"{name} {bound.field} {bound.kind} {'N+1' if wanted else 'N'}: {told}")
    assert wrong == [], "\n".join(wrong)


async def test_what_a_customer_corrects_holds_as_many_as_is_said_and_no_more(stack: RunningStack, http: Http) -> None:
    token = stack.mint("user", f"u-{uuid.uuid4().hex[:12]}", plan="pro")
    for field, most in (("favoriteSymbols", 20), ("frequentQuestions", 20), ("userNotes", 50)):
        made = [f"{chr(65 + number // 26)}{chr(65 + number % 26)}X" for number in range(most + 1)]
        status, body, _ = await http("PATCH", "/v2/memory", token=token, json={field: made[:most]})
        assert (status, len(body[field])) == (200, most), body
        status, body, _ = await http("PATCH", "/v2/memory", token=token, json={field: made})
        assert (status, body["code"], body["errors"][0]["field"]) == (422, "BAD_FIELD", field), body


def said(door: str, words: str, number: int) -> tuple[str, JsonObject]:
    """Path and body of a message through a door."""
    key = f"{door}-{number}"
    doors: dict[str, tuple[str, JsonObject]] = {
        "responses": ("/v1/responses", {"model": "nexus", "input": words, "store": True}),
        "ui": (
            "/v2/ui/chat",
            {"id": door, "message": {"id": key, "role": "user", "parts": [{"type": "text", "text": words}]}},
        ),
        "ag-ui": (
            "/v2/ag-ui",
            {
                "threadId": door, "runId": key, "messages": [{"id": key, "role": "user", "content": words}],
                "state": {}, "tools": [], "context": [], "forwardedProps": {},
            },
        ),
        "a2a": (
            "/a2a",
            {
                "jsonrpc": "2.0", "id": 1, "method": "SendMessage",
                "params": {"message": {"messageId": key, "role": "ROLE_USER", "parts": [{"text": words}]}},
            },
        ),
    }  # fmt: skip
    return doors[door]


REFUSED = {
    "responses": (400, "at most 8000 characters"),
    "ui": (422, "TEXT_TOO_LONG"),
    "ag-ui": (422, "TEXT_TOO_LONG"),
    "a2a": (200, "-32602"),
}
FULL = {
    "responses": (429, "rate_limit"),
    "ui": (429, "RATE_LIMITED"),
    "ag-ui": (429, "RATE_LIMITED"),
    "a2a": (429, "RATE_LIMITED"),
}
"""How each door says that a text is too long, and that there were too many messages."""


async def refusal(client: ChatClient) -> Frame:
    """What the socket answers to a message too many. Where the first twenty took longer than a minute, as many again
    are sent at once."""
    for number, kinds in ((1, {"error", "message.ack"}), (20, {"error"})):
        mark = len(client.frames)
        for _ in range(number):
            await client.send_frame("message.send", clientMessageId=str(uuid.uuid4()), text="one too many")
        frame = await client.wait_for("", lambda frame, kinds=kinds: frame["type"] in kinds, after=mark)
        if frame["type"] == "error":
            return frame
    raise AssertionError


async def silent(stack: RunningStack) -> None:
    """Opens a socket and says nothing."""
    began = time.monotonic()
    async with ChatClient(stack.url, "") as client:
        assert await client.wait_closed(WITHIN) == 4502
        assert time.monotonic() - began > 9.5


async def test_every_door_takes_eight_thousand_characters_and_all_together_twenty_messages_a_minute(
    stack: RunningStack, http: Http
) -> None:
    """Meanwhile somebody opens a socket and says nothing for ten seconds."""
    token = stack.mint("user", f"u-{uuid.uuid4().hex[:12]}")

    async def says(door: str, words: str, number: int) -> tuple[int, str]:
        path, body = said(door, words, number)
        status, answer, _ = await http("POST", path, token=token, json=body, headers={"A2A-Version": "1.0"})
        return status, answer if isinstance(answer, str) else json.dumps(answer)

    async def five(door: str) -> None:
        status, answer = await says(door, "🦜" * 8001, 0)
        assert (status, REFUSED[door][1] in answer) == (REFUSED[door][0], True), answer[:500]
        for number, words in enumerate(["🦜" * 8000, *["hello"] * 4]):
            status, answer = await says(door, words, number)
            assert (status, REFUSED[door][1] in answer) == (200, False), answer[:500]

    async with asyncio.TaskGroup() as meanwhile, stack.chat(token, locale="en") as client:
        meanwhile.create_task(silent(stack))
        began = time.monotonic()
        await asyncio.gather(*map(five, REFUSED))
        for door, (wanted, word) in FULL.items():
            error = await refusal(client)
            assert (error["code"], error["retryable"]) == ("RATE_LIMITED", True)
            assert 0 < error["retryAfterMs"] <= 60_001
            status, answer = await says(door, "one too many", 20)
            assert (status, word in answer) == (wanted, True), answer[:500]
        assert client.of_type("message.ack") == [] or time.monotonic() - began > 60
