"""The offline provider for installations without an API key: rules behind the same port as a model."""

import json

import structlog

from agent.domain.offline.agent_help import improved, suggestions_json
from agent.domain.offline.assistant import respond
from agent.domain.offline.step_results import SayText
from agent.domain.turn.journal import ModelAnswer, RequestedCall
from agent.errors import ModelRefusedError
from agent.ports import ModelRequest, TextSink
from contracts.providers import OFFLINE, OFFLINE_MODEL

log = structlog.get_logger(__name__)


class Offline:
    """Answers immediately and uses no tokens."""

    provider = OFFLINE.name
    """The provider's name in settings and answers."""

    async def reply(self, prompt: ModelRequest, sink: TextSink) -> ModelAnswer:
        """Returns tool calls or an answer, by rules. Raises ModelRefusedError if a rule fails, because it would fail
        again."""
        try:
            return self._reply(prompt, sink)
        except Exception as error:
            log.exception("offline.failed", language=prompt.language)
            raise ModelRefusedError(f"a rule of the offline assistant failed: {type(error).__name__}") from error

    def _reply(self, prompt: ModelRequest, sink: TextSink) -> ModelAnswer:
        if prompt.task in ("suggest", "improve"):
            text = (
                suggestions_json(prompt.about, prompt.language) if prompt.task == "suggest" else improved(prompt.about)
            )
            return ModelAnswer(text=text, model=OFFLINE_MODEL, provider=self.provider)
        response = respond(
            prompt.messages,
            {tool.name: tool.parameters for tool in prompt.tools},
            prompt.language,
            prompt.page_url,
            introduced=prompt.begun_before,
            last=prompt.tool_choice == "none",
            market=prompt.market,
            knowledge=prompt.knowledge,
            company=prompt.company,
            facts=prompt.facts,
            plan=prompt.plan,
            learns=prompt.task == "answer",
        )
        if isinstance(response, SayText):
            text = _before_stop_word(response.text, prompt.stop)
            sink.text(text)
            return ModelAnswer(text=text, model=OFFLINE_MODEL, provider=self.provider)
        calls = tuple(RequestedCall(tool, json.dumps(arguments)) for tool, arguments in response.calls)
        return ModelAnswer(calls=calls, model=OFFLINE_MODEL, provider=self.provider)


def _before_stop_word(text: str, stop: tuple[str, ...]) -> str:
    """Returns the text before the first of the stop words."""
    return text[: min((position for word in stop if (position := text.find(word)) >= 0), default=len(text))]
