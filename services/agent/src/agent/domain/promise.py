"""Finds promises about the user's memory in an answer that no call has kept.

Such a promise says that something is, or will be, remembered, changed or forgotten. It is recognised by its form, in es
and en: the first person or the thing itself, in the future, present or perfect tense. Offers, questions, conditions and
advice ("keep in mind that …") promise nothing, nor does what is only remembered for this answer.
"""

import json
from collections.abc import Collection
from typing import Any

from agent.domain.shortcuts import steps
from agent.domain.text_features import plain
from agent.domain.turn.journal import Journal, TurnCall
from contracts.expressions import expression

REMEMBER, FORGET, UPDATE = "remember", "forget", "update_memory"
MEMORY_TOOLS = frozenset((REMEMBER, FORGET, UPDATE))
_TOOL_OF_STEP = {steps.REMEMBER: REMEMBER, steps.FORGET: FORGET}
"""Steps that the agent performs itself, with the tool that has the same effect."""
_SENTENCE = expression(r"(?<=[.!?\n;])\s+")
_CONTRACTIONS = tuple(
    (expression(rf"\b{short}\b"), full)
    for short, full in (
        ("i['’]ll", "i will"), ("i['’]ve", "i have"), ("i['’]m", "i am"), ("won['’]t", "will not"),
        ("(it|that|this)['’]s", r"\1 is"),
    )
)  # fmt: skip
_ADVERBS = (
    r"(?: (?:now|just|also|certainly|definitely|absolutely|gladly|always|already|make sure to|be sure to|try to|"
    r"go ahead "
    r"and))*"
)
_STORE = r"(?:memory|notes?|profile|preferences|records?|file)"
_REMEMBERING = tuple(
    expression(pattern)
    for pattern in (
        rf"\b(?:i (?:will|shall|am going to|am gonna)|let me){_ADVERBS} (?:remember|memori[sz]e|not(?: ever)? forget|"
        r"never forget|make a (?:mental )?note|take note|note (?:that you|it|this|down|your)|"
        r"(?:keep|bear|have|hold) (?:[\w'’]+ ){1,6}in mind|(?:save|store|record) (?:that|this|it|your)\b)",
        rf"\bi (?:have|am){_ADVERBS} (?:made a (?:mental )?note|taken note|tak(?:en|ing) (?:a )?note|noted|"
        rf"memori[sz]ed|"
        r"making a (?:mental )?note|(?:saved|stored|recorded|saving|storing|recording) (?:that|this|it|your)\b|"
        r"(?:kept|keeping) (?:[\w'’]+ ){1,6}in mind|noting)",
        rf"\bi (?:will|have|am)?{_ADVERBS} ?(?:add|added|adding|put|commit|committed|sav\w+|stor\w+|record\w*) "
        rf"(?:[\w'’]+ ){{1,8}}?(?:to|in|into|on) (?:my |your |the )?(?:\w+ )?{_STORE}\b",
        r"\b(?:it|that|this)(?: \w+)? (?:is|has been|will be)(?: now| all)? (?:noted|saved|stored|remembered|"
        rf"in my {_STORE}|kept in mind)\b",
        r"^\W*+(?:(?:ok|okay|got it|sure|great|perfect|understood|thanks|thank you|duly|consider it)\W++)*"
        r"(?:noted|remembered)\b",
        rf"\bi (?:will|have|am|am going to){_ADVERBS} updat(?:e|ed|ing) (?:my|your|the) (?:\w+ )?{_STORE}\b",
        r"\byour (?:\w+ )?(?:preferences?|notes?|details?|name|choice|wish) "
        r"(?:is|are|has been|have been|will be)(?: now| all)? (?:noted|saved|stored|remembered|recorded|updated)\b",
        rf"^\W*+(?:(?:ok|okay|got it|sure|great|done)\W++)*(?:(?:added|saved|stored|recorded|noted) (?:to|in|into) "
        rf"(?:my |your |the )?{_STORE}|(?:my |your )?{_STORE} (?:is |has been )?updated)\b",
        r"\b(?:it|that|this)(?: is)? now part of what i know about you\b",
        r"^\W*+(?:(?:ok|vale|perfecto|entendido|claro|listo|hecho)\W++)*"
        r"(?:(?:anadido|guardado|registrado|anotado|apuntado) (?:a|en) (?:mi |tu |la )?(?:memoria|perfil|notas?)|"
        r"(?:(?:mi|tu|la) )?(?:memoria|perfil|preferencias?) actualizad[oa]s?)\b",
        r"\b(?:he|hemos) actualizado (?:mi|mis|tu|tus|la|las|el) (?:memoria|perfil|notas?|preferencias?)\b",
        r"\btus? (?:preferencias?|datos?|notas?) (?:esta|estan|queda|quedan|ha sido|han sido|ha quedado|han quedado) "
        r"(?:anotad|apuntad|guardad|registrad|actualizad)[oa]s?\b",
        r"(?<!\bte )\b(?:recordare|memorizare)\b",
        r"\b(?:l[oa]s?|eso|esto) (?:anotare|apuntare|guardare|registrare|anoto|apunto|guardo|registro|memorizo)\b",
        r"\b(?:anotare|apuntare|registrare|guardare|anoto|apunto|guardo|registro) (?:que (?:eres|tienes|vives|te|tu|no|"
        r"prefieres|quieres)|eso|esto|tus?|este dato|esta preferencia|en (?:mi|tu|la) (?:memoria|perfil|notas?))\b",
        r"\b(?:voy a|vamos a|procedo a|dejame|permiteme) (?:recordar|memorizar|(?:anotar|apuntar|guardar|registrar)"
        r"(?=l[oa]|los|las| que| eso| esto| tus?\b| en (?:mi|tu) ))",
        r"\b(?:tendre|tengo|voy a tener(?:l[oa]s?)?|mantendre) (?:[\w]+ ){0,6}?(?:presente|en cuenta|en mente)\b",
        r"\btom(?:o|are|ado|ada) (?:buena )?nota\b",
        r"\b(?:he|hemos) (?:anotado|apuntado|guardado|registrado|memorizado)\b",
        r"\bqueda(?:ra|do)? (?:anotad|apuntad|guardad|registrad)[oa]s?\b",
        r"\bno (?:l[oa]s? |me |se me )*olvid(?:are|ara|o)\b",
        r"^\W*+(?:(?:ok|vale|perfecto|entendido|claro|genial|listo|hecho|muy bien|de acuerdo|gracias)\W++)*"
        r"(?:anotado|apuntado|tomo nota)\b",
    )
)
_FORGETTING = tuple(
    expression(pattern)
    for pattern in (
        rf"\bi (?:will|have|am|am going to){_ADVERBS} (?:forget|forgotten|forgot|forgetting) "
        r"(?:that|this|it|them|all|everything|about|your?|the (?:fact|note))\b",
        rf"\bi (?:will|have|am|am going to)?{_ADVERBS} ?(?:delet|eras|remov|clear|wip|drop)\w* "
        rf"(?:[\w'’]+ ){{1,8}}?from (?:my |your |the )?(?:\w+ )?{_STORE}\b",
        rf"\b(?:it|that|this)(?: \w+)? (?:is|has been)(?: now)? (?:forgotten|(?:deleted|erased|removed|gone) from "
        rf"(?:my |your |the )?{_STORE})\b",
        r"^\W*+(?:(?:ok|okay|sure|done|understood|consider it)\W++)*forgotten\b",
        r"\b(?:l[oa]s? )?(?:he|hemos) olvidado\b|\b(?:l[oa]s?|eso|esto) (?:olvido|olvidare)\b",
        r"\b(?:he|hemos) (?:borrado|eliminado|quitado) (?:\w+ ){0,8}?(?:de|en) (?:mi|tu|la) "
        r"(?:memoria|perfil|notas?)\b",
        r"\bqueda(?:ra|do)? olvidad[oa]s?\b|^\W*+(?:(?:ok|vale|entendido|listo|hecho)\W++)*olvidad[oa]s?\b",
    )
)
_DONE = expression(
    r"^\W*+(?:(?:ok|okay|sure|great|vale|perfecto|claro)\W++)*(?:all )?(?:done|hecho|listo|updated|changed|deleted|"
    r"removed|saved|actualizad[oa]|cambiad[oa]|borrad[oa]|eliminad[oa]|guardad[oa])\b|"
    r"\b(?:i|it|that|this|is|are|has been|have been)(?: (?:have|now))* (?:updated|changed|corrected|deleted|erased|"
    r"removed|saved|stored|cleared|forgotten|forgot|remembered)\b|"
    r"\b(?:he|ha|han|queda|quedan|esta|estan)(?: sido)? (?:actualizad|cambiad|corregid|borrad|eliminad|guardad|quitad|"
    r"olvidad)"
)
_NOT_DONE = expression(
    r"n['’]t\b|\b(?:not|cannot|unable|nothing|fail(?:ed|s)?|errors?|unchanged|nada|tampoco|fallo|"
    r"no (?:(?:l[oa]s?|me|te|se) )?(?:he|ha|han|pude|pudo|puedo|puede|hay|queda|esta|fue|consegui))\b"
)
_NO_PROMISE = expression(
    r"\b(?:if you|should you|once you|when you tell|unless|would you like|do you want|i can|i could|shall i|"
    r"si (?:quieres|prefieres|lo deseas|me (?:dices|lo pides|confirmas)|te parece)|cuando me digas|quieres que|"
    r"puedo|podria)\b"
    r"|\b(?:for|during|in) (?:this|the rest of (?:this|our)|our) (?:conversation|chat|analysis|answer|session)\b"
    r"|\b(?:para|durante|en) (?:esta|este|nuestra|el resto de (?:la|esta)) (?:conversacion|charla|analisis|respuesta|"
    r"sesion|consulta)\b"
)


def has_broken_promise(text: str, journal: Journal, offered: Collection[str]) -> bool:
    """Whether an answer claims what the memory tools, if `offered` or called in this turn, have not done."""
    if MEMORY_TOOLS.isdisjoint(offered) and all(call.tool not in MEMORY_TOOLS for call in journal.calls):
        return False  # a visitor's turn, which has no memory tools
    return any(_breaks_promise(sentence, journal, offered) for sentence in _SENTENCE.split(text))


def without_promises(text: str, journal: Journal, offered: Collection[str]) -> str:
    """The answer without the sentences with broken promises."""
    lines = (
        " ".join(sentence for sentence in _SENTENCE.split(line) if not _breaks_promise(sentence, journal, offered))
        for line in text.split("\n")
    )
    return "\n".join(lines).strip()


def _breaks_promise(sentence: str, journal: Journal, offered: Collection[str]) -> bool:
    rounds = [[call for call in step.calls if _tool_of(call) in MEMORY_TOOLS] for step in journal.steps]
    only_failed = bool(journal.calls) and all(
        _tool_of(call) in MEMORY_TOOLS and not _succeeded(call) for call in journal.calls
    )
    tools = promised_tools(sentence, only_failed=only_failed)
    last_calls = next(
        (
            calls
            for round_calls in reversed(rounds)
            if (calls := [call for call in round_calls if _tool_of(call) in tools])
        ),
        None,
    )
    if last_calls is None:
        return any(tool in offered for tool in tools - {UPDATE})
    return not any(map(_succeeded, last_calls))


def _succeeded(call: TurnCall) -> bool:
    result: dict[str, Any] = json.loads(call.result) if call.result is not None else {}
    data: dict[str, Any] = result.get("data") or {}
    forgot_nothing = call.tool == steps.FORGET and not (data.get("forgotten") or data.get("everything"))
    return bool(result.get("success")) and not forgot_nothing


def _tool_of(call: TurnCall) -> str:
    return _TOOL_OF_STEP.get(call.tool, call.tool)


def promised_tools(sentence: str, *, only_failed: bool = False) -> frozenset[str]:
    """The tools of which one keeps the promise of a sentence; empty if it promises nothing. `only_failed`: the turn
    only made calls of memory tools that failed, so that "done" refers to them."""
    normalized = plain(sentence)
    for pattern, full in _CONTRACTIONS:
        normalized = pattern.sub(full, normalized)
    if "?" in normalized or _NO_PROMISE.search(normalized):
        return frozenset()
    if any(pattern.search(normalized) for pattern in _REMEMBERING):
        return frozenset((REMEMBER, UPDATE))
    if _NOT_DONE.search(normalized):
        return frozenset()
    if any(pattern.search(normalized) for pattern in _FORGETTING):
        return frozenset((FORGET, UPDATE))
    return MEMORY_TOOLS if only_failed and _DONE.search(normalized) else frozenset()
