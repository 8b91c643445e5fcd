"""Rewrites a human agent's draft."""

from agent.assist.deps import SECONDS, HelpPorts, ask_company, config_of, messages_of
from agent.domain.assist import improve_messages, parse_improved
from agent.domain.offline.agent_help import improved
from agent.domain.text_features import language_of
from agent.errors import HelpRefusedError
from agent.ports import ConversationKey, ModelRequest, PromptHistory
from contracts.languages import Language, named_language

MORE_TOKENS = 200
"""Beyond one for each two characters of the draft: a better text may be a longer one."""
MAX_TOKENS = 8192


class Improvements:
    """Better wording, by the company's own model."""

    def __init__(self, ports: HelpPorts) -> None:
        self._ports = ports

    async def improve(
        self, key: ConversationKey, draft: str, *, tone: str | None = None, locale: str | None = None
    ) -> tuple[str, str]:
        """The text and the model that wrote it. `key.conversation` empty: the draft belongs to none.

        Raises:
            HelpRefusedError: NOT_FOUND; BAD_FIELD for a draft of spaces alone.
            ModelError: no provider answered.
            UnreachableError: memory or the log did not.
        """
        if not draft.strip():
            raise HelpRefusedError("BAD_FIELD", "text: there is nothing to improve")
        config = await config_of(self._ports, key.company)
        history = await messages_of(self._ports, key) if key.conversation else PromptHistory(())
        language = _language(draft, locale)
        messages = improve_messages(
            draft,
            language,
            base=config.custom_system_prompt,
            tone=tone,
            locale=locale,
            spoken=((said.mine, said.text) for said in history.messages),
        )
        prompt = ModelRequest(
            messages=messages,
            tools=(),
            tool_choice="none",
            model=config.preferred_model,
            temperature=config.temperature,
            max_tokens=min(max(config.max_response_tokens, len(draft) // 2 + MORE_TOKENS), MAX_TOKENS),
            time_limit=SECONDS,
            language=language,
            task="improve",
            about=draft,
        )
        reply = await ask_company(self._ports, key, config, prompt)
        return parse_improved(reply.text) or improved(draft), reply.model


def _language(draft: str, locale: str | None) -> Language:
    """The language of the instructions to the model; the text keeps the draft's own language, or the locale's."""
    if locale:
        return named_language(locale) or "en"
    return language_of(draft, "es")
