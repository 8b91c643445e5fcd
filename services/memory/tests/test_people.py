"""Who is who at the desk: visitors merged and separated, and the colleagues who can be named."""

import pytest

from contracts.company_rpc import COMPANY_CREATE, CompanyCreateRequest
from contracts.conversation_rpc import (
    CONVERSATION,
    CONVERSATIONS,
    LATEST_CONVERSATION,
    ConversationRef,
    ConversationsRequest,
    LatestConversationRequest,
)
from contracts.desk_rpc import (
    COLLEAGUES,
    CONVERSATION_UPDATE,
    COUNTS,
    NOTES,
    PERSON_MERGE,
    ColleaguesRequest,
    ConversationUpdate,
    CountsRequest,
    PersonMerge,
    PersonMerged,
)
from contracts.ids import uuid7
from contracts.inbox import VisitorView
from memory.domain.desk import mention_name_by_id
from memory.testing.harness import Replica, Servers, Writer, replica
from runtime.errors import RpcError


async def merged(on: Replica, person: str, into: str | None, company: str = "acme", **fields: object) -> PersonMerged:
    request = {"companyId": company, "personId": person, "into": into, "mergeId": uuid7(), "by": "ana", **fields}
    return await on.rpc.call(PERSON_MERGE, PersonMerge.model_validate(request), deadline=20)


async def refused(on: Replica, person: str, into: str, company: str = "acme") -> tuple[str, str]:
    with pytest.raises(RpcError) as error:
        await merged(on, person, into, company)
    return error.value.code, str(error.value)


async def theirs(on: Replica, person: str) -> list[str]:
    request = ConversationsRequest.model_validate({"companyId": "acme", "which": "all", "userId": person})
    return sorted(item.id for item in (await on.rpc.call(CONVERSATIONS, request)).items)


async def visitor_of(on: Replica, conversation: str) -> VisitorView:
    ref = ConversationRef(company_id="acme", conversation_id=conversation)
    view = (await on.rpc.call(CONVERSATION, ref)).conversation
    assert view is not None
    return view.visitor


async def latest(on: Replica, person: str) -> str | None:
    request = LatestConversationRequest(company_id="acme", user_id=person)
    return (await on.rpc.call(LATEST_CONVERSATION, request)).conversation_id


async def test_a_visitor_is_merged_with_a_customer_and_separated_again(servers: Servers) -> None:
    async with replica(servers) as one:
        await Writer(one.client, "acme", "c1").visitor("hello", user="eva", role="user", named="Eva Ruiz")
        for name in ("v1", "v2"):
            await Writer(one.client, "acme", name).visitor("hello", user="phone")
        done = await merged(one, "phone", "eva", name="Ana")
        assert (done.into, sorted(done.conversations), done.left) == ("eva", ["v1", "v2"], False)
        assert (await theirs(one, "eva"), await theirs(one, "phone")) == (["c1", "v1", "v2"], [])
        # Neither gets into the other's chat by it.
        assert (await latest(one, "eva"), await latest(one, "phone")) == ("c1", "v2")
        assert (await visitor_of(one, "v1")).name == "Eva Ruiz"
        # Said twice it is said once; who stands where is in each thread.
        assert (await merged(one, "phone", "eva")).conversations == []
        told = await one.rpc.call(NOTES, ConversationRef(company_id="acme", conversation_id="v1"))
        assert [(change.person, change.by, change.name) for change in told.changes] == [("eva", "ana", "Ana")]
        # What the visitor begins later is one person's too.
        begins = ConversationUpdate(
            company_id="acme", conversation_id="v3", update_id="u1", previous="v2", by="phone", begins=True
        )
        await one.rpc.call(CONVERSATION_UPDATE, begins)
        await Writer(one.client, "acme", "v3").visitor("it is me again", user="phone")
        assert await theirs(one, "eva") == ["c1", "v1", "v2", "v3"]
        assert (await visitor_of(one, "v3")).name == "Eva Ruiz"
        found = ConversationsRequest.model_validate({"companyId": "acme", "which": "all", "query": "ruiz"})
        assert sorted(item.id for item in (await one.rpc.call(CONVERSATIONS, found)).items) == ["c1", "v1", "v2", "v3"]
        # A visitor without a name is shown, and so looked for, by the end of their id.
        await Writer(one.client, "acme", "n1").visitor("hello", user="v_01a2287072247f809d2ea44463e381d6")
        found = ConversationsRequest.model_validate({"companyId": "acme", "which": "all", "query": "81d6"})
        assert [item.id for item in (await one.rpc.call(CONVERSATIONS, found)).items] == ["n1"]
        assert sorted((await merged(one, "phone", None)).conversations) == ["v1", "v2", "v3"]
        assert (await theirs(one, "eva"), await theirs(one, "phone")) == (["c1"], ["v1", "v2", "v3"])
        assert (await merged(one, "phone", None)).conversations == []
        # Who signs in says it themselves.
        visitor = await visitor_of(one, "v1")
        assert (visitor.signed_in, visitor.name) == (None, None)
        await merged(one, "phone", "eva", by="eva", name="Eva")
        visitor = await visitor_of(one, "v1")
        assert (visitor.signed_in, visitor.name) == (True, "Eva")


async def test_two_visitors_are_one_and_what_was_merged_goes_along(servers: Servers) -> None:
    async with replica(servers) as one:
        for number, name in enumerate(("phone", "tablet", "desktop")):
            await Writer(one.client, "acme", f"c{number}").visitor("hello", user=name)
        await merged(one, "phone", "tablet")
        await merged(one, "tablet", "desktop")
        assert await theirs(one, "desktop") == ["c0", "c1", "c2"]
        # Whoever is named by an earlier id is who they are now.
        await Writer(one.client, "acme", "c3").visitor("hello", user="work")
        assert (await merged(one, "work", "phone")).into == "desktop"
        assert (await merged(one, "tablet", None)).conversations == ["c1"]
        assert await theirs(one, "desktop") == ["c0", "c2", "c3"]
        # More than one call takes are done by the same again.
        first = await merged(one, "desktop", "tablet", most=2)
        assert (len(first.conversations), first.left) == (2, True)
        assert (await merged(one, "desktop", "tablet", most=2)).left is False
        assert await theirs(one, "tablet") == ["c0", "c1", "c2", "c3"]


async def test_who_is_nobody_here_or_a_customer_or_somebody_elses_is_not_merged(servers: Servers) -> None:
    async with replica(servers) as one:
        await Writer(one.client, "acme", "c1").visitor("hello", user="eva", role="user")
        await Writer(one.client, "acme", "c2").visitor("hello", user="adam", role="user")
        await Writer(one.client, "acme", "c3").visitor("hello", user="phone")
        await Writer(one.client, "rival", "c4").visitor("hello", user="theirs")
        assert (await refused(one, "phone", "theirs"))[0] == "NOT_FOUND"
        assert (await refused(one, "theirs", "eva"))[0] == "NOT_FOUND"
        assert (await refused(one, "phone", "eva", "rival"))[0] == "NOT_FOUND"
        assert "a customer is who they sign in as" in (await refused(one, "adam", "eva"))[1]
        assert "the same person" in (await refused(one, "phone", "phone"))[1]
        await merged(one, "phone", "eva")
        assert await refused(one, "phone", "adam") == (
            "CONFLICT", "CONFLICT: this visitor has been merged with eva: separate them first"
        )  # fmt: skip
        assert "the same person" in (await refused(one, "eva", "phone"))[1]
        assert (await theirs(one, "eva"), await theirs(one, "adam")) == (["c1", "c3"], ["c2"])
        # The same holds where one conversation alone is said to be somebody's.
        update = {"companyId": "acme", "conversationId": "c3", "updateId": uuid7(), "by": "ana"}
        with pytest.raises(RpcError, match="nobody with the id nobody has written"):
            await one.rpc.call(CONVERSATION_UPDATE, ConversationUpdate.model_validate(update | {"person": "nobody"}))
        await one.rpc.call(CONVERSATION_UPDATE, ConversationUpdate.model_validate(update | {"person": "adam"}))
        assert (await theirs(one, "eva"), await theirs(one, "adam")) == (["c1"], ["c2", "c3"])


async def test_colleagues_are_the_team_and_who_was_at_the_desk(servers: Servers) -> None:
    async with replica(servers) as one:
        team = {
            "members": {
                "m1": {"role": "commercial", "name": "José Gil"},
                "m2": {"role": "admin", "name": "Ana Ruiz", "email": "ana@acme.example"},
            },
            "signedOut": {"gone": "2026-01-01T00:00:00Z"},
        }
        config = {"companyId": "acme", "team": team}
        await one.rpc.call(COMPANY_CREATE, CompanyCreateRequest(config=config), deadline=20)
        for company, name, called in (("acme", "x1", "Ana Sanz"), ("acme", "gone", "Leo"), ("rival", "spy", "Spy")):
            here = {"companyId": company, "operatorId": name, "operatorName": called, "present": True}
            await one.rpc.call(COUNTS, CountsRequest.model_validate(here))
        found = (await one.rpc.call(COLLEAGUES, ColleaguesRequest(company_id="acme"))).items
        assert [(one.user_id, one.name, one.mention) for one in found] == [
            ("m2", "Ana Ruiz", "Ana.Ruiz"), ("x1", "Ana Sanz", "Ana.Sanz"), ("m1", "José Gil", "José")
        ]  # fmt: skip


def test_what_names_a_colleague_names_nobody_else() -> None:
    twins = {"a1": "Ana Gil", "a2": "ana gil", "jose": None, "b": "José Paz"}
    assert mention_name_by_id(twins) == {"a1": "a1", "a2": "a2", "jose": "jose", "b": "José.Paz"}
