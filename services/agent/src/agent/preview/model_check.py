"""rpc.agent.model.check.v1: checks, before settings are saved, whether the model that they name answers."""

import time

from agent.completions.deps import CompletionPorts
from agent.domain.cost import SpendingAccount
from agent.errors import ModelBusyError, ModelError, ModelRefusedError
from agent.llm.paid_calls import ask_paid
from agent.ports import ModelChoice, ModelRequest
from agent.texts import TEXTS
from contracts.languages import Language
from contracts.preview_rpc import ModelCheckReply, ModelCheckRequest

SECONDS = 20.0
"""Seconds for the whole answer."""


async def check_model(ports: CompletionPorts, request: ModelCheckRequest) -> ModelCheckReply:
    """Asks the first model that would be tried, and nobody else in its place. Raises BudgetSpentError."""
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
        time_limit=SECONDS,
        language=request.language,
    )
    began = time.monotonic()
    text, error = "", None
    try:
        account = SpendingAccount(config.company_id)
        reply = await ask_paid(
            ports.spending, ports.models, account, config, prompt, choice=ModelChoice(((model, name),))
        )
        text = reply.text
    except ModelError as failure:
        error = why_not(failure, request.language)
    return ModelCheckReply(
        provider=model.provider, model=name, ms=round((time.monotonic() - began) * 1000), text=text, error=error
    )


def why_not(failure: ModelError, language: Language) -> str:
    """What to do about a model that gave no answer, and what it said itself."""
    match failure:
        case ModelRefusedError():
            words = TEXTS["model.check.refused"]
        case ModelBusyError():
            words = TEXTS["model.check.busy"]
        case _:
            words = TEXTS["model.check.down"]
    return f"{words.in_language(language)} ({failure})"
