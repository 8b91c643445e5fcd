"""The password of a user of the bus is replaced as operating.md says, while the service's replicas work."""

import os
import re
import signal
from pathlib import Path

from nats.aio.client import Client
from pydantic import SecretStr

from nexus_cli.testing.stacks import production_nats
from runtime.bus.connection import connect
from runtime.bus.replies import ReplyInbox
from runtime.errors import RuntimeLibraryError
from runtime.settings import NatsSettings
from runtime.testing.servers import eventually


async def test_a_second_user_takes_the_place_of_the_first(tmp_path: Path) -> None:
    with production_nats(tmp_path) as bus:

        async def joined(user: str, password: str) -> Client:
            settings = NatsSettings(
                url=f"nats://{bus.address}", user=user, password=SecretStr(password), connect_deadline=0.5
            )
            return await connect(settings, name=user)

        async def may_join(user: str, password: str) -> bool:
            try:
                await (await joined(user, password)).close()
            except RuntimeLibraryError:
                return False
            return True

        old = await joined("agent", "pw-agent")
        configuration = bus.config.read_text()
        block = re.search(r' {6}\{\n {8}user: "agent".*?\n {6}\}\n', configuration, re.DOTALL)
        assert block is not None
        second = block[0].replace('"agent", password: $NATS_AGENT_PASSWORD', '"agent+2", password: "new"')
        bus.config.write_text(configuration.replace(block[0], block[0] + second))
        os.kill(bus.pid, signal.SIGHUP)
        await eventually(lambda: may_join("agent+2", "new"))
        new = await joined("agent+2", "new")
        await _hears_replies(new)
        await _hears_replies(old)

        bus.config.write_text(configuration.replace(block[0], second))
        os.kill(bus.pid, signal.SIGHUP)
        await eventually(lambda: not old.is_connected)
        assert not await may_join("agent", "pw-agent")
        await _hears_replies(new)
        await old.close()
        await new.close()
        assert "Permissions Violation" not in bus.log.read_text()


async def _hears_replies(client: Client) -> None:
    """A message to itself by way of its inbox, where the executor answers tool calls too."""
    with await ReplyInbox.of(client).expect() as pending:
        await client.publish(pending.reply_to, b"")
        await pending.wait(5.0)
