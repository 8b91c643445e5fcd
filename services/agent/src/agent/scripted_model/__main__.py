"""``python -m agent.scripted_model [--port N] [--tokens N] [--first-token-ms N] [--token-ms N] [--script FILE]``."""

import argparse
import asyncio
import contextlib
import signal
import sys
from pathlib import Path

from pydantic import TypeAdapter

from agent.scripted_model.script import Rule, Script, ScriptedReply
from agent.scripted_model.server import ScriptedModel


async def serve(arguments: argparse.Namespace) -> None:
    """Serves until SIGTERM or SIGINT; prints the base URL as the first line on stdout."""
    default = ScriptedReply(
        tokens=arguments.tokens, first_token_ms=arguments.first_token_ms, token_ms=arguments.token_ms
    )
    rules: list[Rule] = []
    if arguments.script is not None:
        rules = TypeAdapter(list[Rule]).validate_json(arguments.script.read_bytes())
    server = ScriptedModel(Script(rules, default))
    await server.start(port=arguments.port)
    sys.stdout.write(f"{server.base_url}\n")
    sys.stdout.flush()
    stop = asyncio.Event()
    for signal_number in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(signal_number, stop.set)
    await stop.wait()
    await server.stop()


def main() -> None:
    """Parses the command line and serves."""
    parser = argparse.ArgumentParser(
        prog="python -m agent.scripted_model", description="An OpenAI-compatible stand-in."
    )
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--tokens", type=int, default=20)
    parser.add_argument("--first-token-ms", type=float, default=0.0)
    parser.add_argument("--token-ms", type=float, default=0.0)
    parser.add_argument("--script", type=Path, default=None, help="JSON: a list of rules")
    with contextlib.suppress(KeyboardInterrupt):
        asyncio.run(serve(parser.parse_args()))


if __name__ == "__main__":
    main()
