"""How and where somebody is while they write: "I'm hungry", "I'm on the bus right now", "estoy comiendo".

It is true, and over in an hour. What says for how long, how often or since when ("I have had a headache since May",
"siempre tengo frío") is no such state, and neither is a state that changes rarely ("I'm unemployed right now").
"""

import re

_WHEN = (
    r"(?:(?:right |just )?now|at the moment|today|tonight|this (?:morning|afternoon|evening)|already|again|too|lol|"
    r"haha|ya|hoy|ahora(?: mismo)?|ahorita|en este momento|esta (?:manana|tarde|noche)|tambien|otra vez|(?:ja)+)"
)
_END = rf"(?=\W*$|[,;:(] ?| {_WHEN}\b| (?:because|so|but|and|porque|pero|y|por lo de) )"
_VERY = (
    r"(?:(?:a (?:bit|little)|so|very|really|quite|pretty|too|just|still|already|kind of|super|feeling|not feeling|"
    r"getting|un (?:poco|poquito)|muy|bastante|super|tan|re|todavia|ya|aun) )*"
)
_AM = rf"(?:i|we) (?:(?:am|are|was|were)|feel|have been feeling) {_VERY}"
_ESTOY = rf"(?:yo )?(?:ya |hoy |ahora(?: mismo)? |todavia )*(?:estoy|estamos|ando|andamos|me siento) {_VERY}"
_FELT = (
    r"hungry|thirsty|starving|famished|tired|exhausted|knackered|sleepy|freezing|cold|hot|sick|unwell|poorly|dizzy|"
    r"nervous|anxious|stressed(?: out)?|bored|drunk|tipsy|hung ?over|upset|angry|furious|mad|sad|down|happy|excited|"
    r"thrilled|late(?: for \w+)?|busy|on hold(?: with (?:\w+ )?\w+)?|in a (?:hurry|rush|bad mood|good mood)|"
    r"running late|half asleep|awake|speechless|shocked"
)
_SENTIDO = (
    r"cansad[oa]s?|agotad[oa]s?|hambrient[oa]s?|enferm[oa]s?|mal|fatal|maread[oa]s?|nervios[oa]s?|ansios[oa]s?|"
    r"estresad[oa]s?|aburrid[oa]s?|borrach[oa]s?|enfadad[oa]s?|enojad[oa]s?|furios[oa]s?|triste|content[oa]s?|feliz|"
    r"emocionad[oa]s?|ocupad[oa]s?|liad[oa]s?|apurad[oa]s?|muert[oa] de \w+|helad[oa]s?|congelad[oa]s?|despiert[oa]s?|"
    r"dormid[oa]s?|flipando|de (?:mal|buen) humor|tarde"
)
_PLACE = (
    r"(?:on|in|at|inside|outside|off|near|back|back at|back in|still at|still in) (?:(?:the|a|an|my|our) )?(?:bus|"
    r"train|metro|subway|tube|tram|plane|phone|road|way|motorway|toilet|loo|couch|sofa|beach|break|call|car|taxi|cab|"
    r"uber|shower|bath|bathroom|elevator|lift|(?:queue|line|meeting|class)(?: (?:for|with|at) (?:\w+ )?\w+)?|traffic|"
    r"waiting room|kitchen|bed|pub|bar|cinema|park|"
    r"street|stairs|dentist(?:'s)?|doctor(?:'s)?|hospital|gym|airport|station|office|desk|work|home|school|lunch|"
    r"dinner|"
    r"breakfast|supermarket|shops?|hairdresser(?:'s)?|barber(?:'s)?|bank|party|wedding|hotel|game|match)"
)
_LUGAR = (
    r"(?:en|por|de camino al?|llegando al?|saliendo de(?:l| la)?|entrando al?|volviendo al?|yendo al?) (?:(?:el|la|un|"
    r"una|mi) )?(?:metro|bus|autobus|colectivo|camion|tren|taxi|uber|coche|auto|carro|avion|aeropuerto|gimnasio|gym|"
    r"oficina|escritorio|trabajo|(?:reunion|junta|clase|cola|fila)(?: (?:del?|con) (?:\w+ )?\w+)?|cama|ducha|bano|"
    r"medico|medica|"
    r"dentista|casa|super|supermercado|"
    r"banco|playa|calle|trafico|atasco|cine|bar|parque|peluqueria|estacion|hospital|hotel|boda|fiesta|cocina|sofa)"
)
_DOING = (
    r"(?:about to|(?:driving|eating|cooking|walking|commuting|boarding|queuing|leaving|shopping|travelling|traveling|"
    r"showering|jogging|running)(?= (?:right )?now| at the moment|\W*$)|(?:cooking|eating|laughing|crying|shivering|"
    r"sweating|yawning)\b|having (?:a |my )?(?:lunch|dinner|breakfast|"
    r"coffee|beer|drink|snack|break|nap)|going (?:out|home|(?:in)?to (?:bed|sleep|the|a|my)\b)|heading|on my way|"
    r"off to|(?:watching|listening to) (?:the|a|my) \w+)"
)
_HACIENDO = (
    r"(?:por|a punto de) \w+[aei]r|(?:comiendo|cenando|desayunando|almorzando|merendando|manejando|conduciendo|"
    r"caminando|cocinando|duchandome|viajando|saliendo|llegando|corriendo|haciendo (?:cola|fila))"
    r"(?= ahora| en este| hoy|\W*$)|tomando (?:(?:un|una|unas?|el) )?(?:cafe\w*|mate|te|cerveza|cana|birra|vino|copa|"
    r"trago|algo)\b"
)
_JUST_DONE = (
    r"(?:i|we) (?:have )?just (?:woke|woken|got up|got (?:home|back|in|here|out)|arrived|ate|had (?:a |my )?(?:lunch|"
    r"dinner|breakfast|coffee)|finished (?:work|eating|lunch|dinner))\b|"
    r"(?:yo )?(?:acabo|acabamos) de (?:despert|levant|lleg|com|cen|desayun|almorz|volv|sal|duch)[aei]r\w*|"
    r"(?:ya |ahora )*(?:me|nos) (?:voy|vamos)(?: yendo| ya| a (?:dormir|comer|cenar|duchar\w*|la cama|trabajar))?\W*$"
)
_ABOUT_THE_CHAT = (
    r"(?:as )?(?:i|we|you) (?:have |had |already |just )*(?:(?:talked|spoke|spoken|chatted|discussed|"
    r"went) (?:to each other )?"
    r"(?:about|over|through|of)\b|(?:told you|mentioned|asked you) (?:about|this|it|so|already|before)\b)|"
    r"(?:como |ya )*(?:(?:te|os|le) (?:dije|conte|comente|pregunte|he (?:dicho|contado|preguntado))(?! que\b)|"
    r"hablamos (?:de|del|sobre))\b"
)
_TODAY = r"(?:right now|at the moment|today|tonight|this (?:morning|afternoon|evening)|hoy|ahora mismo|ahorita)"
_CHANGES_RARELY = (
    r"living|working|studying|renting|saving|trading|investing|based|employed|unemployed|self|retired|single|married|"
    r"engaged|divorced|separated|widowed|pregnant|between jobs|out of (?:work|a job)|homeless|in debt|broke|abroad|"
    r"viviendo|trabajando|estudiando|alquilando|ahorrando|operando|invirtiendo|jubilad\w+|casad\w+|solter\w+|"
    r"divorciad\w+|separad\w+|viud\w+|embarazad\w+|desemplead\w+|parad[oa]|en (?:el )?paro|sin (?:trabajo|empleo)|"
    r"endeudad\w+|de baja|as of|from|since|desde|a partir"
)
_ONLY_TODAY = (
    r"hoy (?:no )?(?!cumplo|empiezo|comienzo|dejo|firmo|estreno)[a-z]{2,}o\b(?! \w+[ai]do\b)|"
    rf"(?:(?:i|we) (?:am|are|feel)|(?:hoy |ahora )?(?:yo )?(?:estoy|estamos|ando|"
    rf"andamos)) (?!.*\b(?:{_CHANGES_RARELY})\b)"
    rf"(?:(?!\d)[\w']+ ){{1,5}}{_TODAY}\W*$"
)
_STATE = re.compile(
    rf"{_JUST_DONE}|{_ONLY_TODAY}|{_ABOUT_THE_CHAT}|"
    rf"(?:{_WHEN},? )?(?:{_AM}(?:{_FELT}){_END}|{_AM}{_PLACE}{_END}|{_AM}{_DOING}|"
    rf"(?:i|we) {_VERY}(?:have got|have|got) (?:a |an |the )?(?:bad |terrible |splitting )?(?:headache|hangover|cold|"
    rf"fever|flu|stomach ?ache|toothache|sore throat){_END}|(?:my|our) (?:head|stomach|back|feet|foot|eyes?|tooth|"
    rf"teeth|throat|legs?|neck|hands?) (?:hurts?|(?:is|are) (?:killing me|sore|aching|cold|freezing|wet|numb)){_END}|"
    rf"{_ESTOY}(?:{_SENTIDO}){_END}|{_ESTOY}{_LUGAR}{_END}|{_ESTOY}(?:{_HACIENDO})|"
    r"(?:ya |hoy |ahora |todavia )*(?:tengo|tenemos) (?:(?:mucha?|un poco de|algo de|tanta?|bastante|una?) )?(?:hambre|"
    rf"sed|sueno|frio|calor|prisa|fiebre|resaca|dolor de cabeza|gripe|catarro|resfriado)(?: (?:terrible|horrible|"
    rf"fuerte|tremend[oa]|barbar[oa]))?{_END}|"
    rf"(?:hoy |ahora )?(?:me|nos) duelen? (?:mucho )?(?:la|el|los|las) \w+{_END})"
)
_LASTS = re.compile(
    r"\b(?:always|usually|often|every|each|since|for (?:\d+|an?|\w+ (?:days|weeks|months|years))|years|months|weeks|"
    r"never|most|chronic\w*|whenever|when|if|siempre|suelo|cada|todos|todas|desde|hace|anos|meses|semanas|nunca|"
    r"cronic\w*|cuando|si)\b"
)
_LAUGHS = re.compile(r"\b(?:lol|lmao|ha(?:ha)+|(?:ja){2,}|jeje|xd)\b|[😂🤣😅]")
_BOASTS_OR_WISHES = re.compile(
    r"\b(?:i am|soy) (?:(?:basically|practically|literally|totally|basicamente|practicamente|literalmente|casi) )*"
    r"(?:the|el|la|(?:a |an |un |una )?(?:genius|god|king|queen|legend|millionaire|billionaire|rich|genio|dios|rey|"
    r"reina|crack|leyenda|millonari[oa]|ric[oa]))\b|\b(?:i am|soy) (?:basically|practically|basicamente|"
    r"practicamente)\b|"
    r"\b(?:would|'d) (?:love|like) to\b|\bme (?:encantaria|gustaria)\b"
)


def is_passing_state(said: str) -> bool:
    """Whether a plain text says no more than how or where its writer is at the moment."""
    return bool(_STATE.match(said)) and not _LASTS.search(said)


def is_laughed_at(said: str) -> bool:
    """Whether a plain text, told with laughter, calls its writer what nobody is, or wishes for something: "lol I'm
    basically Warren Buffett"."""
    return bool(_LAUGHS.search(said) and _BOASTS_OR_WISHES.search(said))
