"""`nexus migrate` on a stack that runs: says what waits, changes it, and there is nothing more to do."""

import asyncio

from pymongo import AsyncMongoClient

from contracts.knowledge_rpc import DOCUMENT_PUT, DocumentPut
from memory.knowledge.texts import STEMS
from nexus_cli.target import bus
from runtime.calls.rpc import RpcClient
from runtime.stores.mongo import Document
from runtime.testing.servers import eventually
from tests.support.running_stack import RunningStack

ONE = "knowledge-stems: passages are given the stems by which this release finds them; 1 documents wait for it"


async def test_what_an_upgrade_leaves_is_said_changed_and_then_gone(stack: RunningStack) -> None:
    def nexus(*arguments: str) -> str:
        done = stack.nexus(*arguments, "--data", str(stack.data))
        assert done.returncode == 0, done.stderr
        return done.stdout

    async with bus(stack.facts()["urls"]["nats"]) as client:
        asked = DocumentPut(company_id="upgraded", id="kb", title="Upgraded plans", text="The Pro plan costs 29 USD.")
        await RpcClient(client).call(DOCUMENT_PUT, asked, deadline=20)
    database = AsyncMongoClient[Document](stack.facts()["urls"]["mongodb"])
    try:
        rows = database["nexus"]["knowledge"]
        await eventually(lambda: rows.find_one({"stems": STEMS}))
        await rows.update_one({"stems": STEMS, "title": "Upgraded plans"}, {"$unset": {"stems": ""}})
        assert ONE in await asyncio.to_thread(nexus, "migrate", "--dry-run")
        # It may find more: this stack has served other tests.
        doctor = await asyncio.to_thread(stack.nexus, "doctor", "--live", "--data", str(stack.data))
        assert "run nexus migrate" in doctor.stdout
        assert await rows.find_one({"title": "Upgraded plans", "stems": STEMS}) is None
        assert "knowledge-stems: 0 left" in await asyncio.to_thread(nexus, "migrate")
        assert await rows.find_one({"title": "Upgraded plans", "stems": STEMS}) is not None
        assert "no documents wait for it" in await asyncio.to_thread(nexus, "migrate", "--dry-run")
    finally:
        await database.close()
