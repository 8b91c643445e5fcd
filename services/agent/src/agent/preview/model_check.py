"""rpc.agent.model.check.v1: checks whether the model in unsaved settings answers."""

import time

from agent.domain.cost import SpendingAccount
from agent.errors import ModelBusyError, ModelError, ModelRefusedError
from agent.llm.paid_calls import ask_paid
from agent.ports import ModelChoice, ModelRequest
from agent.texts import TEXTS
from agent.turns.deps import Ports
from contracts.languages import Language
from contracts.preview_rpc import ModelCheckReply, ModelCheckRequest

TIME_LIMIT_SECONDS = 20.0
"""Seconds for the whole reply."""


async def check_model(ports: Ports, request: ModelCheckRequest) -> ModelCheckReply:
    """Calls the first model that would be tried, without fallback. Raises BudgetSpentError."""
    config = request.config
    choice = ports.models.for_company(config).chosen(config.preferred_provider, config.preferred_model)
    model, name = choice.candidates[0]
    prompt = ModelRequest(
        messages=[{"role": "user", "content": TEXTS["model.check.asked"].in_language(request.language)}],
        tools=(),
        tool_choice="none",
        model=name,
        temperature=0.0,
        max_tokens=16,
        time_limit=TIME_LIMIT_SECONDS,
        language=request.language,
    )
    started_at = time.monotonic()
    text, error = "", None
    try:
        account = SpendingAccount(config.company_id)
        reply = await ask_paid(
            ports.spending, ports.models, account, config, prompt, choice=ModelChoice(((model, name),))
        )
        text = reply.text
    except ModelError as failure:
        error = failure_text(failure, request.language)
    return ModelCheckReply(
        provider=model.provider, model=name, ms=round((time.monotonic() - started_at) * 1000), text=text, error=error
    )


def failure_text(failure: ModelError, language: Language) -> str:
    """Returns advice about a model that gave no answer, with the provider's error."""
    match failure:
        case ModelRefusedError():
            advice = TEXTS["model.check.refused"]
        case ModelBusyError():
            advice = TEXTS["model.check.busy"]
        case _:
            advice = TEXTS["model.check.down"]
    return f"{advice.in_language(language)} ({failure})"
