"""Suggests three replies to a human agent."""

import time

from agent.assist.deps import TIME_LIMIT_SECONDS, HelpPorts, ask_company, config_of, messages_of
from agent.domain.assist import MAX_SUGGESTIONS, conversation_language, distinct, parse_suggestions, suggest_messages
from agent.domain.offline.agent_help import suggestions
from agent.domain.prompt.layers import VisitorInfo, base_layer, system_prompt
from agent.domain.turn.journal import ModelAnswer
from agent.errors import HelpRefusedError
from agent.ports import ConversationKey, ModelRequest, PromptHistory
from contracts.company import CompanyConfig
from contracts.languages import Language

MAX_ATTEMPTS = 2
"""Model calls for one request: a second one if the first gave fewer than three distinct texts."""


async def suggest(ports: HelpPorts, key: ConversationKey) -> tuple[list[str], str]:
    """Returns three distinct texts in the conversation's language, by the company's own prompt and model, and the model
    that wrote them.

    Raises:
        HelpRefusedError: FORBIDDEN if the company has suggestions switched off; NOT_FOUND.
        ModelError: no provider answered.
        UnreachableError: memory or the log did not answer.
    """
    config = await config_of(ports, key.company)
    if not config.ai_suggestions_enabled:
        raise HelpRefusedError("FORBIDDEN", "suggestions are off: set aiSuggestionsEnabled")
    history = await messages_of(ports, key)
    question = next((message.text for message in reversed(history.messages) if not message.mine), "")
    language = conversation_language(history.messages)
    deadline = time.monotonic() + TIME_LIMIT_SECONDS
    texts: list[str] = []
    reply = ModelAnswer()
    for _ in range(MAX_ATTEMPTS):
        remaining = deadline - time.monotonic()
        if len(texts) >= MAX_SUGGESTIONS or remaining <= 0:
            break
        prompt = _prompt(config, history, question, language, texts, remaining)
        reply = await ask_company(ports, key, config, prompt)
        texts = distinct([*texts, *parse_suggestions(reply.text)])
    # If the model gives fewer than three texts, the rules add the missing ones.
    return distinct([*texts, *suggestions(question, language)]), reply.model


def _prompt(
    config: CompanyConfig,
    history: PromptHistory,
    question: str,
    language: Language,
    earlier_texts: list[str],
    seconds: float,
) -> ModelRequest:
    visitor = None
    if config.include_visitor_info:
        visitor = VisitorInfo(history.page_url, history.funnel_stage, history.visits)
    instructions = system_prompt(language, custom=base_layer(language, config), visitor=visitor, tool_names=())
    messages = ((message.mine, message.text) for message in history.messages)
    return ModelRequest(
        messages=suggest_messages(instructions, messages, language, earlier_texts),
        tools=(),
        tool_choice="none",
        model=config.preferred_model,
        temperature=config.temperature,
        max_tokens=config.max_response_tokens,
        time_limit=seconds,
        language=language,
        task="suggest",
        about=question,
    )
