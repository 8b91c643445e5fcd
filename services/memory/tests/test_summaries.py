"""Summaries of conversations: kept, extended, never made anew behind somebody's back."""

import asyncio
from typing import Any

from contracts.context_rpc import CONTEXT, SUMMARY_SAVE, ContextRequest, FullContext, SummarySaved, SummarySaveRequest
from contracts.conversation_rpc import CONVERSATION, ConversationRef
from contracts.memory_rpc import USER_FORGET, UserRef
from memory.testing.harness import Replica, Servers, Writer, replica, serve_deletions


async def save(on: Replica, writer: Writer, text: str, up_to: int, over: str | None = None) -> SummarySaved:
    request = SummarySaveRequest(
        company_id="acme", conversation_id=writer.conversation, text=text, up_to_seq=up_to, messages=3, over=over
    )
    return await on.rpc.call(SUMMARY_SAVE, request)


async def context(on: Replica, writer: Writer, seq: int, **more: Any) -> FullContext:
    request = ContextRequest(
        company_id="acme", conversation_id=writer.conversation, user_id="ana", up_to_seq=seq, **more
    )
    return await on.rpc.call(CONTEXT, request)


async def said(on: Replica, writer: Writer, count: int) -> list[int]:
    seqs = [await writer.visitor(f"m{number}", user="ana", role="user") for number in range(count)]
    ref = ConversationRef(company_id="acme", conversation_id=writer.conversation)
    assert (await on.rpc.call(CONVERSATION, ref)).conversation is not None  # projected
    return seqs


async def test_a_context_brings_the_summary_and_only_what_it_does_not_cover(servers: Servers) -> None:
    async with replica(servers, context_part=0.5) as one, replica(servers, context_part=0.5) as two:
        writer = Writer(one.client)
        seqs = await said(one, writer, 6)
        saved = await save(one, writer, "They greeted.", seqs[2])
        assert saved.saved
        assert saved.summary is not None
        found = (await context(two, writer, seqs[-1])).conversation
        assert found is not None
        assert found.summary == saved.summary
        assert [message.seq for message in found.recent_messages] == seqs[3:]
        assert (found.message_count, found.omitted) == (6, 0)
        later = (await context(two, writer, seqs[-1], after_seq=seqs[4])).conversation
        assert later is not None
        assert [message.seq for message in later.recent_messages] == seqs[5:]


async def test_a_summary_is_extended_only_from_the_one_that_is_stored(servers: Servers) -> None:
    async with replica(servers) as one:
        writer = Writer(one.client)
        seqs = await said(one, writer, 6)
        first = await save(one, writer, "first", seqs[1])
        assert first.summary is not None
        again = await save(one, writer, "first", seqs[1])
        assert (again.saved, again.summary) == (True, first.summary)
        anew = await save(one, writer, "made anew", seqs[3])
        assert (anew.saved, anew.summary) == (False, first.summary)
        shorter = await save(one, writer, "covers less", seqs[0], over=first.summary.version)
        assert (shorter.saved, shorter.summary) == (False, first.summary)
        second = await save(one, writer, "first, and more", seqs[3], over=first.summary.version)
        assert second.saved
        assert (await save(one, writer, "first, and more", seqs[3], over=first.summary.version)).saved
        late = await save(one, writer, "another branch", seqs[4], over=first.summary.version)
        assert (late.saved, late.summary) == (False, second.summary)


async def test_of_many_who_extend_the_same_summary_at_once_one_does(servers: Servers) -> None:
    async with replica(servers) as one, replica(servers) as two:
        writer = Writer(one.client)
        seqs = await said(one, writer, 3)
        for over in (None, "first"):
            base = None
            if over is not None:
                held = (await save(one, writer, "none of them", seqs[0])).summary
                base = held.version if held else None
            replies = await asyncio.gather(
                *(
                    save((one, two)[number % 2], writer, f"{over} {number}", seqs[1 if over is None else 2], base)
                    for number in range(20)
                )
            )
            assert [reply.saved for reply in replies].count(True) == 1


async def test_a_deleted_conversation_keeps_no_summary_and_gets_none_any_more(servers: Servers) -> None:
    async with replica(servers, forgetting_sweep=0.1) as one:
        writer = Writer(one.client)
        seqs = await said(one, writer, 3)
        assert (await save(one, writer, "secret", seqs[1])).saved
        await serve_deletions(one.client)
        await one.rpc.call(USER_FORGET, UserRef(company_id="acme", user_id="ana"))
        late = await save(one, writer, "secret again", seqs[2])
        assert (late.saved, late.summary) == (False, None)
