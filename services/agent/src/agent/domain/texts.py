"""What the assistant itself says to people, outside a model's answer. In es and en."""

from contracts.languages import Language

_FAILED: dict[str, dict[Language, str]] = {
    "LLM_UNAVAILABLE": {
        "es": "Ahora mismo no puedo responder: el modelo no está disponible. Inténtalo de nuevo en unos minutos o pide "
        "hablar con una persona.",
        "en": "I cannot answer right now: the model is not available. Please try again in a few minutes, or ask for a "
        "person.",
    },
    "DEADLINE": {
        "es": "No he podido responder a tiempo. Vuelve a escribir tu pregunta o pide hablar con una persona.",
        "en": "I could not answer in time. Please ask again, or ask for a person.",
    },
    "INTERNAL": {
        "es": "Algo ha fallado y no he podido responder. Vuelve a intentarlo o pide hablar con una persona.",
        "en": "Something went wrong and I could not answer. Please try again, or ask for a person.",
    },
}


def without_thoughts(text: str) -> str:
    """A model's answer without what it thinks aloud, as far as its thoughts end. In linear time, whatever it says."""
    kept: list[str] = []
    said = 0
    while (begin := text.find("<think>", said)) >= 0 and (end := text.find("</think>", begin)) >= 0:
        kept.append(text[said:begin])
        said = end + len("</think>")
    return "".join([*kept, text[said:]])


def failure_text(code: str, language: Language) -> str:
    """The visible text of a turn that ended without an answer."""
    return _FAILED.get(code, _FAILED["INTERNAL"])[language]
