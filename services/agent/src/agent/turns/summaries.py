"""Summarises a long conversation after a turn, with a small model. Memory keeps the summary for the next prompt.

Nothing waits for a summary. One that is lost with its agent is made by the next turn that needs it.
"""

from agent.adapters.encodings import Encodings
from agent.domain.context.compression import PromptMessage
from agent.domain.context.extract import extract, limit_summary
from agent.domain.prompt.summary import summary_messages
from agent.metrics import SUMMARIES
from agent.ports import Contexts, ConversationKey, Requester
from agent.turns.after_turn import AfterTurn, SmallModel
from contracts.company import CompanyConfig
from contracts.context_rpc import MAX_MESSAGES
from contracts.events.chat import Role

MAX_RUNNING = 32
"""Summaries made at the same time; further requests are dropped and left to later turns."""
_IS_ASSISTANTS = {Role.ASSISTANT: True, Role.OPERATOR: True, Role.VISITOR: False, Role.USER: False}


class Summarizer:
    """Makes at most one summary of a conversation at a time."""

    def __init__(self, contexts: Contexts, encoders: Encodings, model: SmallModel) -> None:
        self._contexts = contexts
        self._encoders = encoders
        self._model = model
        self._jobs = AfterTurn("summary", MAX_RUNNING, SUMMARIES)
        self.drain = self._jobs.drain

    def request(self, key: ConversationKey, requester: Requester, config: CompanyConfig, up_to: int) -> None:
        """Requests a summary of the messages up to the sequence `up_to` that have none yet."""
        self._jobs.begin(key, lambda: self._summarise(key, requester, config, up_to), conversation=key.conversation)

    async def _summarise(self, key: ConversationKey, requester: Requester, config: CompanyConfig, up_to: int) -> str:
        context = await self._contexts.full(key, requester, "", up_to, config, MAX_MESSAGES)
        conversation = context.conversation if context else None
        if conversation is None:
            return "no_context"
        earlier_summary = conversation.summary
        unsummarised = [
            PromptMessage(_IS_ASSISTANTS[message.role], message.text, message.seq)
            for message in conversation.recent_messages
            if message.role in _IS_ASSISTANTS and message.seq <= up_to
        ]
        if not unsummarised:
            return "up_to_date"
        earlier_text = earlier_summary.text if earlier_summary else None
        outcome, text = "model", await self._by_model(key, requester, config, earlier_text, unsummarised)
        counter = await self._encoders.counter(config.preferred_model)
        if not text:
            outcome = "rules"
            text = extract(
                earlier_text,
                [(message.mine, message.text) for message in unsummarised],
                counter.text,
                requester.language,
            )
        text = limit_summary(text or "", counter.text)
        if not text:
            return "empty"
        message_count = len(unsummarised) + (earlier_summary.messages if earlier_summary else 0)
        await self._contexts.save(key, text, unsummarised[-1].seq, message_count, earlier_summary)
        return outcome

    async def _by_model(
        self,
        key: ConversationKey,
        requester: Requester,
        config: CompanyConfig,
        earlier: str | None,
        unsummarised: list[PromptMessage],
    ) -> str | None:
        """Returns the small model's key points; None if there is no model, or it gave none."""
        if not self._model.is_available(config):
            return None
        messages = summary_messages(earlier, unsummarised, requester.language)
        text = await self._model.ask(key, requester, config, messages, max_tokens=300, temperature=0.2)
        return text.strip() or None if text is not None else None
