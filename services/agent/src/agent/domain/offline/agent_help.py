"""Helps human agents without a model: suggests three replies to a message, and tidies up a draft ("hi  , ok" → "Hi,
ok.")."""

import json
import re

from agent.domain.offline.intents import wish_in
from agent.domain.offline.wishes import Intent
from agent.domain.text_features import language_of
from contracts.languages import Language, in_code

_REPLIES: dict[Intent | None, dict[Language, tuple[str, str, str]]] = {
    Intent.GREETING: {
        "es": (
            "¡Hola! ¿En qué puedo ayudarte?",
            "¡Bienvenido! Cuéntame qué estás buscando.",
            "Hola, soy del equipo. ¿Qué te gustaría saber?",
        ),
        "en": (
            "Hello! How can I help you?",
            "Welcome! Tell me what you are looking for.",
            "Hi, I am from the team. What would you like to know?",
        ),
    },
    Intent.THANKS: {
        "es": ("¡De nada! ¿Algo más?", "Un placer ayudarte.", "Gracias a ti. Aquí estamos si nos necesitas."),
        "en": ("You are welcome! Anything else?", "Glad to help.", "Thank you. We are here if you need us."),
    },
    Intent.HANDOFF: {
        "es": (
            "Hola, ya estás hablando con una persona del equipo. ¿Qué necesitas?",
            "Aquí estoy. Cuéntame los detalles y lo vemos.",
            "Me encargo yo. ¿Me explicas qué ha pasado?",
        ),
        "en": (
            "Hello, you are talking to somebody from the team now. What do you need?",
            "I am here. Tell me the details and we will look at it.",
            "I will take care of it. Could you explain what happened?",
        ),
    },
    None: {
        "es": (
            "Gracias por escribirnos. Lo consulto y te respondo enseguida.",
            "¿Podrías darme un poco más de detalle para ayudarte mejor?",
            "Déjame comprobarlo con el equipo; ¿hay algo más que deba saber?",
        ),
        "en": (
            "Thank you for writing. Let me look into it; I will be right back.",
            "Could you give me a little more detail so that I can help you better?",
            "Let me check that with the team; is there anything else I should know?",
        ),
    },
}
_SENTENCE = re.compile(r"(^|[.!?]\s+)([a-záéíóúüñ])")


def suggestions(question: str, language: Language) -> tuple[str, str, str]:
    """Three replies to the newest message; `language`: where the message does not show its own."""
    spoken = in_code(language_of(question, language))
    intent = wish_in(question, ()).intent if question.strip() else Intent.GREETING
    return _REPLIES.get(intent, _REPLIES[None])[spoken]


def suggested(question: str, language: Language) -> str:
    """The same in the form that a model is asked for: a JSON array."""
    return json.dumps(suggestions(question, language), ensure_ascii=False)


def improved(draft: str) -> str:
    """The draft with its spaces, capitals and full stop in order; its words stay what they are."""
    lines = [" ".join(line.split()) for line in draft.strip().splitlines()]
    text = re.sub(r"\n{3,}", "\n\n", "\n".join(lines))
    text = re.sub(r"(?<!\s)\s++([,.;:!?])", r"\1", text)
    text = _SENTENCE.sub(lambda match: match[1] + match[2].upper(), text)
    return text if not text or not (text[-1].isalnum() or text[-1] == ")") else f"{text}."
