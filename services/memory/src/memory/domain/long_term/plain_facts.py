"""Which clauses of a sentence say something lasting about their writer, and which only ask, thank or wonder.

A clause begins where the writer speaks of themselves ("I have …", "mi mujer es …", "tengo …") and extends to the next
such beginning. Quotations are other people's words.
"""

import re

from memory.domain.long_term.concepts import normalize
from memory.domain.long_term.course import HAS_HAPPENED
from memory.domain.long_term.pasted import unquoted
from memory.domain.long_term.speech import folded_in_place
from memory.domain.long_term.state_patterns import OCCUPATION
from memory.domain.recall.words import words

MIN_WORDS = 2
"""Words that a plain fact has at least."""
_I_EN = r"(?:(?:i|we)(?:'m|'ve|'d|'ll| am| are)?|im|ive)"
_MINE = r"(?:my|our|mi|mis|nuestr[oa]s?)"
_VERBS = (
    r"aguanto|soporto|tolero|entiendo|soy|estoy|tengo|pienso|reviso|miro|consulto|compruebo|sigo|curro|trabajo|"
    r"trabajamos|vivo|vivimos|viviamos|vivia|vivi|trabajaba|trabaje|tardo|tardamos|comparto|compartimos|hablamos|"
    r"guardamos|resido|naci|creci|estudio|estudie|cobro|cobramos|cobre|gano|ganamos|gane|gasto|gastamos|pago|pagamos|"
    r"pague|ahorro|ahorramos|ahorre|debo|debemos|herede|compro|compre|compramos|vendo|vendi|vendimos|perdi|perdimos|"
    r"invierto|inverti|invertimos|opero|opere|operaba|arriesgo|uso|utilizo|usaba|conduzco|manejo|hablo|toco|corro|"
    r"corri|viajo|viajamos|viaje|llevo|llevamos|suelo|solia|solemos|puedo|podemos|bebo|fumo|fumaba|duermo|cuido|busco|"
    r"buscamos|planeo|quiero|queremos|mido|peso|padezco|sufro|tomo|evito|dirijo|monte|funde|abri|cerre|deje|dejamos|"
    r"termine|empece|comence|tuve|tuvimos|fui|era|estuve|(?:he|hemos)(?= \w+(?:ado|ido|sto|cho|rto|lto)\b)|tenemos|"
    r"esperamos|tenia|teniamos|somos|estamos|alquilo|alquile|alquilamos|poseo|mantengo|guardo|meto|aporto|paso|pase|"
    r"enseno|programo|leo|entreno|practico|hago|hacemos|aprendi|doy|di|como|ceno|cambie|sali|rompi|acabo|mude|casamos|"
    r"prefiero|odio|detesto|adoro|amo|adopte|adoptamos|vendere|comprare|tendre|sere|voy|vamos|liquide|salde|contrate|"
    r"cancele|renuncie|consegui|encontre|recibo|recibi|presto|preste|dono|colecciono|juego|nado|cocino|sigo|seguire|"
    r"seguiremos|participo|"
    r"necesito|renuncio|crie|crio|jubilare|debia|desayuno|almuerzo|meriendo|madrugo|pinto|escribo|canto|bailo|escalo|"
    r"esquio|pesco|cultivo|voto|rezo|medito|veraneo|convivo|dependo|administro|gestiono|traduzco|diseno|desconfio|"
    r"prometi|jure"
)
_REFLEXIVE = (
    "me (?:llamo|vine|mude|mudo|mudare|he|han|echaron|robaron|case|caso|casare|divorcie|separe|jubilo|jubile|"
    "jubilare|retiro|retire|gradue|"
    "dedico|fue|va|fui|despidieron|ascendieron|operaron|operan|pagan|diagnosticaron|quedan|faltan|duele|toca|levanto|"
    "acuesto|encanta|encantan|gusta|gustan|cambie|pase|cuesta|interesa|interesan|preocupa|preocupan|da|dan|salgo|quede|"
    "acabo|fio|convence|convencen|aburre|aburren|asusta|asustan|"
    "atrae|atraen|hice|compre|compro|especializo|considero)|"
    "nos (?:mudamos|casamos|hemos|jubilamos|separamos|divorciamos)"
)
_ADVERB = (
    r"(?:yo|ya|solo|solamente|tambien|ademas|nunca|siempre|casi|todavia|aun|no|ahora|normalmente|actualmente|apenas|"
    r"a mi|le|les|lo|la|jamas|antes|ultimamente|recientemente|hoy|nosotros)"
)
_START = (
    rf"(?:{_I_EN}\b|{_MINE} \w|(?:{_ADVERB} )*(?:(?:me|nos|se) )?(?:{_VERBS})\b|(?:{_ADVERB} )*(?:{_REFLEXIVE})\b|"
    r"(?:now|currently|nowadays|lately|recently|(?:these|most) days|sometimes|usually|never|always|also) (?:i|we|my)\b|"
    r"(?:ahora|actualmente|tambien|ademas) mis? )"
)
_WHEN = (
    rf"(?:(?:with|con) {_MINE} [^,.;:]{{1,30}}? |"
    r"(?:in|on|for|since|last|next|every|each|during|from|at|until|el|en|los|las|la|desde|cada|este|esta|hace|para|"
    r"a partir|por|this|two|three|a year|an? \w+ ago|dos|tres)\b[^,.;:]{1,40}?,? )"
)
_LEAD = (
    r"(?:(?:so|well|ok|okay|yeah|yep|hey|hi|hello|ugh|oh|wow|lol|ha(?:ha)+|hm+|wait|look|listen|honestly|frankly|tbh|"
    r"btw|(?:just )?fyi|by the way|to be honest|not gonna lie|ngl|you know(?: what)?|guess what|the thing is|truth is|"
    r"just so you know|for what it's worth|fwiw|quick (?:thing|note|update)|so about me|ay|uy|che|te (?:aviso|cuento|"
    r"comento|adelanto|digo)(?: una cosa| de una| rapido)?(?: que)?|quedamos en que|para que (?:te hagas una idea|"
    r"lo sepas|sepas)|right now|me(?=,)|myself(?=,)|personally|anyway|the rest of the (?:year|week|time)|since|as|"
    r"given that|now that|because|though|although|which means|plus|apparently|pues|bueno|buenas|a ver|oye|mira|hombre|"
    r"tio|vale|(?:ja)+|la verdad(?: es)?(?: que)?|lo cierto es que|es que|resulta que|por cierto|en serio|sinceramente|"
    r"perdona|hola|te cuento|en mi caso|por mi parte|encima|o sea|el resto del (?:ano|tiempo)|como|aunque|ya que|"
    r"dado que|asi que|ahora mismo|entre semana|los findes|los fines de semana|and|but|y|pero)\b[\s,;:.!]*+)"
)
"""Words that people put before a statement, and words that join clauses."""
_CLAUSE_START = re.compile(rf"(?:^\W*|(?<=[,;:.!] )|(?<=[—–(])\s*|(?<=and )|(?<=but )|(?<=because )|(?<= so )|(?<= y )|"
                           rf"(?<= pero )|(?<=porque ))(?P<lead>{_LEAD}{{0,5}})(?:{_WHEN})?(?={_START})")  # fmt: skip
_MAIN_CLAUSE = re.compile(
    rf"(?<!that)(?<!which)(?<!what)(?<!who)(?<!when)(?<!where)(?<!and)(?<!but)(?<=[a-z0-9]) "
    rf"(?={_I_EN} |(?:ahora|ya|entonces) (?:(?:me|nos|solo|lo|la|le) )*(?:{_VERBS})\b)"
)
"""Where the main clause begins behind a clause that gives its reason, without a comma."""
_REASON = re.compile(r"\b(?:since|as|given that|now that|because|although|though|como|aunque|ya que|dado que)\W*$")
_JOINT_SUBJECT = re.compile(r"(?:^|(?<=[,;:.!(] )|(?<=[ ]that )|(?<=[ ]que ))(?:my |mi )?\w+ (?:and i|y yo)\b")
"""Somebody and the writer together: one subject, so one clause."""
_REFERS_BACK = re.compile(r"l[aeo]s? ")
"""Begins a clause that refers back to the one before it: "mi bróker es GBM y le meto 2 mil al mes"."""
_PURPOSE = re.compile(rf"^for [^,.;:!?]{{1,40}}?,? (?={_START})")
_TAIL = re.compile(
    r"(?<![\s,;:])[\s,;:]*+(?:\b(?:and|but|because|y|pero|porque|so|by the way|btw|fyi|(?:just )?so you know|fwiw|"
    r"por cierto|para que (?:lo )?sepas)\b[\s,;:.!]*+)?$",
    re.I,
)
_FILLER = (
    r"(?:(?:also|really|just|still|actually|only|already|now|currently|yo|ya|solo|tambien|no|me|te|lo|la|le|nos) ){0,8}"
)
_GOAL = re.compile(
    r"\b(?:want|plan|planning|hope|aim|intend|going|would like|like|need|quiero|queremos|planeo|voy|vamos|busco|"
    r"necesito|looking|buscamos|estoy buscando)(?: to| a| for)? ?(?:be able to |poder |keep )?(?:retire|buy (?:a|an|my|"
    r"our) \w+|save|travel|study|move|start|learn|pay|get married|have (?:a |kids|children)|a (?:job|house|home|flat|"
    r"place)|jubil\w+|comprar(?:me)? (?:una?|mi) \w+|ahorrar|viajar|estudiar|mudar\w+|montar|(?:the |this |my |el |"
    r"este |mi )?(?:money|cash|savings|funds|dinero|capital|ahorros)\b[^.;!?]{0,40} (?:by|before|within|until|antes de|"
    r"dentro de|para) |recuperar (?:el|este|mi) dinero|aprender|pagar|casar\w+|tener (?:hijos|un)|trabajo|casa|piso|"
    r"empleo|emigrar|abrir|retirar\w+|vivir de)"
)
_PLAN = re.compile(r"\b(?:pienso|tengo (?:pensado|previsto)) \w+[aei]r(?:me|lo|la|los|las)?\b")
_HABIT = re.compile(
    r"\b(?:\d[\d.,]* ?% (?:anual\w*|mensual\w*|annually)|\d[\d.,]*k? (?:\w+ ){0,2}para (?:la|el|mi|una?)|"
    r"\d[\d.,]*k? (?:\w+ )?(?:an?|per|al|por|cada) (?:day|week|month|year|dia|semana|mes|ano)|"
    r"daily|weekly|monthly|(?:every|each) (?:day|week|month|year|morning|evening|night|weekend)|(?:once|twice|"
    r"\w+ times) (?:a|an|per) (?:day|week|month|quarter|year)|cada (?:dia|semana|mes|ano|trimestre|manana|noche)|"
    r"on (?:(?:mon|tues|wednes|thurs|fri|satur|sun|week)days|weekends)|los (?:lunes|martes|miercoles|jueves|viernes|"
    r"sabados|domingos|fines de semana)|todos los dias|todas las semanas|a diario|(?:una vez|\w+ veces) (?:al|por|"
    r"a la) (?:dia|semana|mes|ano))\b"
)
_ATTITUDE = re.compile(
    r"(?:yo )?(?:(?:no|ya no) quiero (?:(?:saber )?nada (?:de|con)|(?:invertir|meter (?:dinero|nada)) en) "
    r"(?!eso\b|esto\b|ell[oa]s?\b)\w|(?:no|ya no) quiero (?!(?:problemas|lios|excusas|gracias|dudas|cosas|mas|es[oa]s|"
    r"est[oa]s)\b)(?:\w{5,} de )?\w{3,}[aoe]s$|"
    r"i (?:do not|never) want (?:to (?:invest|put (?:any )?money) (?:in|into)|any) "
    r"(?!it\b|this\b|that\b|them\b)\w+|quiero \d[\d.,]* ?(?:euros|dolares|pesos|k|mil)\b)"
)
"""What somebody does not want to do with, or how much of it they want."""
_RISK = re.compile(r"\b(?:risks?|riesgos?|arriesg\w+)\b")
_ORDER = re.compile(
    r"\b(?:buy|sell|comprar|vender|compro|vendo) (?:\d|some \w+ shares|[a-z]{1,5}$)|"
    r"^me (?:llevo|quedo con|pido) \d[\d.,]* (?:de )?[a-z]{1,5}$"
)
_CAN = re.compile(
    r"\b(?:can not|can|could not|puedo|podemos) (?:only |solo |ever )?(?:eat|drink|invest|trade|afford|lose|risk|work|"
    r"spend|drive|travel|save|pay|hear|walk|read charts|comer|beber|invertir|operar|perder|arriesgar|trabajar|gastar|"
    r"(?:stand|bear) (?!it\b|th[aeio]|you)|conducir|viajar|ahorrar|pagar|permitirme|dedicar)"
)
_WILL = re.compile(
    r"\b(?:seguire|seguiremos)\b|\b(?:will|'ll) (?:keep \w+ing|stick|retire|move|marry|graduate|turn|be \d|travel|"
    r"start|have a|become|inherit|get paid)|"
    rf"\b(?:will be an?|sere) (?:\w+ ){{0,2}}?{OCCUPATION}\b"
)
_PASSING = re.compile(
    rf"^(?:[^,]{{0,30}}, ?)?(?:i|we)(?:'d)? {_FILLER}(?:(?:do|did|can|am|are|have|would) not )?{_FILLER}"
    r"(?:(?:(?:am|been|was) (?:trying|guessing|staring|struggling)|(?:am|was) not (?:sure|certain|here|ready|able|"
    r"following)|"
    r"(?:rather|prefer) not (?:to )?(?:say|answer|tell|talk)|read that|think|guess|see|(?:understand|"
    r"know)(?! (?:only )?(?:the basics|little|nothing|a (?:lot|little|bit)) )|"
    r"wonder|mean|meant(?!.*\d)|believe|suppose|agree|ask|say|said|saw|noticed|expected|check|hear|heard|thought|"
    r"would|should|could|might|may|shall|will|must|can(?! (?:follow|read|write|speak|play|cook|swim|ride)\b)|want|need|"
    r"hope|wish|forgot|appreciate|thank|get(?! paid| up| my| a )|got (?:it|an error|this|that)|accept|confirm|cancel|"
    r"do$|did$|feel|find|found(?! (?:an?|my|another) )|doubt|"
    r"remember|recall|care|try|tried|(?:am|are|was|were) (?:about|asking|looking(?! for)|watching|reading|"
    r"checking|waiting|wondering|thinking|comparing|seeing|sorry|sure|confused|here|back|ready|fine|good|ok|okay|"
    r"glad|curious|just|so|all|well|on it|aware|impressed|grateful|serious|surprised|able|in$|new here|"
    r"interested in \w+ing|planning$|planning to|with you)|"
    r"have (?:seen|read|heard|noticed|to(?! (?:take|pay|support|be)\b))|"
    r"have (?:an?|another|some|one more|no|two|any|the same) (?:other |quick |small |more )?(?:questions?|doubts?|"
    r"problems?|issues?|request|clue|ideas?))(?!\w))"
)
_PASSING_ES = re.compile(
    r"^(?:[^,]{0,30}, ?)?(?:(?:yo|ya|no|si|pues|bueno|tambien|ahora|solo|es que|lo|la|le|me|te|se) )*"
    r"(?:entiendo(?! (?:(?:nada|mucho|poco|lo (?:basico|justo|minimo)) )?de (?!que\b|lo\b)\w)|se\b(?! nos )|veo|creo|"
    r"pienso|supongo|espero|digo|busco|buscamos|pregunto|agradezco|confirmo|acepto|quiero|queremos|necesito|quisiera|"
    r"prefiero (?:verlo|ver|que me|saber)|comprendo|dudo|imagino|recuerdo|puedo|podemos|"
    r"estoy (?:viendo|mirando|leyendo|pensando|preguntando|esperando|comparando|"
    r"buscando (?:informacion|datos|noticias|algo)|de acuerdo|list[oa]|"
    r"bien|mal|aqui|segur[oa]|no)|tengo que|tenemos que|debo (?:\w+[aei]r)\b|debemos|"
    r"tengo (?:\w+ ){0,2}?(?:dudas?|preguntas?|problemas?|ganas|claro|idea|curiosidad|entendido)|"
    r"voy a (?!jubil|mudar|casar|ser |trabajar en )\w+|vamos (?:a|con)|voy$|sigo sin|"
    r"(?:intento|intentaba) \w+[aei]r|encuentro|preguntaba|prefiero no (?:dec|contest|respond|habl)[ei]r\w*|"
    r"llevo (?:un (?:buen )?(?:rato|ratito)|\w+ (?:minutos|horas)) \w+ndo|me (?:gustaria|interesa (?:saber|ver|"
    r"conocer)|quede(?! (?:sin|viud|huerfan|sol[oa]$|embaraz|en (?:el )?paro))|"
    r"da igual|parece|refiero|refer)|como (?:funciona|se|esta|va|puedo|puede|hago|es|te|lo|siempre|dije|decia|ves|"
    r"quieras|digas|no)|era (?:eso|solo|broma)|(?:fui|soy) yo|hago$|doy las gracias|paso$|uso$|di$|"
    r"(?:he|acabo de) (?:visto|leido|oido|entendido|notado|ver|leer))"
)
_ABOUT_NOW = re.compile(
    rf"^(?:[^,]{{0,20}}, ?)?(?:(?:this|that|it|est[ae]|es[ae]) (?:is|es) )?{_MINE} (?:first |only |"
    rf"primera )?(?:question|questions|order|orders|portfolio|point|bad|screen|app|request|"
    rf"watchlist|stops?(?! loss)|alerts?(?!.*\d)|limit (?:order|price|is)|"
    r"balance|message|internet|page|last|previous|apologies|pregunta|preguntas|duda|orden|ordenes|cartera|portafolio|"
    r"alertas?(?!.*\d)|limite (?:es|esta)|"
    r"pantalla|solicitud|saldo|mensaje|pagina|posiciones|positions|disculpas|gran|querid[oa])\b"
    r"(?! (?:is|are|es|son) (?:almost |casi )?(?:all|mostly|mainly|half|only|tod[oa]s?|sobre todo|solo|mitad)\b)"
)
_POSITION_RESULT = re.compile(
    r"\b(?:i|we) (?:am|are|have been) (?:(?:currently|now|still) )?(?:(?:up|down) (?:\$|\d|on\b|about\b)|"
    r"(?:winning|losing|gaining) (?:money|on|with)\b)|\b(?:i|we) (?:\w+ )?(?:lost|made|gained) "
    r"(?:(?!my\b)\w+ ){0,2}(?:money|\d\S*)(?: \w+){0,3} (?:today|this (?:morning|week))\b|"
    r"\b(?:voy|vamos|estoy|estamos) (?:ganando|perdiendo|palmando) (?:dinero|pasta|con|en|un|\d)|"
    r"\bhoy (?:he|hemos) (?:perdido|ganado) (?:dinero|pasta|\d)|"
    r"\b(?:he|hemos) (?:perdido|ganado) (?:dinero|pasta|\d\S*)(?: \w+){0,2} hoy\b"
)
"""How a position or an account is doing at the moment."""
_A_VERB = re.compile(
    r"\b(?:is|are|was|were|has|have|had|lives|works|goes|will|can|does|do|es|son|esta|estan|tiene|tienen|vive|viven|"
    r"trabaja|se llama|se llaman|estudia|estudian|cumple|cumplen|era|fue|va|van|empieza|empiezan|gana|usa|paga|quiere|"
    r"sera|murio|nacio|ha|han|died|fell|left|grew|gave|got|took|went|came|made|found|began|sold|bought|lost|quit|ran|"
    r"used|met|fought|cobra|opera|juega|"
    r"habla|fuma|necesita|prefiere|cuesta|vale|vence|termina|acaba|me|not|no|[a-z]{3,}s|[a-z]{3,}ed)\b"
)

_POSSESSION = re.compile(rf"(?:(?:ahora|now|also|tambien|ademas|actualmente|currently) )?{_MINE} ")
_WANTS_TO_KNOW = re.compile(r"\b(?:want|quiero|like|need|necesito) (?:to )?(?:know|see|saber|ver|entender)\b")
_THIRD_PERSON_VERB_ES = re.compile(r"^(?:\w+ )?(?:mis?|nuestr[oa]s?) \w+ (?:se |ya |no )*\w{3,}(?:a|e|an|en)\b")
"""A Spanish verb of the third person after its noun: "mi pasaporte caduca"."""


def clauses(sentence: str) -> list[str]:
    """Returns the clauses of a sentence in its own words, each beginning where the writer speaks of themselves."""
    unquoted_text = unquoted(sentence.replace("’", "'"))
    folded_text = folded_in_place(unquoted_text)
    starts = [
        (match.start(), match.end("lead"))
        for match in _CLAUSE_START.finditer(folded_text)
        if not (match.start() and _REFERS_BACK.match(folded_text, match.end("lead")))
    ]
    for index, (start, lead_end) in enumerate(starts[:]):
        following = starts[index + 1][0] if index + 1 < len(starts) else len(folded_text)
        if _REASON.search(folded_text[start:lead_end]) and (
            main := _MAIN_CLAUSE.search(folded_text, lead_end, following)
        ):
            starts.append((main.end(), main.end()))
    starts.sort()
    for together in _JOINT_SUBJECT.finditer(folded_text):
        separate = [lead_start for lead_start in starts if not together.start() <= lead_start[0] < together.end()]
        starts = sorted([*separate, (together.start(), together.start())])
    clauses_found: list[str] = []
    for index, (_, start) in enumerate(starts):
        end = starts[index + 1][0] if index + 1 < len(starts) else len(sentence)
        if clause := _TAIL.sub("", unquoted_text[start:end]).strip(" .,;:!"):
            clauses_found.append(" ".join(clause.split()))
    return clauses_found


def is_order(normalized: str) -> bool:
    """Whether a normalized text asks to buy or sell something."""
    lasting = r"\b(?:bought|compre|when|cuando|never|nunca|always|siempre|(?:i|we) only|solo (?:compro|vendo))\b"
    return bool(_ORDER.search(normalized)) and not re.search(lasting, normalized)


def is_plain_fact(clause: str) -> bool:
    """Whether a clause from `clauses` says something about its writer that is worth remembering."""
    normalized = normalize(clause).strip(" .,;:!")
    if len(words(normalized)) < MIN_WORDS and not re.match(r"(?:fumo|bebo)$", normalized):
        return False
    if is_order(normalized):
        return False
    if _ATTITUDE.match(normalized):
        return True
    if _POSITION_RESULT.search(normalized) or re.search(r"\b(?:can|could|puedes|podrias) you\b", normalized):
        return False
    if is_passing_thought(normalized):
        return False
    if _is_habit_or_plan(normalized) or _JOINT_SUBJECT.match(normalized) or not _POSSESSION.match(normalized):
        return True
    return len(words(normalized)) > MIN_WORDS and bool(
        _A_VERB.search(normalized) or _THIRD_PERSON_VERB_ES.match(normalized) or HAS_HAPPENED.search(clause.lower())
    )


def _is_habit_or_plan(normalized: str) -> bool:
    return any(pattern.search(normalized) for pattern in (_HABIT, _RISK, _GOAL, _PLAN, _CAN, _WILL))


def is_passing_thought(normalized: str) -> bool:
    """Whether a normalized text is about the chat, or says what its writer thinks, wants or does at the moment."""
    if _ABOUT_NOW.match(normalized):
        return True
    if _ATTITUDE.match(normalized) or _is_habit_or_plan(normalized):
        return bool(_WANTS_TO_KNOW.search(normalized))
    without_purpose = _PURPOSE.sub("", normalized)
    return any(pattern.match(text) for pattern in (_PASSING, _PASSING_ES) for text in (normalized, without_purpose))
