"""``python -m tests.security.hostile [--seed S] [--http N] [--sockets N] [--bus N]``: `make hostile`.

Sends a stack of its own random but seeded input at every door: each operation of the OpenAPI document, each frame, each
method and event of the AsyncAPI document; half of it as the document says, half with something wrong. Told is: a 500, a
status that the document does not name, a trace of ours in an answer, an answer that does not come, a close code that
nobody knows, an error that says nothing, a process that ended, memory that grew, and what the logs call an error.
Afterwards a new company's visitor has to be answered. Exit code 1 with anything told.
"""

import argparse
import asyncio
import json
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from urllib.parse import quote

import aiohttp
from nats.aio.client import Client
from nats.errors import Error as NatsError
from nats.errors import NoRespondersError

from contracts.json_values import JsonObject, object_of, objects_of
from gateway.domain.close_codes import CloseCode
from tests.security.hostile.odd_values import OddValues, as_json
from tests.support.chat_client import ConnectionEndedError
from tests.support.running_stack import RunningStack

COMPANY = "odd"
ROLES = ("visitor", "user", "commercial", "admin", "service", "nobody")
WEIGHTS = (3, 6, 3, 8, 2, 1)
ANSWERED_WITHIN = 40.0
"""Seconds; a tool's longest time, and a little."""
READ = 256 * 1024
GROWN = 64.0
"""MiB by which a service may grow: caches and an allocator keep what a busy moment took."""
LEFT_OUT = {("delete", "/v2/companies/{companyId}")}
"""Deletes the company that everything is sent to."""
TRACES = ("Traceback (most", '.py", line', "pydantic_core", "site-packages")
SAYS_NOTHING = ("something went wrong", "INTERNAL")
BESIDE = 6
"""At the same time."""


@dataclass
class Found:
    """What was sent, and what is to be told."""

    sent: Counter[str] = field(default_factory=Counter[str])
    statuses: Counter[int] = field(default_factory=Counter[int])
    slowest: tuple[float, str] = (0.0, "")
    wrong: Counter[str] = field(default_factory=Counter[str])
    first: dict[str, str] = field(default_factory=dict[str, str])

    def tell(self, what: str, sent: object) -> None:
        """Counts a fault; stores the details of the first of each kind."""
        self.wrong[what] += 1
        self.first.setdefault(what, str(sent)[:1500])

    def took(self, seconds: float, what: str) -> None:
        """Records how long an answer took, if it is the slowest."""
        self.slowest = max(self.slowest, (seconds, what))


class Hostile:
    """Sends hostile input to one stack."""

    def __init__(self, stack: RunningStack, seed: int, known: dict[str, list[str]]) -> None:
        self.stack, self.seed, self.found, self.known = stack, seed, Found(), known
        self.tokens = {role: stack.mint(role, f"me-{role}", COMPANY, plan="premium") for role in ROLES[1:-1]}
        self.tokens["nobody"] = "none"

    async def http(self, number: int) -> None:
        """Sends `number` requests of each operation."""
        async with aiohttp.ClientSession(timeout=aiohttp.ClientTimeout(total=ANSWERED_WITHIN)) as session:
            async with session.get(f"{self.stack.url}/openapi.json") as answer:
                document = object_of(await answer.json())
            odd = OddValues(Random(f"{self.seed}/http"), document, self.known)
            calls = list(_operations(document)) * number
            Random(self.seed).shuffle(calls)
            await self._beside([lambda call=call: self._request(session, odd, *call) for call in calls])

    async def _request(
        self, session: aiohttp.ClientSession, odd: OddValues, method: str, path: str, operation: JsonObject
    ) -> None:
        random = Random(f"{self.seed}/{self.found.sent.total()}")
        role, wrong = random.choices(ROLES, WEIGHTS)[0], random.random() < 0.5
        headers = {"Authorization": f"Bearer {self.tokens[role]}"}
        query: dict[str, str] = {}
        address = path
        for parameter in objects_of(operation.get("parameters", [])):
            name, value = str(parameter["name"]), odd.value(object_of(parameter["schema"]), str(parameter["name"]))
            if wrong and random.random() < 0.3:
                value = odd.spoilt(value)
            text = value if isinstance(value, str) else json.dumps(value)
            text = text.encode("utf-8", "replace").decode()[:2000]
            if parameter["in"] == "path":
                address = address.replace(f"{{{name}}}", quote(text, safe="") or "-")
            elif parameter["in"] == "query" and random.random() < 0.6:
                query[name] = text
            elif parameter["in"] == "header" and random.random() < 0.3:
                headers[name] = quote(text, safe=' *",=;:/-._').strip()
        body = b""
        contents = object_of(object_of(operation.get("requestBody", {})).get("content", {}))
        if contents:
            kind = random.choice(list(contents))
            content = odd.value(object_of(object_of(contents[kind]).get("schema", {})))
            body = as_json(odd.spoilt(content) if wrong else content)
            headers["Content-Type"] = kind if "form-data" not in kind else "multipart/form-data; boundary=x"
            if wrong and random.random() < 0.1:
                at = random.randrange(len(body) + 1)
                body = random.choice([body[:at], body[:at] + b"\xff\x00" + body[at:], b"[" * 5000, b""])
        await self._sent(session, f"{method.upper()} {path}", method, address, operation, (query, headers, body), role)

    async def _sent(
        self,
        session: aiohttp.ClientSession,
        what: str,
        method: str,
        address: str,
        operation: JsonObject,
        content: tuple[dict[str, str], dict[str, str], bytes],
        role: str,
    ) -> None:
        query, headers, body = content
        told = f"{role} {method} {address} {query} {body[:700]!r}"
        began, status, read = time.monotonic(), 0, bytearray()
        try:
            async with session.request(
                method, self.stack.url + address, params=query, headers=headers, data=body or None
            ) as answer:
                status = answer.status
                streamed = "event-stream" in answer.content_type
                async with asyncio.timeout(2 if streamed else ANSWERED_WITHIN):
                    while len(read) < READ and (piece := await answer.content.readany()):
                        read += piece
        except TimeoutError:
            if not status:
                self.found.tell(f"{what}: no answer in {ANSWERED_WITHIN:.0f} s", told)
        except aiohttp.ClientError as error:
            self.found.tell(f"{what}: {type(error).__name__}", f"{told}: {error}")
        self.found.sent["http"] += 1
        self.found.statuses[status] += 1
        self.found.took(time.monotonic() - began, told[:200])
        documented = {
            *map(int, object_of(operation["responses"])),
            400,
            401,
            403,
            404,
            405,
            408,
            413,
            414,
            422,
            429,
            431,
        }
        if status and status not in documented:
            self.found.tell(f"{what}: {status}", f"{told}: {bytes(read[:500])!r}")
        self._looks_clean(what, bytes(read), told)

    def _looks_clean(self, what: str, answer: bytes, told: str) -> None:
        text = answer.decode(errors="replace")
        for trace in TRACES:
            if trace in text:
                self.found.tell(f"{what}: a trace in the answer", f"{told}: {text[:600]}")

    async def sockets(self, number: int) -> None:
        """Opens `number` sockets and sends forty frames on each."""
        await self._beside([lambda at=at: self._socket(Random(f"{self.seed}/socket/{at}")) for at in range(number)])

    async def _socket(self, random: Random) -> None:
        document = _asyncapi()
        odd = OddValues(random, document, self.known)
        frames = [
            object_of(message["payload"])
            for name, message in _messages(document)
            if name.startswith("ws-client-") and name != "ws-client-hello"
        ]
        role = random.choice(ROLES[:-2])
        token = self.tokens.get(role) or (await self.stack.visitor(COMPANY))[0]
        sent: list[bytes] = []
        try:
            async with self.stack.chat(token, locale=random.choice(["es", "en"])) as client:
                for _ in range(40):
                    frame = odd.value(random.choice(frames))
                    text = as_json(odd.spoilt(frame) if random.random() < 0.5 else frame)
                    if random.random() < 0.01:
                        text = random.choice([b"", b"[]", text[: len(text) // 2], b"\xff", b"{" * 9000])
                    sent.append(text)
                    self.found.sent["frames"] += 1
                    await client.send_raw(text.decode("latin-1"))
                await client.send_frame("ping")
                await client.wait_for("pong", deadline=ANSWERED_WITHIN)
                for frame in client.of_type("error"):
                    if any(words in json.dumps(frame) for words in SAYS_NOTHING):
                        self.found.tell(f"a frame's error: {frame['message']}", sent[-5:])
        except ConnectionEndedError as ended:
            if ended.code not in list(CloseCode):
                self.found.tell(f"a socket was closed with {ended.code}", sent[-5:])
        except (AssertionError, aiohttp.ClientError) as error:
            self.found.tell(f"a socket: {str(error)[:60]}", sent[-5:])

    async def bus(self, number: int) -> None:
        """Sends `number` messages on each subject; methods have to answer any request."""
        document = _asyncapi()
        odd = OddValues(Random(f"{self.seed}/bus"), document, self.known)
        bus = Client()
        await bus.connect(self.stack.facts()["urls"]["nats"])
        try:
            calls = [
                (str(object_of(channel)["address"]), str(name))
                for name, channel in object_of(document["channels"]).items()
                if name != "chat-ws" and not str(object_of(channel).get("description")).startswith("every server")
            ] * number
            Random(self.seed).shuffle(calls)
            await self._beside([lambda call=call: self._message(bus, odd, document, *call) for call in calls])
        finally:
            await bus.close()

    async def _message(self, bus: Client, odd: OddValues, document: JsonObject, subject: str, channel: str) -> None:
        random = Random(f"{self.seed}/bus/{self.found.sent.total()}")
        messages = object_of(object_of(document["components"])["messages"])
        is_call = channel.startswith("rpc-")
        schema = object_of(object_of(messages[f"{channel}-request" if is_call else channel])["payload"])
        value = odd.value(schema)
        body = as_json(odd.spoilt(value) if random.random() < 0.5 else value)[: 500 * 1024]
        for name in ("company", "conversation", "user", "part", "category"):
            subject = subject.replace(f"{{{name}}}", random.choice([COMPANY, "market", "c1", "-"]))
        subject = "".join("x" if character == "{" else character for character in subject if character != "}")
        self.found.sent["bus"] += 1
        began = time.monotonic()
        try:
            if not is_call:
                await bus.publish(subject, body)
                return
            reply = (await bus.request(subject, body, timeout=ANSWERED_WITHIN)).data
        except NoRespondersError:
            return
        except (NatsError, TimeoutError) as error:
            self.found.tell(f"{subject}: {type(error).__name__}", body[:1000])
            return
        self.found.took(time.monotonic() - began, subject)
        error = object_of(object_of(json.loads(reply)).get("error"))
        if error.get("code") == "INTERNAL":
            self.found.tell(f"{subject}: INTERNAL", body[:1000])
        self._looks_clean(subject, reply, body[:500].decode(errors="replace"))

    async def _beside(self, works: list[Callable[[], Awaitable[None]]]) -> None:
        waiting = iter(works)

        async def lane() -> None:
            for work in waiting:
                await work()

        await asyncio.gather(*(lane() for _ in range(BESIDE)))


def _operations(document: JsonObject) -> Iterator[tuple[str, str, JsonObject]]:
    for path, methods in object_of(document["paths"]).items():
        for method, operation in object_of(methods).items():
            if (method, path) not in LEFT_OUT:
                yield method, path, object_of(operation)


def _asyncapi() -> JsonObject:
    return object_of(json.loads((Path(__file__).parents[3] / "docs/asyncapi/asyncapi.json").read_text()))


def _messages(document: JsonObject) -> Iterator[tuple[str, JsonObject]]:
    for name, message in object_of(object_of(document["components"])["messages"]).items():
        yield name, object_of(message)


def _memory(pid: int) -> float:
    status = Path(f"/proc/{pid}/status").read_text().splitlines()
    return next(int(line.split()[1]) / 1024 for line in status if line.startswith("VmRSS"))


def _errors(stack: RunningStack) -> Iterator[tuple[str, str]]:
    """Yields every error in the logs: its service and event, and the line."""
    for file in sorted((stack.data / "logs").glob("*.log")):
        for line in file.read_text(errors="replace").splitlines():
            if '"level": "error"' in line or '"level":"error"' in line:
                entry = object_of(json.loads(line))
                if entry.get("event") != "dead_letter":  # expected for messages that fit no contract
                    yield f"{file.stem} log: {entry.get('event')}", line


async def attack(stack: RunningStack, seed: int, numbers: tuple[int, int, int]) -> Found:
    """Runs all attacks on a stack that is ready."""
    await stack.create_company(COMPANY, aiAutoResponseEnabled=True, responseDelayMs=0)
    token, visitor = await stack.visitor(COMPANY)
    async with stack.chat(token, locale="en") as client:
        answer = await client.ask("hello")
        known = {
            "conversation": [str(client.conversation), "c1"],
            "company": [COMPANY],
            "messageid": [str(answer["id"])],
            "turnid": [str(answer["turnId"])],
            "visitor": [visitor],
            "userid": ["me-user"],
            "symbol": ["IBM", "AAPL", "BTC"],
            "tool": ["get_price", "calculate_position_size"],
        }
    hostile = Hostile(stack, seed, known)
    hostile.tokens["visitor"] = token
    services = list(stack.facts()["processes"])
    before = {service["name"]: (service["pid"], _memory(service["pid"])) for service in services}
    for what, number in (("http", numbers[0]), ("sockets", numbers[1]), ("bus", numbers[2])):
        began = time.monotonic()
        await getattr(hostile, what)(number)
        sys.stderr.write(f"{what}: {time.monotonic() - began:.0f} s, {dict(hostile.found.sent)}\n")
    found = hostile.found
    for process in stack.facts()["processes"]:
        pid, memory_before = before[process["name"]]
        memory_after = _memory(process["pid"])
        sys.stderr.write(f"{process['name']}: {memory_before:.0f} → {memory_after:.0f} MiB\n")
        if process["pid"] != pid:
            found.tell(f"{process['name']} was started anew", stack.logs()[-1500:])
        elif process["url"].startswith("http") and memory_after - memory_before > GROWN:
            found.tell(
                f"{process['name']} grew by more than {GROWN:.0f} MiB", f"{memory_before:.0f} → {memory_after:.0f}"
            )
    for what, line in _errors(stack):
        found.tell(what, line)
    await stack.create_company("calm", aiAutoResponseEnabled=True, responseDelayMs=0)
    async with stack.visit("calm", locale="en") as client:
        await client.ask("hello")
    return found


def main() -> None:
    """Reads the arguments, runs, prints."""
    parser = argparse.ArgumentParser(prog="python -m tests.security.hostile", description=__doc__)
    parser.add_argument("--seed", type=int, default=int(time.time()))
    parser.add_argument("--http", type=int, default=60, help="requests of each operation")
    parser.add_argument("--sockets", type=int, default=50)
    parser.add_argument("--bus", type=int, default=20, help="messages on each subject")
    arguments = parser.parse_args()
    data = Path(tempfile.mkdtemp(prefix="nexus-hostile-"))
    sys.stderr.write(f"seed {arguments.seed}, data in {data}\n")
    env = {"NEXUS_SAMPLE_SECONDS_PER_BAR": "0", "NEXUS_GATEWAY_MESSAGES_PER_VISITOR": "100000"}
    with RunningStack(data, env) as stack:
        found = asyncio.run(attack(stack, arguments.seed, (arguments.http, arguments.sockets, arguments.bus)))
    sys.stdout.write(f"sent {dict(found.sent)}; statuses {dict(sorted(found.statuses.items()))}\n")
    sys.stdout.write(f"slowest: {found.slowest[0]:.1f} s {found.slowest[1]}\n")
    for what, times in found.wrong.most_common():
        sys.stdout.write(f"\n{times} × {what}\n    {found.first[what]}\n")
    sys.exit(1 if found.wrong else 0)


if __name__ == "__main__":
    main()
