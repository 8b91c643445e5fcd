"""People at the desk: merged visitors, and the colleagues who work there.

A merge is a fact of each conversation that it concerns (conversation.updated.v1): the original author stays in its log,
so that a merge can be undone.
"""

import asyncio
from contextlib import suppress

import structlog

from contracts.desk_rpc import Colleague, Colleagues, ColleaguesRequest, ConversationUpdate, PersonMerge, PersonMerged
from contracts.ids import derive_id
from contracts.team import Team
from memory.adapters.mongo_companies import MongoCompanies
from memory.adapters.mongo_conversations import MongoConversations
from memory.adapters.mongo_desk import MongoDesk
from memory.adapters.redis_looks import RedisLooks
from memory.application.desk import Desk
from memory.application.inbox import Inbox
from memory.domain.conversation import CUSTOMER, InboxConversation
from memory.domain.desk import BY, mention_name_by_id
from memory.errors import NoSuchPersonError, NotMergedError, RedisUnavailableError

AT_ONCE = 8
"""Conversations moved concurrently."""
MOST_COLLEAGUES = 600

_log = structlog.get_logger(__name__)


class People:
    def __init__(
        self,
        *,
        desk: Desk,
        store: MongoDesk,
        conversations: MongoConversations,
        companies: MongoCompanies,
        inbox: Inbox,
        looks: RedisLooks,
    ) -> None:
        self._desk = desk
        self._store = store
        self._conversations = conversations
        self._companies = companies
        self._inbox = inbox
        self._looks = looks

    async def merge(self, wanted: PersonMerge) -> PersonMerged:
        """Moves all of a visitor's conversations to another person, or their own back to them.

        Raises:
            NoSuchPersonError: one of them has not written to the company.
            NotMergedError: they are already one person, merged with somebody else, or a customer, whose identity is
                known.
        """
        await self._inbox.fresh()
        company, person = wanted.company_id, wanted.person_id
        into = await self._target(wanted) if wanted.into else None
        states = await self._conversations.of_person(company, person, wanted.most + 1, lent=into is None)
        if into is not None and into != wanted.by:
            await self._check(company, person, into, states)
        moved, left = states[: wanted.most], len(states) > wanted.most
        for start in range(0, len(moved), AT_ONCE):
            await asyncio.gather(*(self._move(wanted, one, into or "") for one in moved[start : start + AT_ONCE]))
        _log.info(
            "people merged" if into else "people separated",
            company=company, by=wanted.by, conversations=len(moved),
        )  # fmt: skip
        return PersonMerged(person_id=person, into=into, conversations=[one.conversation for one in moved], left=left)

    async def _target(self, wanted: PersonMerge) -> str | None:
        """Who the conversations go to: if that person was merged, whoever they were merged into. Somebody who signs
        in is already the target."""
        if wanted.into is None or wanted.into == wanted.by:
            return wanted.into
        into = await self._now(wanted.company_id, wanted.into)
        if into == wanted.person_id:
            raise NotMergedError("they are already the same person")
        return into

    async def _now(self, company: str, person: str) -> str:
        """Who a person is at the desk; raises NoSuchPersonError."""
        for lent in (False, True):
            for one in await self._conversations.of_person(company, person, 1, lent=lent):
                return one.person_id or person
        raise NoSuchPersonError(f"nobody with the id {person} has written to this company")

    async def _check(self, company: str, person: str, into: str, states: list[InboxConversation]) -> None:
        began = [one.person for one in states if one.person is not None and one.person.user_id == person]
        if any(one.role == CUSTOMER for one in began):
            raise NotMergedError("a customer is who they sign in as: merge the visitor with them instead")
        if not states and (now := await self._now(company, person)) != into:
            raise NotMergedError(f"this visitor has been merged with {now}: separate them first")

    async def _move(self, wanted: PersonMerge, state: InboxConversation, into: str) -> None:
        company, conversation = state.company, state.conversation
        update_id = derive_id(company, conversation, "merge", wanted.merge_id)
        await self._update(company, conversation, update_id, into, wanted.by, wanted.name)

    async def follow(self, begun: ConversationUpdate) -> None:
        """A merged visitor begins another conversation, which becomes the other person's too. A sign-in counts for
        what they had begun by then."""
        if not begun.begins or begun.previous is None or begun.person is not None:
            return
        company, conversation = begun.company_id, begun.conversation_id
        told = [one.data for one in await self._store.updates(company, begun.previous) if one.data.person is not None]
        if told and told[-1].person and told[-1].by != told[-1].person:
            update_id = derive_id(company, conversation, "desk", "same person")
            await self._update(company, conversation, update_id, told[-1].person, BY, None, begins=True)

    async def _update(
        self, company: str, conversation: str, update_id: str, person: str, by: str, name: str | None,
        *, begins: bool = False,
    ) -> None:  # fmt: skip
        await self._desk.update(
            ConversationUpdate(
                company_id=company,
                conversation_id=conversation,
                update_id=update_id,
                person=person,
                by=by,
                name=name,
                begins=begins,
            )
        )

    async def colleagues(self, asked: ColleaguesRequest) -> Colleagues:
        """The company's own team, and everybody at the desk within a day except those who have left the team; only
        the team while Redis is away."""
        company = asked.company_id
        settings = await self._companies.get(company)
        team = settings.config.team if settings is not None else Team()
        known: dict[str, str | None] = {}
        with suppress(RedisUnavailableError):
            known = await self._looks.colleagues(company)
        known = {one: name for one, name in known.items() if one not in team.signed_out}
        known |= {one: member.name or known.get(one) for one, member in team.members.items()}
        people = dict(sorted(known.items(), key=lambda one: (one[1] or one[0]).casefold())[:MOST_COLLEAGUES])
        mention = mention_name_by_id(people)
        return Colleagues(
            items=[Colleague(user_id=one, name=name, mention=mention[one]) for one, name in people.items()]
        )
