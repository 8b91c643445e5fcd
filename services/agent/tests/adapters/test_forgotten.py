"""A deleted conversation goes on under its own id: nothing that was said before comes into the prompt."""

from functools import partial

from agent.adapters.followed import FollowedConversations
from agent.adapters.forgotten import drop_forgotten
from agent.adapters.histories import HistoryClient
from agent.ports import ConversationKey
from agent.scripted_model.script import Rule, ScriptedReply
from agent.testing.company import COMPANY
from agent.testing.scripted_stage import scripted_stage
from agent.testing.stage import stage
from contracts.channels import conversation_tree
from contracts.erasure_rpc import FORGOTTEN, DeletedConversations
from contracts.streams import CHAT, TURNS
from runtime.calls.rpc import RpcClient
from runtime.deletions import follow_deletions
from runtime.testing.servers import NatsServer, eventually


async def test_what_was_deleted_comes_into_no_prompt(nats_server: NatsServer) -> None:
    async with stage(nats_server.url) as scene:
        histories = HistoryClient(RpcClient(scene.nats), scene.log)
        await histories.up_to(ConversationKey(COMPANY, "c1"), await scene.visitor("c1", "a secret"))
        await scene.nats.jetstream().purge_stream(CHAT.name, subject=conversation_tree(COMPANY, "c1"))  # pyright: ignore[reportUnknownMemberType]
        stopped: list[ConversationKey] = []
        await follow_deletions(scene.nats, partial(drop_forgotten, histories, FollowedConversations(), stopped.append))
        await scene.nats.publish(FORGOTTEN, b"nonsense")
        await scene.nats.publish(FORGOTTEN, DeletedConversations(company=COMPANY, conversations=["c1"]).to_json())
        await eventually(lambda: stopped == [ConversationKey(COMPANY, "c1")])
        said = await histories.up_to(ConversationKey(COMPANY, "c1"), await scene.visitor("c1", "a new start"))
        assert [message.text for message in said.messages] == ["a new start"]


async def test_a_model_that_answers_in_a_deleted_conversation_is_stopped_and_its_text_taken_back(
    nats_server: NatsServer,
) -> None:
    rule = Rule(replies=[ScriptedReply(hang=True)])
    async with scripted_stage(nats_server.url, rule) as (scene, model):
        await scene.visitor("c1", "a secret")
        await eventually(lambda: len(model.asked) == 1)
        for stream in (CHAT, TURNS):
            await scene.nats.jetstream().purge_stream(stream.name)  # pyright: ignore[reportUnknownMemberType]
        await scene.nats.publish(FORGOTTEN, DeletedConversations(company=COMPANY, conversations=["c1"]).to_json())
        await eventually(lambda: model.asked[0]["cancelled"])
        await eventually(lambda: [told["reason"] for told in scene.told("run.cancelled")] == ["user"])
        await scene.idle()
        assert await scene.facts("c1") == []
