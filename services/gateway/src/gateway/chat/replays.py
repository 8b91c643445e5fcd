"""Retries a failed turn: its visitor's message is appended once more, unchanged.

It keeps its ids, so nobody sees it twice; at its new position it is unanswered, and a new turn starts.
"""

from contracts.channels import ChatKind
from contracts.conversation import AnswerRules, Fact, Snapshot, may_answer
from contracts.errors import ErrorCode
from contracts.ids import turn_id
from gateway.adapters.companies import BusCompanies
from gateway.adapters.identity import CallerSigner
from gateway.adapters.log import NatsLog
from gateway.errors import RefusedError
from runtime.bus.publisher import Appended
from runtime.errors import FenceRefusedError


class Replays:
    """Retries failed turns that can still be answered."""

    def __init__(self, log: NatsLog, principals: CallerSigner, settings: BusCompanies) -> None:
        self._log = log
        self._principals = principals
        self._settings = settings

    async def replay(self, company: str, conversation: str, turn: str) -> Appended:
        """Appends the message again and returns its new position.

        Raises:
            RefusedError: CONFLICT, with the reason why the message would not or need not be answered.
            UnavailableError: the message may or may not be stored; repeating the call is safe.
        """
        now = await self._log.snapshot(company, conversation)
        message = _failed_question(now, company, conversation, turn)
        await self._refuse_unless_answering(company, now)
        data = dict(message.data)
        principal = data.get("principal")
        if isinstance(principal, str):
            # The old principal may have expired, and what tools may do for the customer depends on it.
            renewed = self._principals.renewed(principal, company)
            if renewed is not None:
                data["principal"] = renewed
        try:
            return await self._log.append_again(
                company, conversation, message, data, identity=f"replay-{turn}", fence=now.seq
            )
        except FenceRefusedError as error:
            raise _conflict("something has just happened in this conversation: look at it, then try again") from error

    async def _refuse_unless_answering(self, company: str, now: Snapshot) -> None:
        saved = await self._settings.latest_settings(company)
        if saved is None or not saved.config.ai_auto_response_enabled:
            raise _conflict("the assistant is switched off: switch it on in the settings first")
        if not may_answer(AnswerRules.of(saved), now.owner):
            raise _conflict("a person has this conversation: return it to the AI first")


def _failed_question(now: Snapshot, company: str, conversation: str, turn: str) -> Fact:
    message = now.last.get(ChatKind.VISITOR)
    if message is None or turn_id(company, conversation, message.seq) != turn:
        raise _conflict("this is not the newest message any more: the visitor has written since, or it was asked again")
    if now.unanswered:
        raise _conflict("this message is being answered now")
    operator = now.last.get(ChatKind.OPERATOR)
    if operator is not None and operator.seq > message.seq:
        raise _conflict("a person has answered this message")
    for kind, reason in (
        (ChatKind.ASSISTANT, "this message has an answer"),
        (ChatKind.CANCEL, "this message was stopped by somebody"),
    ):
        fact = now.last.get(kind)
        if fact is not None and fact.basis >= message.seq:
            raise _conflict(reason)
    return message


def _conflict(message: str) -> RefusedError:
    return RefusedError(ErrorCode.CONFLICT, message)
