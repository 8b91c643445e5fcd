"""Words of talk in es and en, plain: what can you do, thanks, a complaint, which language, what somebody tells of
themselves."""

import re

ABILITIES = re.compile(
    r"\b(what (can|could) (you|i)( \w+)? (do|ask|help)( \w+)?|what do you (do|know)\W*$|how can you help|what are "
    r"you able|"
    r"who are you|are you (a |an )?(bot|robot|ai|human|real|person)|what are you\W*$|your (abilities|features)|"
    r"que (puedes|sabes|podrias|puedo) (hacer|preguntar\w*)|que haces|en que (me )?(puedes|podrias) ayudar\w*|"
    r"como (me )?puedes ayudar\w*|para que sirves|quien eres|eres (un |una )?(bot|robot|ia|humano|humana|persona))\b|"
    r"\b(?:is this|am i (?:talking|speaking|chatting|writing) (?:to|with)) (?:a |an )?(?:real )?(?:chat ?)?(?:bot|"
    r"robot|ai|"
    r"human|machine|person)\b|\b(?:hablo|hablando|chateando|escribiendo) con (?:un|una) (?:bot|robot|maquina|ia|"
    r"persona)\b|"
    r"\besto es (?:un|una) (?:chat ?)?(?:bot|robot|maquina|ia)\b|\bwhat (?:\w+ ){0,5}(?:can|could|may|should) i ask\b|"
    r"\bque (?:\w+ ){0,4}(?:puedo|podria) (?:preguntar|pedir)\w*|"
    r"^\W*(help|ayuda)( me)?\W*$"
)
SHORT_TALK = 9
"""Words of a message that may be thanks or a complaint and no more."""
WANTS = re.compile(
    r"\b(?:what|how|when|where|who|which|why|can|could|would|want|need|que|cual|como|cuando|cuanto|cuanta|donde|quien|"
    r"puedo|puedes|quiero|necesito|busco|tengo|hay|buy|sell|compra|vende|cancel\w*|price|precio|and|pero|but)\b"
)
THANKFUL = re.compile(r"\b(?:thanks?|thx|ty|cheers|gracias|agradecid[oa]|merci|much appreciated)\b")
UPSET = re.compile(
    r"\b(?:useless|stupid|idiots?|dumb|terrible|awful|horrible|worst|rubbish|crap|garbage|hopeless|disaster|pathetic|"
    r"inutil(?:es)?|tont[oa]s?|idiotas?|estupid[oa]s?|malisim[oa]s?|pesim[oa]s?|fatal|verguenza|desastre|mierda|asco|"
    r"basura|patetic[oa]s?|no (?:me )?(?:sirves?|ayudas?|entiendes|enteras)|not helpful|unhelpful|(?:don t|do not|dont|"
    r"didn t|not) understand(?:ing)? me)\b"
)
TONGUE = re.compile(
    r"\b(?:do|can|could) you (?:speak|talk|write|understand|answer)(?: me)?(?: in)? (?:english|spanish|castilian)\b|"
    r"\b(?:habl(?:as|ais|an|a usted)|entiendes|entendeis) (?:en )?(?:espanol|castellano|ingles)\b|"
    r"\b(?:can|may|could) (?:i|we) (?:ask|write|speak|talk|chat)(?: to you| you)?(?: this)? in (?:english|spanish)\b|"
    r"\b(?:puedo|podemos|se puede|podria) (?:preguntar|escribir|hablar)\w*(?: contigo)? en (?:espanol|castellano|"
    r"ingles)\b"
)
FORGET = re.compile(
    r"\W*(?:(?:please|ok|por favor)\W+)*(?:forget (?:that|this)|olvida (?:eso|esto))\W*(?:please|"
    r"por favor)?\W*"
)
STATED = re.compile(
    r"^(?:(?:and|but|well|actually|now|y|pero|bueno|ahora)[, ]+)*"
    r"(?:i(?:'d)? (?:(?:really|now) )?(?:prefer|rather)\b|i (?:(?:really|now) )?(?:like|love)\b|i always\b|"
    r"my name is\b|call me\b|"
    r"(?:yo )?(?:siempre |ahora )?prefiero\b|(?:a mi )?(?:ahora )?me gustan?\b|me llamo\b|mi nombre es\b|llamame\b|"
    r"my (?:risk (?:profile|tolerance)|level|experience|(?:trading )?style|time ?zone) is\b|"
    r"mi (?:perfil(?: de \w+)?|nivel(?: de experiencia)?|experiencia|estilo(?: de \w+)?|zona horaria) es\b|"
    r"i(?:'m| am) (?:now |no longer )?(?:an? )?(?:\w+ )?(?:trader|investor|beginner|novice|conservative|moderate|"
    r"aggressive|intermediate|advanced)\b|(?:ya no |ahora )?soy (?:una? )?(?:\w+ )?(?:trader|inversora?|operadora?|"
    r"principiante|conservadora?|moderad[oa]|agresiv[oa]|intermedi[oa]|avanzad[oa])\b|"
    r"i(?:'ve| have)? (?:now |just |mostly |usually )*(?:live|work|study|speak|invest|trade|moved|retired|was born|"
    r"got married)\b|i(?:'m| am) from\b|i have (?:an? |\w+ )?(?:kids?|children|sons?|daughters?|wife|husband)\b|"
    r"(?:yo )?(?:ahora )?(?:vivo|trabajo|estudio|hablo|invierto|opero|naci|me mude|me jubile|me case)\b|soy de\b|"
    r"tengo (?:una? |\w+ )?(?:hij[oa]s?|anos|mujer|marido|perr[oa]s?|gat[oa]s?)\b|"
    r"(?:i (?:now )?(?:do|trade|moved|switched|changed)|(?:ahora )?(?:hago|opero|pase|cambie|me pase))\b.*"
    r"\b(?:swing|day[ -]?trad\w+|intraday|intradia|scalping|long[ -]term|largo plazo))"
)
