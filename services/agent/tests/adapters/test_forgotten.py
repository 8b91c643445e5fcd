"""A deleted conversation goes on under its own id: nothing that was said before comes into the prompt."""

import orjson
from nats.aio.msg import Msg

from agent.adapters.followed import FollowedConversations
from agent.adapters.forgotten import ForgottenConversations
from agent.adapters.histories import HistoryClient
from agent.ports import Key
from agent.testing.company import COMPANY
from agent.testing.stage import stage
from contracts.channels import conversation_tree
from contracts.erasure_rpc import FORGOTTEN
from contracts.streams import CHAT
from runtime.rpc import RpcClient
from runtime.testing import NatsServer


async def test_what_was_deleted_comes_into_no_prompt(nats_server: NatsServer) -> None:
    async with stage(nats_server.url) as scene:
        histories = HistoryClient(RpcClient(scene.nats), scene.log)
        await histories.up_to(Key(COMPANY, "c1"), await scene.visitor("c1", "a secret"))
        await scene.nats.jetstream().purge_stream(CHAT.name, subject=conversation_tree(COMPANY, "c1"))  # pyright: ignore[reportUnknownMemberType]
        told = orjson.dumps({"company": COMPANY, "conversations": ["c1"]})
        forgotten = ForgottenConversations(histories, FollowedConversations())
        await forgotten.take(Msg(scene.nats, FORGOTTEN, data=b"nonsense"))
        await forgotten.take(Msg(scene.nats, FORGOTTEN, data=told))
        said = await histories.up_to(Key(COMPANY, "c1"), await scene.visitor("c1", "a new start"))
        assert [message.text for message in said.messages] == ["a new start"]
