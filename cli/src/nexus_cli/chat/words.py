"""The texts that `nexus chat` itself says, in Spanish and English."""

from __future__ import annotations

from contracts.languages import Language

_WORDS: dict[Language, dict[str, str]] = {
    "en": {
        "confirm": "y confirms, n rejects; anything else is a message",
        "choose": "y 1 confirms the first, n 2 rejects the second; anything else is a message",
        "change": "y {example} confirms it with other values",
        "pending": "waits for your yes",
        "confirmed": "confirmed",
        "rejected": "rejected",
        "expired": "expired",
        "failed": "failed",
        "waiting": "a person was asked for",
        "human": "a person answers from here on",
        "ai": "the assistant answers again",
        "cancelled": "stopped",
        "reconnecting": "the connection is gone, trying again…",
        "reconnected": "connected again",
        "alert": "alert",
        "tool_failed": "did not work",
        "conversation": "conversation",
        "turn": "turn",
    },
    "es": {
        "confirm": "s confirma, n rechaza; cualquier otra cosa es un mensaje",
        "choose": "s 1 confirma la primera, n 2 rechaza la segunda; cualquier otra cosa es un mensaje",
        "change": "s {example} la confirma con otros valores",
        "pending": "espera tu confirmación",
        "confirmed": "confirmada",
        "rejected": "rechazada",
        "expired": "caducada",
        "failed": "fallida",
        "waiting": "se ha avisado a una persona",
        "human": "una persona responde a partir de aquí",
        "ai": "vuelve a responder el asistente",
        "cancelled": "detenida",
        "reconnecting": "se perdió la conexión, intentando de nuevo…",
        "reconnected": "conectado de nuevo",
        "alert": "alerta",
        "tool_failed": "no funcionó",
        "conversation": "conversación",
        "turn": "turno",
    },
}


def word(language: Language, name: str) -> str:
    """One text. Raises KeyError for a name that is none."""
    return _WORDS[language][name]
