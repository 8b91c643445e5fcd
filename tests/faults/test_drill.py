"""`nexus drill` as an operator runs it: it says what it broke and what it found, and its exit code says whether."""

import asyncio
import json
import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest
from aiohttp import web

from nexus_cli.drill.drill import DrillPlan, DrillReport, Say, break_once, compare, drill
from nexus_cli.drill.faults import Fault, FaultWindow, Kind
from nexus_cli.drill.ledger import ConversationLedger, Mismatch, Wrong
from nexus_cli.drill.people import Scene, Wait
from nexus_cli.drill.stack import RunningStack as BreakableStack
from nexus_cli.stack.datadir import DataDirectory, StackProcess
from nexus_cli.testing.stacks import run_forked
from runtime.faulty_proxy import Proxy
from runtime.testing.servers import wait_until
from tests.support.running_stack import RunningStack

HOLDS_PAUSED = """import sys
from nexus_cli.drill.faults import paused
with paused(int(sys.argv[1])):
    print("paused", flush=True)
    sys.stdin.read()"""


def test_a_drill_breaks_a_stack_of_its_own_and_finds_nothing_lost(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "nexus_cli", "drill"]
    asked = [*command, "--minutes", "3", "--faults", "3", "--seed", "5", "--visitors", "2", "--json"]
    done = run_forked(asked, os.environ, timeout=400, cwd=tmp_path)
    assert done.returncode == 0, done.stderr + done.stdout
    said = json.loads(done.stdout)
    assert [said[name] for name in ("lost", "doubled", "overAHuman", "other")] == [0, 0, 0, 0]
    assert len(said["faults"]) == 3
    assert {"kind", "process", "seconds", "readyAgain", "longestWait"} <= said["faults"][0].keys()
    assert said["messages"] >= said["conversations"] >= 2
    # Its data is gone with it, and nothing of it is where it was called.
    assert list(tmp_path.iterdir()) == []


def test_what_was_lost_is_counted_and_named() -> None:
    fault = Fault(1, Kind.KILL, "agent", 0.0, 0.5)
    report = DrillReport(7, windows=[FaultWindow(fault, 10.0, 10.0, 14.0)], waits=[Wait(1.0, 2.0), Wait(9.0, 13.5)])
    assert set(report.figures.values()) == {0}
    for wrong in (Wrong.LOST, Wrong.ANSWERED_TWICE, Wrong.OVER_A_HUMAN, Wrong.OUT_OF_ORDER):
        report.mismatches.append(Mismatch(wrong, "c-1", "'hello' at 7"))
    report.gave_up.append("visit: nobody answered")
    assert report.figures == {"lost": 2, "doubled": 1, "overAHuman": 1, "other": 1}
    assert "kill      agent                1        4.0 s          4.5 s" in report.as_text()
    assert "found: lost: 'hello' at 7 in c-1" in report.as_text()


def test_a_paused_process_goes_on_when_the_drill_is_killed() -> None:
    with subprocess.Popen(["sleep", "60"]) as sleeper:
        holder = [sys.executable, "-c", HOLDS_PAUSED, str(sleeper.pid)]
        with subprocess.Popen(holder, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as drill:
            assert drill.stdout is not None
            assert drill.stdout.readline() == b"paused\n"
            wait_until(lambda: _state(sleeper.pid) == "T", 10, "it was not paused")
            drill.kill()
        wait_until(lambda: _state(sleeper.pid) == "S", 10, "it is still paused")
        sleeper.kill()


@pytest.mark.parametrize("kind", [Kind.STALL, Kind.CUT])
async def test_a_network_that_a_cancelled_fault_broke_works_again_and_the_fault_is_said(kind: Kind) -> None:
    async def echo(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(await reader.readexactly(2))
        await writer.drain()

    server = await asyncio.start_server(echo, "127.0.0.1", 0)
    proxy = Proxy(f"tcp://127.0.0.1:{server.sockets[0].getsockname()[1]}")
    await proxy.start()
    stack, said = _OneProcess(proxy), list[str]()
    fault = Fault(1, kind, "agent", 60.0, 0.0)
    broken = asyncio.create_task(break_once(stack, fault, DrillReport(7), said.append))
    async with asyncio.timeout(10):
        await stack.asked.wait()
        broken.cancel()
        with pytest.raises(asyncio.CancelledError):
            await broken
        assert said == [f"step 1: {kind} agent 60.0 s, broken off"]
        reader, writer = await asyncio.open_connection("127.0.0.1", proxy.port)
        writer.write(b"hi")
        assert await reader.readexactly(2) == b"hi"
    writer.close()
    await proxy.stop()
    server.close()


class _OneProcess(BreakableStack):
    """A stack of this process, behind one proxy. `asked`: a fault has begun, which breaks before it first waits."""

    def __init__(self, proxy: Proxy) -> None:
        super().__init__(DataDirectory(Path()), "k" * 32)
        self._proxy = proxy
        self.asked = asyncio.Event()

    @property
    def names(self) -> list[str]:
        return ["agent"]

    def process(self, name: str) -> StackProcess:
        return StackProcess(name, os.getpid(), 0, "")

    def network_of(self, name: str) -> Sequence[Proxy]:
        self.asked.set()
        return [self._proxy]

    async def ready_again(self, names: Sequence[str], deadline: float) -> None:
        """It is."""


class _SilentGateway:
    """A gateway that lets visitors in and acknowledges nothing. `owners`: to whom conversations were given, in order;
    `taken`: a person has taken one over."""

    def __init__(self) -> None:
        self.owners: list[str] = []
        self.taken = asyncio.Event()

    async def start(self) -> web.AppRunner:
        app = web.Application()
        app.router.add_post("/v2/visitors", self._visitor)
        app.router.add_get("/v2/chat/ws", self._chat)
        app.router.add_post("/v2/conversations/c-1/owner", self._owner)
        app.router.add_post("/v2/conversations/c-1/messages", self._message)
        runner = web.AppRunner(app, shutdown_timeout=0.1)
        await runner.setup()
        await web.TCPSite(runner, "127.0.0.1", 0).start()
        return runner

    async def _visitor(self, request: web.Request) -> web.Response:
        return web.json_response({"token": "t"}, status=201)

    async def _chat(self, request: web.Request) -> web.WebSocketResponse:
        socket = web.WebSocketResponse()
        await socket.prepare(request)
        await socket.send_json({"type": "welcome", "conversationId": "c-1", "seq": 0, "epoch": "e"})
        async for _ in socket:
            """Nothing is said to it."""
        return socket

    async def _owner(self, request: web.Request) -> web.Response:
        self.owners.append((await request.json())["owner"])
        self.taken.set()
        return web.json_response({})

    async def _message(self, request: web.Request) -> web.Response:
        return web.json_response({"seq": 2})


def _recorded(data: Path, port: int) -> BreakableStack:
    """A stack of a gateway alone, and of a bus where nobody listens."""
    directory = DataDirectory(data)
    directory.create()
    directory.acquire()
    directory.record(
        [StackProcess("gateway", os.getpid(), port, f"http://127.0.0.1:{port}")], {"nats": "nats://127.0.0.1:9"}
    )
    return BreakableStack(directory, "0123456789abcdef0123456789abcdef")


async def test_people_whom_nobody_answers_leave_an_interrupted_drill_and_give_back_what_they_took(
    tmp_path: Path,
) -> None:
    gateway, said = _SilentGateway(), list[str]()
    runner = await gateway.start()
    stack = _recorded(tmp_path, runner.addresses[0][1])

    async def break_for_ever(plan: DrillPlan, _: BreakableStack, report: DrillReport, say: Say) -> None:
        await asyncio.Event().wait()

    drilled = asyncio.create_task(drill(DrillPlan(5, 1, visitors=1), stack, said.append, break_for_ever, 0.5))
    async with asyncio.timeout(30):
        await gateway.taken.wait()
        drilled.cancel()
        report = await drilled
    assert gateway.owners == ["human", "ai"]
    # What was not at rest says nothing: it is counted, and not called lost.
    assert (report.interrupted, report.conversations, set(report.figures.values())) == (1, 0, {0})
    assert "interrupted before they were at rest, and not compared: 1 conversations" in report.as_text()
    await runner.cleanup()


async def test_a_log_that_cannot_be_read_is_a_finding_of_the_drill(tmp_path: Path) -> None:
    scene, report = Scene(_recorded(tmp_path, 9)), DrillReport(1)
    scene.ledgers += [ConversationLedger("c-1"), ConversationLedger("c-2")]
    await compare(scene, report, 0.5)
    assert report.figures["lost"] == 1
    assert "the log cannot be read, 2 conversations were not compared" in report.as_text()


@pytest.mark.asyncio(loop_scope="session")
@pytest.mark.parametrize(
    ("options", "told"),
    [
        (["--company", "nosuch"], "nobody can chat with nosuch, so nothing was broken: there is no such company"),
        (["--kind", "cut"], "nothing here can be broken in this way; it has kill of agent, gateway"),
    ],
)
async def test_where_nothing_can_be_found_out_nothing_is_broken(
    stack: RunningStack, options: Sequence[str], told: str
) -> None:
    before = stack.facts()
    done = stack.nexus("drill", "--running", "--data", str(stack.data), *options, timeout=60)
    assert done.returncode == 1
    assert done.stderr.splitlines()[-1].startswith(f"nexus: {told}"), done.stderr
    assert stack.facts() == before


def _state(pid: int) -> str:
    return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
