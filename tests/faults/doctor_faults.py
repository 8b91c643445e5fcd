"""``python -m tests.faults.doctor_faults [--only WORD]``: `make doctor-faults`.

Twenty faults, one after another, at one stack whose bus has three servers: each is staged, ``nexus doctor --live`` is
run as the command that it is, and what it says is held against the fault. Prints, for each, at which look it was named,
how long the command took and for how long of that it waited for a processor; exit code 1 where one was not named at the
first look, or not within ten seconds beside that waiting. Needs root: a small disk is mounted.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import signal
import ssl
import subprocess
import sys
import tempfile
from collections.abc import AsyncGenerator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, cast

from redis.asyncio import Redis

from agent.scripted_model.script import ScriptedReply
from runtime.testing.servers import eventually, freeze
from tests.cluster.certificates import make_certificates
from tests.faults.doctor_stage import POOR, Stage, staged_stack

PROMISED = 10.0
"""Seconds for the command, start and end of the process included, but for those in which it waited for a processor."""
LOOKS = 5
"""After so many without its name the fault counts as not named."""
CHAT_SUBJECT = "chat.acme.poisoned.message.visitor.v1"


@dataclass(frozen=True)
class StagedFault:
    """`words`: what the finding of `subject` says at least."""

    name: str
    stage: Callable[[Stage], AbstractAsyncContextManager[None]]
    subject: str
    words: tuple[str, ...] = ()

    def place(self, found: list[dict[str, str]]) -> int | None:
        """At which place it is named, with what to do; None: it is not."""
        for place, one in enumerate(found, 1):
            if one["subject"] == self.subject and one["advice"] and all(word in one["text"] for word in self.words):
                return place
        return None


def _model_says(reply: ScriptedReply) -> Callable[[Stage], AbstractAsyncContextManager[None]]:
    @asynccontextmanager
    async def staged(stage: Stage) -> AsyncGenerator[None]:
        stage.model.say(default=reply)
        yield
        stage.model.say()

    return staged


def _asked_with(
    prepared: Callable[[Stage], AbstractAsyncContextManager[list[str]]],
) -> Callable[[Stage], AbstractAsyncContextManager[None]]:
    @asynccontextmanager
    async def staged(stage: Stage) -> AsyncGenerator[None]:
        async with prepared(stage) as arguments:
            stage.arguments = arguments
            yield
        stage.arguments = []

    return staged


@_asked_with
@asynccontextmanager
async def budget_spent(_: Stage) -> AsyncGenerator[list[str]]:
    """Of a company that may spend nothing."""
    yield ["--company", POOR]


@_asked_with
@asynccontextmanager
async def disk_nearly_full(stage: Stage) -> AsyncGenerator[list[str]]:
    """The data directory lies on a disk of 24 MiB."""
    disk = stage.scratch / "disk"
    disk.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=24m", "tmpfs", str(disk)], check=True)
    yield ["--data", str(disk)]
    subprocess.run(["umount", "--lazy", str(disk)], check=True)


@_asked_with
@asynccontextmanager
async def certificate_expired(stage: Stage) -> AsyncGenerator[list[str]]:
    """Of whoever stands before the gateway."""
    make_certificates(stage.scratch, good_until=datetime.now(UTC) - timedelta(days=1))
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.load_cert_chain(stage.scratch / "server.pem", stage.scratch / "server.key")
    async with await asyncio.start_server(lambda _, writer: writer.close(), "127.0.0.1", 0, ssl=context) as front:
        yield ["--service", f"gateway=https://127.0.0.1:{front.sockets[0].getsockname()[1]}"]


@asynccontextmanager
async def clock_off(stage: Stage) -> AsyncGenerator[None]:
    """This machine's, by a minute."""
    stage.program = "tests.faults.nexus_a_minute_behind"
    yield
    stage.program = "nexus_cli"


@asynccontextmanager
async def executor_gone(stage: Stage) -> AsyncGenerator[None]:
    """Its supervisor stands still too, so that it does not come back."""
    supervisor = _supervisor(stage)
    freeze(supervisor)
    stage.stack.kill("tool-executor")
    yield
    os.kill(supervisor, signal.SIGCONT)


@asynccontextmanager
async def agent_frozen(stage: Stage) -> AsyncGenerator[None]:
    """SIGSTOP, and nobody restarts it."""
    supervisor, agent = _supervisor(stage), stage.stack.process("agent").pid
    for pid in (supervisor, agent):
        freeze(pid)
    yield
    for pid in (agent, supervisor):
        os.kill(pid, signal.SIGCONT)


def _supervisor(stage: Stage) -> int:
    return int(json.loads((stage.stack.data / "stack.lock").read_text())["pid"])


def _servers_killed(many: int) -> Callable[[Stage], AbstractAsyncContextManager[None]]:
    @asynccontextmanager
    async def staged(stage: Stage) -> AsyncGenerator[None]:
        for server in stage.bus[-many:]:
            server.kill()
        yield
        for server in stage.bus[-many:]:
            server.start()

    return staged


@asynccontextmanager
async def stream_full(stage: Stage) -> AsyncGenerator[None]:
    """CHAT may hold no more than it holds."""
    info = await stage.api("STREAM.INFO.CHAT")
    await stage.api("STREAM.UPDATE.CHAT", **{**info["config"], "max_bytes": info["state"]["bytes"]})
    yield
    await stage.api("STREAM.UPDATE.CHAT", **info["config"])


@asynccontextmanager
async def stream_missing(stage: Stage) -> AsyncGenerator[None]:
    """Somebody has deleted it; memory makes it anew when it starts."""
    await stage.api("STREAM.DELETE.UPLOADS")
    yield
    await stage.stack.back("memory", stage.stack.kill("memory"))


@asynccontextmanager
async def consumer_stuck(stage: Stage) -> AsyncGenerator[None]:
    """The bus gives memory nothing of what waits for it."""
    until = (datetime.now(UTC) + timedelta(minutes=5)).isoformat()
    await stage.api("CONSUMER.PAUSE.CHAT.memory-projection", pause_until=until)
    await stage.publish(CHAT_SUBJECT, b"{}")
    yield
    await stage.api("CONSUMER.PAUSE.CHAT.memory-projection")
    await _letter(stage)
    await stage.api("STREAM.PURGE.DLQ")


@asynccontextmanager
async def poison_message(stage: Stage) -> AsyncGenerator[None]:
    """One that nobody can read."""
    await stage.publish(CHAT_SUBJECT, b"{")
    await _letter(stage)
    yield
    await stage.api("STREAM.PURGE.DLQ")


async def _letter(stage: Stage) -> None:
    async def there() -> bool:
        return bool((await stage.api("STREAM.INFO.DLQ"))["state"]["messages"])

    await eventually(there)


def _redis_told(command: str, back: str) -> Callable[[Stage], AbstractAsyncContextManager[None]]:
    @asynccontextmanager
    async def staged(stage: Stage) -> AsyncGenerator[None]:
        client = cast("Any", Redis.from_url(stage.redis.url))  # pyright: ignore[reportUnknownMemberType]
        await client.execute_command(*command.split())
        yield
        await client.execute_command(*back.split())
        await client.aclose()

    return staged


redis_read_only = _redis_told("REPLICAOF 127.0.0.1 1", "REPLICAOF NO ONE")
redis_full = _redis_told("CONFIG SET maxmemory 1", "CONFIG SET maxmemory 0")


@asynccontextmanager
async def redis_frozen(stage: Stage) -> AsyncGenerator[None]:
    """SIGSTOP."""
    stage.redis.pause()
    yield
    stage.redis.resume()


@asynccontextmanager
async def mongodb_slow(stage: Stage) -> AsyncGenerator[None]:
    """Every word to it and from it half a second late."""
    stage.way_to_mongodb.delay = 0.5
    yield
    stage.way_to_mongodb.delay = 0.0


@asynccontextmanager
async def mongodb_frozen(stage: Stage) -> AsyncGenerator[None]:
    """SIGSTOP."""
    stage.mongodb.pause()
    yield
    stage.mongodb.resume()


FAULTS = (
    StagedFault("model down", _model_says(ScriptedReply(status=500)), "model", ("500",)),
    StagedFault("model silent", _model_says(ScriptedReply(hang=True)), "model", ("silent",)),
    StagedFault("key wrong", _model_says(ScriptedReply(status=401)), "model", ("its key is refused",)),
    StagedFault("budget spent", budget_spent, "model", ("budget", POOR)),
    StagedFault("executor gone", executor_gone, "tool-executor", ("nobody serves its methods",)),
    StagedFault("agent stands still", agent_frozen, "agent", ("stands still",)),
    StagedFault("NATS without a quorum", _servers_killed(2), "nats", ("quorum",)),
    StagedFault("NATS gone", _servers_killed(3), "nats", ("no NATS server answered",)),
    StagedFault("stream full", stream_full, "stream CHAT", ("full",)),
    StagedFault("stream missing", stream_missing, "stream UPLOADS", ("missing",)),
    StagedFault("consumer stuck", consumer_stuck, "consumer memory-projection", ("paused",)),
    StagedFault("poison message", poison_message, "dead letters", ("memory", CHAT_SUBJECT)),
    StagedFault("disk nearly full", disk_nearly_full, "disk", ("free",)),
    StagedFault("Redis read-only", redis_read_only, "redis", ("read-only",)),
    StagedFault("Redis full", redis_full, "redis", ("memory is full",)),
    StagedFault("Redis stands still", redis_frozen, "redis", ("no answer",)),
    StagedFault("MongoDB slow", mongodb_slow, "mongodb", ("slow",)),
    StagedFault("MongoDB stands still", mongodb_frozen, "mongodb", ("no answer",)),
    StagedFault("clock off by a minute", clock_off, "clock", ("this machine", "60 s behind")),
    StagedFault("certificate expired", certificate_expired, "certificate", ("gateway", "expired")),
)


async def name(stage: Stage, fault: StagedFault) -> tuple[int | None, float, float, list[dict[str, str]]]:
    """At which look it was named (None: at none), how long that look took, for how long of that it waited for a
    processor, and what it found."""
    await stage.well()
    took, waited, found = 0.0, 0.0, list[dict[str, str]]()
    async with fault.stage(stage):
        for look in range(1, LOOKS + 1):
            found, took, waited = await stage.look()
            if fault.place(found) is not None:
                return look, took, waited, found
    return None, took, waited, found


async def run(directory: Path, only: str) -> bool:
    """All of them; whether each was named as promised."""
    good, chosen = 0, [fault for fault in FAULTS if any(word in fault.name for word in only.split(","))]
    sys.stdout.write(f"{'fault':<24}{'look':>5}{'command':>10}{'waited':>10}{'place':>8}\n")
    async with staged_stack(directory) as stage:
        for fault in chosen:
            look, took, waited, found = await name(stage, fault)
            good += look == 1 and took - waited <= PROMISED
            place = f"{fault.place(found)}/{len(found)}" if look else "-"
            sys.stdout.write(f"{fault.name:<24}{look or 'never':>5}{took:>8.1f} s{waited:>8.1f} s{place:>8}\n")
            if fault.place(found) != 1 or len(found) > 1:
                sys.stdout.writelines(f"    {one['subject']}: {one['text'][:160]}\n" for one in found)
            sys.stdout.flush()
        await stage.well()
    sys.stdout.write(f"{good} of {len(chosen)} named at the first look within {PROMISED:g} s of its own\n")
    return good == len(chosen)


def main() -> None:
    """Reads the arguments, runs, prints."""
    parser = argparse.ArgumentParser(prog="python -m tests.faults.doctor_faults", description=__doc__)
    parser.add_argument("--only", default="", help="faults with one of these words in their names, by commas")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="nexus-doctor-") as directory:
        sys.exit(0 if asyncio.run(run(Path(directory), arguments.only)) else 1)


if __name__ == "__main__":
    main()
