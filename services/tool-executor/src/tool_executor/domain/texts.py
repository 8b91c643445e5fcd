"""What the executor says to people and models, in both languages."""

from contracts.text import Text
from tool_executor.domain.plans import Plan

_TO_PRO = Text(
    es="{tool} está incluida en el plan Pro. Pásate a Pro para usarla.",
    en="{tool} is part of the Pro plan. Upgrade to Pro to use it.",
)
_TO_PREMIUM = Text(
    es="{tool} está incluida en el plan Premium. Pásate a Premium para usarla.",
    en="{tool} is part of the Premium plan. Upgrade to Premium to use it.",
)
_OTHER = Text(
    es="Tu plan no incluye {tool}. Revisa los planes disponibles para usarla.",
    en="Your plan does not include {tool}. See the available plans to use it.",
)
_STEPS = {
    (Plan.FREE, Plan.PRO): _TO_PRO,
    (Plan.FREE, Plan.PREMIUM): _TO_PREMIUM,
    (Plan.PRO, Plan.PREMIUM): _TO_PREMIUM,
}
NOT_FOUND = Text(
    es="No hay ninguna herramienta llamada «{tool}» disponible aquí.",
    en="There is no tool called “{tool}” available here.",
)
UNAUTHORIZED = Text(
    es="La llamada no lleva una credencial válida: pide una nueva y vuelve a intentarlo.",
    en="The call carries no valid principal: get a new one and try again.",
)
CONFLICT = Text(
    es="Este identificador de llamada ya se usó con otros argumentos: usa uno nuevo.",
    en="This call id was already used with other arguments: use a new one.",
)
UNAVAILABLE = Text(
    es="Ahora mismo no es posible. Inténtalo de nuevo en unos segundos.",
    en="Not possible right now. Try again in a few seconds.",
)
RATE_LIMIT = Text(
    es="Has alcanzado el límite de uso de {tool}: {limit} por {window}. Inténtalo más tarde.",
    en="The limit of {tool} is reached: {limit} per {window}. Try again later.",
)
WINDOWS = {
    "minute": Text(es="minuto", en="minute"),
    "hour": Text(es="hora", en="hour"),
    "day": Text(es="día", en="day"),
}
INVALID = Text(
    es="Argumentos no válidos para {tool}: {problems}",
    en="Arguments not valid for {tool}: {problems}",
)
TIMEOUT = Text(
    es="{tool} no ha respondido a tiempo ({seconds} s).",
    en="{tool} did not answer in time ({seconds} s).",
)
TIMEOUT_UNKNOWN = Text(
    es="{tool} no ha respondido a tiempo ({seconds} s) y aún no se sabe si ha tenido efecto. La misma llamada, "
    "repetida, lo dirá.",
    en="{tool} did not answer in time ({seconds} s), and it is not known yet whether it took effect. The same call, "
    "made again, will tell.",
)
INVALID_OUTPUT = Text(
    es="{tool} ha devuelto un resultado que no es válido.",
    en="{tool} returned a result that is not valid.",
)
FAILED = Text(
    es="{tool} ha fallado.",
    en="{tool} failed.",
)
UNKNOWN_OUTCOME = Text(
    es="No se sabe si {tool} llegó a ejecutarse. Compruébalo antes de repetirlo.",
    en="It is not known whether {tool} took effect. Check before trying it again.",
)


TOO_MANY_WAITING = Text(
    es="Ya hay demasiadas acciones pendientes de confirmar: confirma o rechaza alguna antes.",
    en="Too many actions wait for a confirmation already: confirm or reject one first.",
)


def spoken(message: Text | str, language: str) -> str:
    """The text in that language; a plain string is one already."""
    return message.said_in(language) if isinstance(message, Text) else message


def upgrade_message(tool: str, has: Plan, needs: Plan, language: str) -> str:
    """Why the plan does not suffice, for the step from `has` to `needs`, in the caller's language."""
    return _STEPS.get((has, needs), _OTHER).said_in(language).format(tool=tool)
