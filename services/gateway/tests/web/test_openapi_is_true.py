"""The OpenAPI document against the running gateway, by schemathesis: no 500, no status that is not documented."""

import asyncio
import os
import sys
from pathlib import Path

import pytest
from nats.aio.client import Client

from contracts.rpc import CATALOGUE, CatalogueReply, CatalogueRequest
from gateway.testing import GatewayUnderTest, TokenMaker
from runtime.rpc import RpcServer

SECONDS = 110
"""For each role; some 8 s on an idle machine."""
CHECKS = "not_a_server_error,status_code_conformance,content_type_conformance,response_schema_conformance"


@pytest.mark.usefixtures("memory", "settings", "writers", "records", "completions", "knowledge", "desk")
@pytest.mark.parametrize("role", ["visitor", "user", "commercial", "admin", "service", "nobody"])
async def test_the_document_holds_whatever_is_sent(
    gateway: GatewayUnderTest, tokens: TokenMaker, nats_client: Client, tmp_path: Path, role: str
) -> None:
    async def no_tools(_: CatalogueRequest) -> CatalogueReply:
        return CatalogueReply(tools=[])

    await RpcServer(nats_client).serve(CATALOGUE, no_tools)
    await nats_client.flush()
    token = tokens.visitor("me") if role == "visitor" else tokens.user("me", role) if role != "nobody" else "none"
    # A call of a tool waits for an executor, and a response for an agent, which are not there: their own tests have it.
    command = [
        *(str(Path(sys.executable).with_name("schemathesis")), "run", f"{gateway.url}/openapi.json"),
        *("--header", f"Authorization: Bearer {token}", "--checks", CHECKS, "--phases", "fuzzing"),
        *("--max-examples", "5", "--seed", "1", "--no-shrink", "--warnings", "off", "--suppress-health-check", "all"),
        *("--request-timeout", "30", "--exclude-path", "/v2/tools/{name}", "--continue-on-failure"),
        *("--exclude-path", "/v1/responses"),
    ]
    process = await asyncio.create_subprocess_exec(
        *command,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
        cwd=tmp_path,
        env={**os.environ, "NO_COLOR": "1"},
    )
    try:
        async with asyncio.timeout(SECONDS):
            told, _ = await process.communicate()
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()
    assert process.returncode == 0, told.decode()
