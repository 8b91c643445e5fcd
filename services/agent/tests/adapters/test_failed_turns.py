"""Failed turns as the console lists them: newest first, in pages, and told whether they can be asked again."""

from agent.adapters.failed_turns import FailedTurnList
from agent.testing.company import COMPANY
from agent.testing.stage import Stage, stage
from contracts import channels
from contracts.envelope import CloudEvent
from contracts.events.turn import TurnFailed
from contracts.failed_rpc import FAILED_TURNS, FailedTurnsReply, FailedTurnsRequest
from contracts.ids import turn_id
from runtime.testing.servers import NatsServer


async def failed(scene: Stage, conversation: str, basis: int, *, company: str = COMPANY) -> None:
    data = TurnFailed(
        company_id=company,
        conversation_id=conversation,
        turn_id=turn_id(company, conversation, basis),
        basis=basis,
        code="LLM_UNAVAILABLE",
        detail="no model",
        attempts=2,
    )
    event = CloudEvent(source="/nexus/agent", type="turn.failed.v1", data=data)
    subject = channels.fact("turn.failed.v1", company, None)
    await scene.publisher.append(subject, event, stream="FACTS", msg_id=f"{data.turn_id}.failed")


async def read(scene: Stage, limit: int, before: int | None = None) -> FailedTurnsReply:
    return await FailedTurnList(scene.nats).page(FailedTurnsRequest(company_id=COMPANY, limit=limit, before=before))


async def test_they_come_newest_first_in_pages_and_none_of_another_company(nats_server: NatsServer) -> None:
    async with stage(nats_server.url) as scene:
        assert await read(scene, 5) == FailedTurnsReply(items=[])
        for number in range(1, 8):
            await failed(scene, f"c{number}", number)
            await failed(scene, "theirs", number, company="other")
        # What fits no contract, or names another company than its subject, is nobody's fact and hides no other.
        for odd in (b"[]", b'{"data": []}', b"no JSON"):
            await scene.nats.request(channels.fact("turn.failed.v1", COMPANY, None), odd)
        seen: list[str] = []
        before: int | None = None
        for wanted in (3, 3, 1):
            page = await read(scene, 3, before)
            assert len(page.items) == wanted
            seen += [item.conversation_id for item in page.items]
            before = page.before
        assert seen == ["c7", "c6", "c5", "c4", "c3", "c2", "c1"]
        assert before is None
        assert FAILED_TURNS.subject.startswith("rpc.agent.")


async def test_one_is_open_until_somebody_writes_again_answers_or_stops_it(nats_server: NatsServer) -> None:
    async with stage(nats_server.url) as scene:
        for conversation in ("open", "wrote", "person", "stopped"):
            basis = await scene.visitor(conversation, "hello")
            await failed(scene, conversation, basis)
        await scene.visitor("wrote", "are you there?")
        await scene.operator("person", "I am here")
        last = await scene.visitor("stopped", "and now?")
        await failed(scene, "stopped", last)
        await scene.cancel("stopped", turn_id(COMPANY, "stopped", last), last)
        found = {(item.conversation_id, item.open) for item in (await read(scene, 10)).items}
        assert found == {("open", True), ("wrote", False), ("person", False), ("stopped", False)}
