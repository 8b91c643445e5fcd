"""The results of the calculators, in one sentence each."""

from typing import Any

from agent.domain.analysis.formats import figure, percent
from contracts.languages import Language

DISCLAIMER: dict[Language, str] = {
    "es": "No es asesoramiento financiero.",
    "en": "This is not financial advice.",
}


def position_size(body: dict[str, Any], language: Language) -> str:
    quantity, value, risk = (figure(body[name], language) for name in ("quantity", "position_value", "risk_amount"))
    capped = bool(body.get("capped_by_cash"))
    if language == "es":
        limit = " El límite es el efectivo disponible." if capped else ""
        return (
            f"Tamaño de la posición: {quantity} unidades por {value}, con {risk} en riesgo.{limit} {DISCLAIMER['es']}"
        )
    limit = " Available cash is what limits it." if capped else ""
    return f"Position size: {quantity} units worth {value}, with {risk} at risk.{limit} {DISCLAIMER['en']}"


def risk_reward(body: dict[str, Any], language: Language) -> str:
    ratio, risk, reward = (figure(body[name], language) for name in ("ratio", "risk", "reward"))
    rate = body.get("break_even_win_rate")
    even = percent(rate, language) if isinstance(rate, int | float) else "?"
    return {
        "es": f"Beneficio/riesgo: {ratio} a 1 (riesgo {risk}, beneficio {reward}); sin ganar ni perder con un {even} "
        f"de aciertos. {DISCLAIMER['es']}",
        "en": f"Reward to risk: {ratio} to 1 (risk {risk}, reward {reward}); it breaks even at a win rate of {even}. "
        f"{DISCLAIMER['en']}",
    }[language]
