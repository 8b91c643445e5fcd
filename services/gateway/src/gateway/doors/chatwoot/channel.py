"""Applies a channel's webhooks to conversations. Applying one again, or late, changes nothing."""

from contracts.channel_rpc import CHANNEL_ECHO, ChannelEchoRequest, text_digest
from contracts.channels import ChatKind
from contracts.conversation import Snapshot
from contracts.events.chat import Owner, OwnerKind
from contracts.ids import channel_conversation
from gateway.adapters.service_calls import ask
from gateway.chat.commands import ConversationPlace, MessageDraft
from gateway.doors.chatwoot.payload import (
    OPEN,
    PENDING,
    ChatwootConversation,
    ChatwootMessage,
    ChatwootPerson,
    StatusChanged,
)
from gateway.doors.messages import message_key
from gateway.ports import TokenCaller
from gateway.web.deps import Api

NEVER_EXPIRES = 4_102_444_800.0


class ChannelEvents:
    """Applies the events of one channel of a company. `inbox`: the only inbox that is answered; None: all are."""

    def __init__(self, api: Api, company: str, channel: str, inbox: int | None) -> None:
        self._api = api
        self._company = company
        self._channel = channel
        self._inbox = inbox
        self._prefix = f"cw_{channel.partition('_')[2]}_"

    async def apply(self, event: ChatwootMessage | StatusChanged) -> None:
        """Applies an event; raises UnavailableError or RateLimitedError if it must be tried again later."""
        conversation = event.conversation
        if self._inbox is not None and conversation.inbox not in {None, self._inbox}:
            return
        if isinstance(event, StatusChanged):
            await self._follow_owner(conversation, event)
        elif event.is_echo:
            echo = ChannelEchoRequest(
                company_id=self._company,
                conversation_id=self._conversation_id(conversation),
                message_id=event.own_message_id,
                text=text_digest(event.text),
            )
            await ask(self._api.rpc, CHANNEL_ECHO, echo)
        elif event.author is not None:
            place = self._place(conversation, self._operator(event.author))
            if not await self._api.chat.commands.find_sent(place, _key(event)):
                await self._api.chat.commands.send_as_operator(place, MessageDraft(_key(event), event.text))
        else:
            await self._follow_owner(conversation)
            await self._send_contact_message(event)

    async def _send_contact_message(self, event: ChatwootMessage) -> None:
        """Appends a contact's message. Limits by address do not apply, since contacts write from Chatwoot's address."""
        place = self._place(event.conversation, self._contact(event.conversation.contact))
        commands, key = self._api.chat.commands, _key(event)
        if await self._api.threads.newest_question_seq(place.caller, place.conversation) and await commands.find_sent(
            place, key
        ):
            return
        subject = f"{self._company}/{place.caller.subject}"
        self._api.chat.limits.count_message(subject, subject, opens_conversation=False)
        await commands.send_as_visitor(place, MessageDraft(key, event.text, event.conversation.locale))

    async def _follow_owner(self, conversation: ChatwootConversation, change: StatusChanged | None = None) -> None:
        """Makes Chatwoot's owner the owner here. Only a change of status returns the conversation to the AI: a message
        may still have the status from before our own hand-off. A change to the owner that is set already has overtaken
        another change, unless it is the echo of our own. It is stored too, so that the other one counts as older."""
        if conversation.status == OPEN:
            owner = Owner(kind=OwnerKind.WAITING)
            if (person := conversation.assignee) is not None:
                owner = Owner(kind=OwnerKind.HUMAN, operator_id=f"{self._prefix}{person.id}", name=person.name)
        elif conversation.status == PENDING and change is not None:
            owner = Owner(kind=OwnerKind.AI)
        else:
            return
        other = PENDING if conversation.status == OPEN else OPEN

        def is_needed(now: Snapshot) -> bool:
            newest_change = now.last.get(ChatKind.OWNER)
            if (
                change is not None
                and change.previous_status == other
                and (newest_change is None or newest_change.data.get("outside"))
            ):
                return True
            is_with_person = now.owner is not OwnerKind.AI
            if is_with_person and owner.kind is OwnerKind.WAITING:
                return False
            return now.owner is not owner.kind or now.owner_data.get("operatorId") != owner.operator_id

        place = self._place(conversation, self._operator(conversation.assignee or ChatwootPerson("bot", None)))
        await self._api.chat.commands.follow_owner(
            place, owner, conversation.status, conversation.changed_at, is_needed
        )

    def _conversation_id(self, conversation: ChatwootConversation) -> str:
        return channel_conversation(self._channel, conversation.number)

    def _place(self, conversation: ChatwootConversation, caller: TokenCaller) -> ConversationPlace:
        return ConversationPlace(caller, self._conversation_id(conversation))

    def _contact(self, person: ChatwootPerson) -> TokenCaller:
        return TokenCaller(
            f"{self._prefix}c{_short_id(person)}", "visitor", self._company, "free", NEVER_EXPIRES, person.name
        )

    def _operator(self, person: ChatwootPerson) -> TokenCaller:
        return TokenCaller(
            f"{self._prefix}{_short_id(person)}", "commercial", self._company, "free", NEVER_EXPIRES, person.name
        )


def _key(event: ChatwootMessage) -> str:
    return message_key(f"cw-{event.id}")


def _short_id(person: ChatwootPerson) -> str:
    return person.id if person.id.isalnum() and len(person.id) <= 32 else message_key(person.id)[:32]
