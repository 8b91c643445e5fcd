"""Merges visitors who are the same person, and lists the colleagues at the desk.

A merge is a fact of each conversation concerned (conversation.updated.v1). The original author stays in its log, so
that a merge can be undone.
"""

import asyncio
from contextlib import suppress
from dataclasses import dataclass

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
from memory.errors import ConflictError, NotFoundError, RedisUnavailableError

CONCURRENCY = 8
"""Conversations moved concurrently."""
MAX_COLLEAGUES = 600

_log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class People:
    """Merges people, and lists colleagues."""

    desk: Desk
    store: MongoDesk
    conversations: MongoConversations
    companies: MongoCompanies
    inbox: Inbox
    looks: RedisLooks

    async def merge(self, request: PersonMerge) -> PersonMerged:
        """Moves all of a visitor's conversations to another person, or back to the visitor.

        Raises:
            NotFoundError: one of them has not written to the company.
            ConflictError: they are already one person, the visitor is merged with somebody else, or is a customer,
                whose identity is known.
        """
        await self.inbox.fresh()
        company, person = request.company_id, request.person_id
        into, into_name = await self._target(request)
        conversations = await self.conversations.of_person(company, person, request.most + 1, handed_over=into is None)
        if into is not None and into != request.by:
            await self._check(company, person, into, conversations)
        moved, has_more = conversations[: request.most], len(conversations) > request.most
        for start in range(0, len(moved), CONCURRENCY):
            await asyncio.gather(
                *(
                    self._move(request, conversation, into or "", into_name)
                    for conversation in moved[start : start + CONCURRENCY]
                )
            )
        _log.info(
            "people merged" if into else "people separated",
            company=company, by=request.by, conversations=len(moved),
        )  # fmt: skip
        return PersonMerged(
            person_id=person,
            into=into,
            conversations=[conversation.conversation for conversation in moved],
            left=has_more,
        )

    async def _target(self, request: PersonMerge) -> tuple[str | None, str | None]:
        """The person who gets the conversations, with their name if it is known: if they were merged themselves, the
        one they were merged into. Somebody who signs in is already the target."""
        if request.into is None or request.into == request.by:
            return request.into, request.name
        into, name = await self._identity(request.company_id, request.into)
        if into == request.person_id:
            raise ConflictError("they are already the same person")
        return into, name

    async def _identity(self, company: str, person: str) -> tuple[str, str | None]:
        """The id and the name under which the desk shows a person, which differ after a merge; raises
        NotFoundError."""
        for handed_over in (False, True):
            for conversation in await self.conversations.of_person(company, person, 1, handed_over=handed_over):
                return conversation.person_id or person, conversation.person_name
        raise NotFoundError(f"nobody with the id {person} has written to this company")

    async def _check(self, company: str, person: str, into: str, conversations: list[InboxConversation]) -> None:
        authors = [
            conversation.person
            for conversation in conversations
            if conversation.person is not None and conversation.person.user_id == person
        ]
        if any(author.role == CUSTOMER for author in authors):
            raise ConflictError("a customer is who they sign in as: merge the visitor with them instead")
        if not conversations and (merged_into := (await self._identity(company, person))[0]) != into:
            raise ConflictError(f"this visitor has been merged with {merged_into}: separate them first")

    async def _move(self, request: PersonMerge, state: InboxConversation, into: str, into_name: str | None) -> None:
        await self.desk.update(
            ConversationUpdate(
                company_id=state.company,
                conversation_id=state.conversation,
                update_id=derive_id(state.company, state.conversation, "merge", request.merge_id),
                person=into,
                person_name=into_name,
                by=request.by,
                name=request.name,
            )
        )

    async def known(self, update: ConversationUpdate) -> ConversationUpdate:
        """Returns the update with the person it names as the desk knows them; raises NotFoundError."""
        if not update.person or update.person == update.by:
            return update
        await self.inbox.fresh()
        person, name = await self._identity(update.company_id, update.person)
        return update.model_copy(update={"person": person, "person_name": name})

    async def follow(self, update: ConversationUpdate) -> None:
        """Gives a new conversation of a merged visitor to the other person too. A sign-in applies only to the
        conversations that existed by then, so it is not followed."""
        if not update.begins or update.previous is None or update.person is not None:
            return
        company, conversation = update.company_id, update.conversation_id
        merges = [
            stored.data
            for stored in await self.store.updates(company, update.previous)
            if stored.data.person is not None
        ]
        if merges and merges[-1].person and merges[-1].by != merges[-1].person:
            await self.desk.update(
                ConversationUpdate(
                    company_id=company,
                    conversation_id=conversation,
                    update_id=derive_id(company, conversation, "desk", "same person"),
                    person=merges[-1].person,
                    person_name=merges[-1].person_name,
                    by=BY,
                    begins=True,
                )
            )

    async def colleagues(self, request: ColleaguesRequest) -> Colleagues:
        """The company's team, and everybody who was at the desk within a day, without those who have left the team;
        only the team if Redis is unavailable."""
        company = request.company_id
        settings = await self.companies.get(company)
        team = settings.config.team if settings is not None else Team()
        names: dict[str, str | None] = {}
        with suppress(RedisUnavailableError):
            names = await self.looks.colleagues(company)
        names = {user_id: name for user_id, name in names.items() if user_id not in team.signed_out}
        names |= {user_id: member.name or names.get(user_id) for user_id, member in team.members.items()}
        people = dict(sorted(names.items(), key=lambda entry: (entry[1] or entry[0]).casefold())[:MAX_COLLEAGUES])
        mention = mention_name_by_id(people)
        return Colleagues(
            items=[Colleague(user_id=user_id, name=name, mention=mention[user_id]) for user_id, name in people.items()]
        )
