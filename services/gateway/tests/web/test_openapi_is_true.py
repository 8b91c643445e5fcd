"""The OpenAPI document against the running gateway, by schemathesis: no 500, no status that is not documented."""

import asyncio
import json
import sys
from pathlib import Path

import pytest
from nats.aio.client import Client

from contracts.sign_in_rpc import (
    SIGN_IN_BEGIN,
    SIGN_IN_FINISH,
    Problem,
    SignInBegin,
    SignInBegun,
    SignInFinish,
    SignInFinished,
)
from gateway.testing.harness import GatewayUnderTest
from gateway.testing.tokens import TokenMaker
from runtime.calls.rpc import RpcServer

SECONDS = 280
"""Some 20 s on an idle machine."""
LEAST = 1_500
"""Requests: some hundred operations, six roles, up to five examples of each."""


@pytest.mark.usefixtures(
    "memory", "settings", "writers", "records", "completions", "knowledge", "desk", "share", "no_tools"
)
async def test_the_document_holds_whatever_is_sent_by_any_role(
    gateway: GatewayUnderTest, tokens: TokenMaker, nats_client: Client
) -> None:
    async def nowhere(_: SignInBegin) -> SignInBegun:
        return SignInBegun(problem=Problem(reason="noProvider"))

    async def nobody(_: SignInFinish) -> SignInFinished:
        return SignInFinished(problem=Problem(reason="unknown"))

    server = RpcServer(nats_client)
    await server.serve(SIGN_IN_BEGIN, nowhere)
    await server.serve(SIGN_IN_FINISH, nobody)
    await nats_client.flush()
    known = {role: tokens.user("me", role) for role in ("user", "commercial", "admin", "service")}
    sent_as = json.dumps({"visitor": tokens.visitor("me"), **known, "nobody": "none"})
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        str(Path(__file__).with_name("every_role.py")),
        gateway.url,
        sent_as,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
    )
    try:
        async with asyncio.timeout(SECONDS):
            told, _ = await process.communicate()
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()
    assert process.returncode == 0, told.decode()
    assert int(told.split()[0]) > LEAST
