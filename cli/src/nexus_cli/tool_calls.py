"""Lists and calls tools over the bus, like any other service."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Self

from nats.aio.client import Client
from pydantic import SecretStr

from contracts.channels import tool_request
from contracts.envelope import CloudEvent
from contracts.events.tool import ToolCallCompleted, ToolCallRequested, ToolResult
from contracts.ids import uuid7
from contracts.json_values import is_list, object_of
from contracts.tools_rpc import CATALOGUE, CatalogueRequest, CatalogueTool
from runtime.auth.principals import PrincipalSigner
from runtime.bus.publisher import Publisher
from runtime.calls.rpc import RpcClient
from runtime.errors import RpcError
from runtime.settings import TokenSettings

_ANSWER_SECONDS = 75.0
_PRINCIPAL_SECONDS = 600


@dataclass(frozen=True)
class TerminalCaller:
    """The caller of tools: a visitor, or the development user of a plan."""

    user: str
    role: str
    plan: str
    company: str
    language: str

    @classmethod
    def of(cls, kind: str, company: str, language: str) -> Self:
        """The development identity behind `--as`: visitor, free, pro, premium."""
        role, plan = ("visitor", "free") if kind == "visitor" else ("user", kind)
        return cls(user=f"demo-{kind}", role=role, plan=plan, company=company, language=language)

    def principal(self, key: str) -> str:
        """Signs a principal like the gateway's, valid for ten minutes.

        Raises:
            NotReadyError: the key is a public one, which services have in production.
        """
        signer = PrincipalSigner(TokenSettings(principal_key=SecretStr(key)))
        return signer.issue(sub=self.user, role=self.role, company=self.company, plan=self.plan, ttl=_PRINCIPAL_SECONDS)


async def catalogue(client: Client, caller: TerminalCaller) -> list[CatalogueTool]:
    """The tools that the caller may use.

    Raises:
        RpcError: no tool-executor answers.
    """
    request = CatalogueRequest(
        company_id=caller.company, role=caller.role, plan=caller.plan, language=caller.language, user_id=caller.user
    )
    return (await RpcClient(client).call(CATALOGUE, request)).tools


async def call_tool(
    client: Client,
    caller: TerminalCaller,
    principal_key: str,
    tool: str,
    category: str,
    arguments: Mapping[str, object],
) -> ToolResult:
    """Calls a tool through the work queue and waits for its result in an inbox.

    Raises:
        RpcError: no result within 75 s.
        PublishFailedError: the bus did not accept the call.
    """
    inbox = client.new_inbox()
    subscription = await client.subscribe(inbox, max_msgs=1)  # pyright: ignore[reportUnknownMemberType]
    call_id = uuid7()
    deadline = datetime.now(UTC) + timedelta(seconds=_ANSWER_SECONDS)
    requested = ToolCallRequested(
        call_id=call_id,
        tool=tool,
        arguments=dict(arguments),
        principal=caller.principal(principal_key),
        company_id=caller.company,
        reply_to=inbox,
        deadline=deadline,
        language=caller.language,
    )
    event = CloudEvent[ToolCallRequested](source="/nexus/cli", type="tools.call.requested.v1", data=requested)
    await Publisher(client).append(tool_request(category), event, stream="TOOLS", msg_id=f"{call_id}.1")
    try:
        message = await subscription.next_msg(timeout=_ANSWER_SECONDS)
    except TimeoutError:
        raise RpcError("TIMEOUT", f"no result from {tool} within {_ANSWER_SECONDS:g} s", retryable=True) from None
    return CloudEvent[ToolCallCompleted].parse(message.data).data.result


def read_arguments(pairs: Sequence[str], schema: Mapping[str, object]) -> dict[str, object]:
    """Parses `key=value` words as arguments of a tool: as JSON if possible, but as text if the schema says so.

    Raises:
        ValueError: a word without `=`.
    """
    properties = object_of(schema.get("properties"))
    arguments: dict[str, object] = {}
    for pair in pairs:
        key, separator, text = pair.partition("=")
        if not separator or not key:
            raise ValueError(f"{pair!r} is not an argument: write key=value")
        arguments[key] = _parse_value(text, object_of(properties.get(key)))
    return arguments


def _parse_value(text: str, declared: Mapping[str, object]) -> object:
    kinds = declared.get("type")
    # Null, which an optional argument may be too, is not typed: the argument is left out instead.
    kind = kinds[0] if is_list(kinds) and kinds else kinds
    if kind == "string":
        return text
    if kind == "array" and not text.startswith("["):
        return [_parse_value(part, object_of(declared.get("items"))) for part in text.split(",")]
    try:
        return json.loads(text)
    except ValueError:
        return text
