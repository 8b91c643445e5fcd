"""What each user of the bus may write and hear, as one table: everything that is named here and nothing else, of all
subjects that there are. A permission more or less is a line more or less in `cli/tests/permissions/<user>.txt`."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Generator, Sequence
from pathlib import Path

import pytest

from contracts.channels import TRACES_WANTED
from contracts.events.registry import EVENTS
from contracts.methods import METHODS
from contracts.streams import STREAMS
from nexus_cli.stack.services import SERVICES
from nexus_cli.testing.stacks import production_nats

TABLES = Path(__file__).parent / "permissions"
IDS = {
    "part": "p1",
    "company": "demo",
    "conversation": "c1",
    "user": "u1",
    "category": "market",
    "analysis": "a1",
    "call": "k1",
}
OTHERS = (*SERVICES, "operator", "stranger")
OF_STREAMS = (
    *(f"STREAM.{what}" for what in ("CREATE", "UPDATE", "DELETE", "PURGE", "INFO", "SNAPSHOT", "RESTORE")),
    *("STREAM.MSG.GET", "STREAM.MSG.DELETE", "STREAM.LEADER.STEPDOWN", "STREAM.PEER.REMOVE"),
    *("DIRECT.GET", "CONSUMER.LIST", "CONSUMER.NAMES"),
)
OF_CONSUMERS = ("CREATE", "DURABLE.CREATE", "INFO", "DELETE", "MSG.NEXT", "PAUSE", "UNPIN", "LEADER.STEPDOWN")
OF_THE_SERVER = (
    *("$JS.API.INFO", "$JS.API.STREAM.LIST", "$JS.API.STREAM.NAMES", "$JS.API.ACCOUNT.PURGE.NEXUS"),
    *("$JS.API.META.LEADER.STEPDOWN", "$JS.API.SERVER.REMOVE", "$SYS.REQ.SERVER.PING", "$SYS.REQ.ACCOUNT.NEXUS.CONNZ"),
    *("$SYS.REQ.USER.INFO", "$KV.any.key", "$O.any.C.x", "$JS.FC.CHAT.x", "_R_.x", "anything", "nexus.room"),
)


def universe() -> list[str]:
    """Every subject that there is, one of each kind."""
    found = [event.subject.format(**IDS) for event in EVENTS]
    found += [method.subject.replace("*", "x").replace(">", "x") for method in METHODS]
    found += [f"rpc.{name}.any" for name in ("gateway", "agent", "memory", "tools", "tool", "market", "any")]
    found += ["chat.demo.c1.any.v1", "turn.demo.c1.any.v1", "live.market.any", "live.any", "knowledge.any.v1.demo"]
    found += [f"live.{event.subject.format(**IDS)}" for event in EVENTS if event.stream == "CHAT"]
    for user in OTHERS:
        found += [f"_INBOX.{user}.x", f"dlq.{user}.CHAT.x"]
    for stream in STREAMS:
        first = re.sub(r"[*>]", "x", stream.subjects[0])
        found += [f"$JS.API.{method}.{stream.name}" for method in OF_STREAMS]
        found += [f"$JS.API.CONSUMER.{method}.{stream.name}.x" for method in OF_CONSUMERS]
        found += [f"$JS.API.DIRECT.GET.{stream.name}.{first}", f"$JS.ACK.{stream.name}.x.1.1.1.1.1"]
    return list(dict.fromkeys([*found, *OF_THE_SERVER]))


HEARD = (
    TRACES_WANTED,
    "$JS.EVENT.ADVISORY.STREAM.UPDATED.CHAT",
    "$JS.EVENT.ADVISORY.API",
    "$SYS.ACCOUNT.NEXUS.CONNECT",
    ">",
)
"""What there is to hear besides."""


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Generator[str]:
    """A server with the production configuration."""
    with production_nats(tmp_path_factory.mktemp("nats")) as server:
        yield server.address


async def refused(address: str, user: str, commands: Sequence[str]) -> set[str]:
    """Which subjects the server says that this user may not use, spoken by hand: all commands, and then a PING."""
    host, port = address.split(":")
    login = json.dumps({"user": user, "pass": f"pw-{user}", "verbose": False, "headers": True})
    async with asyncio.timeout(60):
        reader, writer = await asyncio.open_connection(host, int(port))
        writer.write(f"CONNECT {login}\r\n{''.join(commands)}PING\r\n".encode())
        answers = (await reader.readuntil(b"PONG\r\n")).decode()
        writer.close()
    assert "Authorization" not in answers
    return set(re.findall(r'Permissions Violation for (?:Publish|Subscription) to "([^"]+)"', answers))


async def table(address: str, user: str) -> list[str]:
    """What the server lets this user do: a line for each subject."""
    written = universe()
    heard = [*written, *HEARD]
    no_publish = await refused(address, user, [f"PUB {subject} 2\r\n{{}}\r\n" for subject in written])
    no_subscribe = await refused(address, user, [f"SUB {subject} {n}\r\n" for n, subject in enumerate(heard, 1)])
    may = [f"write {one}" for one in written if one not in no_publish]
    return sorted(may) + sorted(f"hear {one}" for one in heard if one not in no_subscribe)


@pytest.mark.parametrize("user", SERVICES)
async def test_a_user_may_do_what_the_table_says_and_nothing_else(address: str, user: str) -> None:
    assert await table(address, user) == (TABLES / f"{user}.txt").read_text().splitlines()


@pytest.mark.parametrize("user", SERVICES)
def test_the_tables_hold_to_what_is_promised(user: str) -> None:
    allowed = set((TABLES / f"{user}.txt").read_text().splitlines())
    others = [one for one in OTHERS if one != user]
    assert not {f"hear _INBOX.{other}.x" for other in others} & allowed, "nobody hears what another is answered"
    assert not {f"write dlq.{other}.CHAT.x" for other in others} & allowed, "a letter names its writer"
    assert not {line for line in allowed if line.startswith(("write $SYS", "hear $SYS", "hear >", "write $KV"))}
    assert not {line for line in allowed if re.match(r"write \$JS.API.(META|SERVER|ACCOUNT|STREAM\.RESTORE)", line)}
    assert not {line for line in allowed if line.startswith("write live.chat.")}, "the live copy is the server's"
    assert "write $JS.API.STREAM.DELETE.CHAT" not in allowed
    assert user == "memory" or not {
        line for line in allowed if re.match(r"write \$JS.API.STREAM.(CREATE|UPDATE)", line)
    }
