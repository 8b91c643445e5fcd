"""Asks a small model, after a turn, to summarise a long conversation. Memory keeps the summary for the next prompt.

Nobody waits for them. A summary that is lost with its agent is made by the next turn that needs it.
"""

from agent.adapters.encodings import Encodings
from agent.domain.context.compression import PromptMessage
from agent.domain.context.extract import extract, limit_summary
from agent.domain.prompt.summary import summary_messages
from agent.metrics import SUMMARIES
from agent.ports import Contexts, ConversationKey, Requester
from agent.turns.after_turn import AfterTurn, SmallModel
from contracts.company import CompanyConfig
from contracts.context_rpc import MOST_MESSAGES
from contracts.events.chat import Role

MOST = 32
"""Summaries in the making; further ones are left to later turns."""
_MINE = {Role.ASSISTANT: True, Role.OPERATOR: True, Role.VISITOR: False, Role.USER: False}


class Summarizer:
    """Makes at most one summary of a conversation at a time."""

    def __init__(self, contexts: Contexts, encoders: Encodings, model: SmallModel) -> None:
        self._contexts = contexts
        self._encoders = encoders
        self._model = model
        self._work = AfterTurn("summary", MOST, SUMMARIES)
        self.drain = self._work.drain

    def want(self, key: ConversationKey, requester: Requester, config: CompanyConfig, up_to: int) -> None:
        """Requests a summary of everything up to a sequence that is not summarised yet."""
        self._work.begin(key, lambda: self._kept(key, requester, config, up_to), conversation=key.conversation)

    async def _kept(self, key: ConversationKey, requester: Requester, config: CompanyConfig, up_to: int) -> str:
        context = await self._contexts.full(key, requester, "", up_to, config, MOST_MESSAGES)
        conversation = context.conversation if context else None
        if conversation is None:
            return "no_context"
        stored = conversation.summary
        heard = [
            PromptMessage(_MINE[message.role], message.text, message.seq)
            for message in conversation.recent_messages
            if message.role in _MINE and message.seq <= up_to
        ]
        if not heard:
            return "up_to_date"
        earlier = stored.text if stored else None
        outcome, text = "model", await self._by_model(key, requester, config, earlier, heard)
        counter = await self._encoders.counter(config.preferred_model)
        if not text:
            outcome = "rules"
            text = extract(earlier, [(one.mine, one.text) for one in heard], counter.text, requester.language)
        text = limit_summary(text or "", counter.text)
        if not text:
            return "empty"
        messages = len(heard) + (stored.messages if stored else 0)
        await self._contexts.save(key, text, heard[-1].seq, messages, stored)
        return outcome

    async def _by_model(
        self,
        key: ConversationKey,
        requester: Requester,
        config: CompanyConfig,
        earlier: str | None,
        heard: list[PromptMessage],
    ) -> str | None:
        """The small model's key points; None: it has none to give."""
        if not self._model.is_there(config):
            return None
        messages = summary_messages(earlier, heard, requester.language)
        said = await self._model.ask(key, requester, config, messages, most_tokens=300, temperature=0.2)
        return said.strip() or None if said is not None else None
