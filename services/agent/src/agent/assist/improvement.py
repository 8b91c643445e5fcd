"""Rewrites a human agent's draft."""

from agent.assist.deps import TIME_LIMIT_SECONDS, HelpPorts, ask_company, config_of, messages_of
from agent.domain.assist import improve_messages, parse_improved
from agent.domain.offline.agent_help import improved
from agent.domain.text_features import language_of
from agent.errors import HelpRefusedError
from agent.ports import ConversationKey, ModelRequest, PromptHistory
from contracts.languages import Language, named_language

EXTRA_TOKENS = 200
"""Tokens in addition to one for every two characters of the draft: the better text may be longer."""
MAX_TOKENS = 8192


async def improve(
    ports: HelpPorts, key: ConversationKey, draft: str, *, tone: str | None = None, locale: str | None = None
) -> tuple[str, str]:
    """Returns the draft in better words by the company's own model, and the model that wrote it. `key.conversation` is
    empty for a draft without one.

    Raises:
        HelpRefusedError: NOT_FOUND; BAD_FIELD for a draft of spaces alone.
        ModelError: no provider answered.
        UnreachableError: memory or the log did not answer.
    """
    if not draft.strip():
        raise HelpRefusedError("BAD_FIELD", "text: there is nothing to improve")
    config = await config_of(ports, key.company)
    history = await messages_of(ports, key) if key.conversation else PromptHistory(())
    language = _language(draft, locale)
    messages = improve_messages(
        draft,
        language,
        base=config.custom_system_prompt,
        tone=tone,
        locale=locale,
        spoken=((message.mine, message.text) for message in history.messages),
    )
    prompt = ModelRequest(
        messages=messages,
        tools=(),
        tool_choice="none",
        model=config.preferred_model,
        temperature=config.temperature,
        max_tokens=min(max(config.max_response_tokens, len(draft) // 2 + EXTRA_TOKENS), MAX_TOKENS),
        time_limit=TIME_LIMIT_SECONDS,
        language=language,
        task="improve",
        about=draft,
    )
    reply = await ask_company(ports, key, config, prompt)
    return parse_improved(reply.text) or improved(draft), reply.model


def _language(draft: str, locale: str | None) -> Language:
    """Returns the language of the instructions to the model; the text itself stays in the draft's or locale's one."""
    if locale:
        return named_language(locale) or "en"
    return language_of(draft, "es")
