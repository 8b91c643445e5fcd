"""Patterns of small talk and of follow-ups, in Spanish and English; texts are normalized."""

import re

from agent.domain.offline.market_words import ANOTHER_DAY
from contracts.expressions import expression

ABILITIES = expression(
    r"^\W*(?:(?:and|so|ok|y|pues|hey|there)\W+)*(?:what (?:can|could) i(?: \w+)? (?:do|see|check)|que puedo hacer)"
    r"(?: (?:here|(?:with|on) (?:you|this|my (?:account|plan))|aqui|contigo|con (?:esto|mi (?:cuenta|plan)))){0,2}\W*$|"
    r"\b(what (can|could) (you|i)( \w+)? (ask|help|look up)( \w+)?|what (can|could) you( \w+)? (do|see|check)( \w+)?|"
    r"what do you (do|know)\W*$|how can you help|what are "
    r"you able|(?:are )?you (a |an )?(bot|robot|ai|human|real|person)|what are you\W*$|your (abilities|features)|"
    r"que (puedes|sabes|podrias) (hacer|preguntar\w*)|que puedo preguntar\w*|que haces|"
    r"en que (me )?(puedes|podrias) ayudar\w*|como (me )?puedes ayudar\w*|para que sirves|"
    r"(eres|sois|es usted) (un |una )?(bot|robot|ia|humano|humana|persona))\b|"
    r"\b(?:is this|am i (?:talking|speaking|chatting|writing) (?:to|with)) "
    r"(?:a |an )?(?:real )?(?:chat ?)?(?:bot|robot|ai|human|machine|person)\b|"
    r"\b(?:hablo|hablando|chateando|escribiendo) con (?:un|una) (?:bot|robot|maquina|ia|persona)\b|"
    r"\besto es (?:un|una) (?:chat ?)?(?:bot|robot|maquina|ia)\b|\bwhat (?:\w+ ){0,5}(?:can|could|may|should) i ask\b|"
    r"\bque (?:\w+ ){0,4}(?:puedo|podria) (?:preguntar|pedir)\w*|"
    r"\b(?:i\W?m (?:new|lost)|new (?:here|to this)|where do i (?:start|begin)|soy nuev[oa]|por donde empiezo|"
    r"no entiendo nada)\b|"
    r"\b(?:who are you|quien eres)(?: (?:guys|people|all|exactly|then|tu|exactamente|entonces))*\W*$|"
    r"^\W*(help|ayuda)( me)?\W*$"
)
WHETHER = expression(
    r"\W*(?:are|is|do|does|can|could|will|would|es|son|hay|se|puedo|tengo que)\b|\W*(?:mis?|las?|los?|el) .*\?"
)
"""A question to be answered by yes or no."""
MY_PLAN = expression(
    r"\b(?:what|which|que|cual)\b.{0,12}\bplan\b.{0,8}\b(?:am i|do i have|have i|i am|i m|i have|tengo|estoy|"
    r"es el mio)\b|\b(?:whats?|what is|which is|what s|cual es|dime|que (?:incluye|trae)) (?:in )?(?:my|"
    r"mi) (?:current |actual )?plan\b"
)
OF_WHAT_WAS_TOLD = expression(
    r"^\W*(?:(?:and|y)\W+)?(?:when|which|how (?:much|many)|where|cuando|cual|cuant[oa]s?|donde)\b.*"
    r"\b(?:that|it|this|those|eso|ese|esa|esto|fue|era)\b|"
    r"^\W*(?:(?:and|y|which (?:one )?(?:is|was)|cual (?:es|fue)) )(?:(?:the|la|el) )?"
    r"(?:best|worst|lowest|highest|mejor|peor|mas (?:alt|baj)[oa]|ultim[oa]|last|first|primer[oa])(?: one)?\W*$"
)
"""Asks when something was that was just said."""
BEST = expression(
    r"\b(?:best|worst|lowest|highest|mejor|peor|last|first|ultim[oa]|primer[oa]|alt[oa]|baj[oa])\b", re.IGNORECASE
)
OVERALL = expression(
    r"\W*(?:and|y)\W+(?:overall|in total|altogether|all together|en total|en conjunto|total|"
    r"(?:the |la |el )?(?:best|worst|biggest|smallest|mejor|peor|mayor|menor)(?: one)?)\W*|"
    r"\W*(?:(?:and|y|which|what|cual|que)\b\W*)+(?:(?:one|is|are|s|es|la|el|that|has|is) )*(?:que )?(?:"
    r"(?:mas|menos) (?:gana|pierde|sube|baja|vale)|(?:up|down|lost|made|gained|worth) (?:the )?(?:most|least))\W*"
)
OPENING = expression(
    r"\bbuen[oa]s? (?:dias?|tardes?|noches?)\b|"
    r"\b(?:(?:i have|i ve got|can i ask|may i ask|tengo|queria hacer|puedo hacer(?:te|os)?) )?"
    r"(?:an?|una|one|another|otra) "
    r"(?:(?:quick|short|little) )?(?:question|pregunta|preguntita|duda|consulta)(?: (?:rapida|please|por favor))?\W*$"
)
"""A greeting with the time of day, or the announcement of a question; its words alone would ask for a time."""
GREETED = expression(
    r"^[¡¿\s]*(?:hola|ola|hi|hello|hey|buen[oa]s?(?: (?:d[ií]as?|tardes?|noches?))?|good (?:morning|afternoon|evening))"
    r"\b[\s,.!¡:;-]*(?=[¿\w])",
    re.IGNORECASE,
)
"""A greeting before a question."""
_CHANGES_IT = (
    r"(?:raise|lower|move|shift|bring|bump|increase|reduce|double|change|edit) (?:its?|that|them|the|my)|"
    r"(?:make|set|put) (?:it|that|the (?:\w+ )?one)(?= (?:to |at )?[$€]?\d)|"
    r"(?:pon|deja)l[oa](?= (?:mejor )?(?:a|en) [$€]?\d)|"
    r"(?:pon|deja|haz|pasa) (?:la|el) (?:de )?(?=\w+ (?:a|en) [$€]?\d)|"
    r"(?:sube|baja|mueve|aumenta|reduce|duplica|cambia|modifica)(?:l[oae]s?| (?:el|la|mi))"
)
YES_BUT = expression(
    r"^\W*(?:h?m+\W+|um+\W+|eh+\W+)?(?:yes|si|ok|vale|but|pero|only|just|solo)\b(?!\W*(?:and|y|plus)\b).{0,12}\d"
)
"""Agrees with another figure: "yes, but only 10"."""
AGREES = expression(r"\b(?:yes|yeah|yep|si)\b")
IN_ALL = expression(
    r"\b(?:how much|what|cuanto)\b.*\b(?:(?:would|will|does) (?:that|it|this|they|those|the (?:whole thing|lot|"
    r"order)) (?:be|come to|set me back|cost)|(?:that|it|this|they|those) cost|all in|in total|altogether|in all|"
    r"en total|seria|serian|costaria\w*|(?:va|van) a (?:costar|salir)|cuesta eso|would (?:it|that|they) cost)\b"
)
"""Asks for the total of an order."""
REMINDER = expression(
    r"^\W*(?:(?:please|can you|could you|will you|hey|ok|and|por favor|puedes|podrias|oye|y)\W+)*"
    r"(?:(?:remind|wake|ping|call|message|text) me|set (?:me )?(?:a|an) (?:reminder|alarm)|"
    r"(?:recuerdame|despiertame|llamame|escribeme)|(?:pon|haz|crea)(?:me)? (?:un|una) (?:recordatorio|alarma))\b"
    r"(?=.*(?:\b(?:at|a las?|sobre las) \d|\b(?:tomorrow|tonight|later|today|next|in|on|every|manana|luego|hoy|esta|"
    r"proxim[oa]|dentro de|en|el|cada)\b|"
    r"(?<=remind me )to \w|(?<=recuerdame )(?:que )?(?:vend|compr|mir|revis|mover)))"
    r"(?!.*\b(?:when|if|once|cuando|si|en cuanto)\b)"
)
"""Asks for a reminder at a time, which does not exist here."""
DROPS = expression(
    r"^\W*(?:(?:and|ok|now|please|y|ahora|por favor|mejor)\W+)*(?:remove|delete|drop|unfollow|take (?:out|off)|"
    r"(?:quita|borra|elimina|saca)(?:me|r)?)\b(?!.*\b(?:alert\w*|avisos?|orders?|orden\w*)\b)"
)
"""Removes one item of the list just shown."""
ONLY = expression(r"\b(?:just|only|solo|solamente|nada mas)\b")
CHANGES_IT = expression(rf"\b(?:{_CHANGES_IT})\b")
"""Changes something that exists already."""
ONE_NAMED = expression(r"\b(?:the|my) \w+ one\b|\b(?:la|el|lo) de (?!la\b|el\b)\w+")
"""One of several that were listed, by its share: "the IBM one", "la de Apple"."""
AMENDS = expression(
    r"\b(make (?:it|that|them)|instead|rather|better|let it be|set it|actually|que sean?|mejor|"
    r"hazl[oa]s?|ponl[oae]s?|en vez|en su lugar|sino|pero (?:con|a|de)|i meant|qu(?:eria|iero|ise) decir|"
    rf"{_CHANGES_IT}|(?:change|changed|cambia|pasa)(?:l[oa])? (?:to|a) [$€]?\d\S*|"
    r"(?:\d\S*|a (?:bit|little)|un poco) (?:\w+ )?(?:higher|lower|more|less|fewer|mas|menos))\b|"
    r"^\W*(?:no|nah|nope|wait|espera|(?:scratch|make) that|on second thoughts?|"
    r"pensandolo mejor)\b.{0,12}\d|^\W*(?:a )?limit (?:at|to|a|de|en) [$€]?\d|"
    r"\b(?:swap|switch) (?:it|that|them|those) (?:for|to|with)\b|\bcambi[ae]l[oa]s? por\b|"
    r"^\W*(?:(?:no|ya no|ok|and|y|pues|better|mejor)\W+)*(?!(?:sell|buy|vend|compr|alert|avis|notif))"
    r"(?:\w+ (?:it|that|them|those|(?:the )?(?:order|limit|stop|price))(?: \w+)? (?:to|at)|"
    r"\w+(?:l[aoe]s?|(?<=cambia) (?:el )?(?:limite?|stop|precio)) (?:a|en)) [$€]?\d[\d.,]*\W*$|^\W*(?:sube|baja|"
    r"raise|lower|up|down)\w* (?:to|a|hasta) \d"
)
"""Asks for something else about what was just mentioned."""
NOT_YET = expression(
    r"^\W*(?:(?:no|ok|hey|please|but|and|wait|hold (?:up|on)|whoa|oh|uy|ay|oye|pero|espera|espere|mejor|por favor|"
    r"porfa)\b\W*)*(?:(?:not(?: just)? yet|(?:todavia|aun) no)\W*$|"
    r"(?:let\W?s|let us) (?:leave|forget|drop|skip) (?:it|that)\b[^\d?]*$|(?:mejor )?(?:dej[ae]|dejemos|"
    r"olvid[ae])lo\b[^\d?]*$|"
    r"(?:do not|don\W?t|never|not|no|nunca) +(?:(?:me|la|lo|las|los|want (?:you )?to|quiero|que) )*"
    r"(?:buy|sell|order|place|confirm|send|execute|submit|compr|vend|confirm|envi|mand|ejecut|orden)\w*\b[^\d?]*$)"
)
"""Says that nothing should be ordered now."""
CORRECTS = expression(
    r"^\W*(?:no|not|sorry|perdon|wait|espera|i (?:meant?|said)|qu(?:eria|iero|ise) decir|digo|dije|he dicho)\b"
    r"(?!\W*(?:thank|gracias))"
)
"""Corrects what was just said: not that, but this."""
TONGUE = expression(
    r"\b(?:change|switch|set|cambi\w+|pon\w*)\b.{0,20}\b(?:language|idioma|english|spanish|ingles|espanol)\b|"
    r"\b(?:do|can|could) you (?:speak|talk|write|understand|answer)(?: me)?(?: in)? (?:english|spanish|castilian)\b|"
    r"\b(?:habl(?:as|ais|an|a usted)|entiendes|entendeis) (?:en )?(?:espanol|castellano|ingles)\b|"
    r"\b(?:can|may|could) (?:i|we) (?:ask|write|speak|talk|chat)(?: to you| you)?(?: this)?(?: in)? "
    r"(?:english|spanish)\b|"
    r"\b(?:puedo|podemos|se puede|podria) (?:preguntar|escribir|hablar)\w*(?: contigo)? en (?:espanol|castellano|"
    r"ingles)\b"
)
FORGET = expression(
    r"\W*(?:(?:please|ok|por favor)\W+)*(?:(?:forget|wipe|erase) (?:that|this)|(?:olvida|borra) (?:eso|"
    r"esto))\W*(?:please|por favor)?\W*"
)
STATED = expression(
    r"^(?:(?:and|but|well|actually|now|hi|hey|so|ok|btw|by the way|honestly|y|pero|bueno|buenas|hola|pues|oye|mira|"
    r"ahora|la verdad(?: es que)?|por cierto)[, ]+)*"
    r"(?:i(?:'m| am) (?:no longer|not) .*any ?more\b|(?:me|nos) (?:he|hemos) (?:mudado|jubilado|casado)\b|ya no soy\b|"
    r"i(?:'d)? (?:(?:really|now) )?(?:prefer|rather)\b|i (?:(?:really|now|only|just|mostly) )?(?:like|love)\b|"
    r"i (?:always|usually|normally|mostly|tend to)\b|(?:yo )?suelo\b|"
    r"my (?:\w+ )?(?:name is|\w+ is (?:called|named))\b|call me\b|mis? \w+ se llaman?\b|"
    r"(?:yo )?(?:siempre |ahora )?prefiero\b|(?:a mi )?(?:ahora |solo )?me gustan?\b|me llamo\b|"
    r"mi nombre es\b|llamame\b|my (?:risk (?:profile|tolerance)|level|experience|(?:trading )?style|time ?zone|"
    r"(?:\w+ )?(?:horizon|goal|strategy)) "
    r"is\b|mi (?:perfil(?: de \w+)?|nivel(?: de experiencia)?|experiencia|estilo(?: de \w+)?|zona horaria|"
    r"horizonte(?: de \w+)?|objetivo(?: de \w+)?|estrategia(?: de \w+)?) es\b|"
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
_LED = r"\W*(?:(?:hi|hello|hola|so|and|well|y|pues|bueno|ya|yo)\W+)*"
TELLS = expression(
    r"^(?!.*\b(?:need|wan(?:t|na)|would like|looking for|problem|help|error|question|wonder|can ?(?:'t|not)|stolen|"
    r"forgot|know|(?:don'?t|do not|didn'?t|did not) (?:see|understand|get|receive)|quiero|necesito|quisiera|gustaria|"
    r"busco|ayuda|problemas?|duda|puedo|podria|robaron|olvide|saber|queria|querria|no (?:se|entiendo|encuentro|veo|"
    r"funciona\w*|carga\w*|abre|me (?:llega|deja|sale))|\w*(?:not|n'?t) work\w*|broken|fail\w*|crash\w*|wrong|charged|"
    r"lost (?:access|my (?:password|phone|account|card))|fall[ao]n?|cobraron)\b)(?:\W*(?:(?!(?:what|which|who|how|why|"
    r"when|where)s?\b|(?:is|are|do|does|did|can|could|would|will|que|como|cuando|cual|donde|"
    r"cuant[oa]s?)\b)[\w']+[,.!]* ){0,5}?(?:i|we|i[' ](?:m|ve)|soy|estoy|somos|estamos|(?<!\w )me|(?<=\bmi )me|"
    r"(?<=\bya )me|(?<=\bno )me|(?<=\bque )me|nos) |"
    rf"{_LED}(?:it(?:'?s| is| was)|that(?:'?s| is| was)|this (?:is|was)|you (?:are|were|have|gave|did|told)|yesterday|"
    rf"last (?:night|week|month)|est[ao] (?:es|esta|\w+ndo)|eso (?:es|fue)|fue|llueve|nieva|"
    rf"hace (?:\w+ )?(?:frio|calor|sol|viento)|ayer|anoche|hoy|la (?:semana|proxima semana)|"
    rf"el (?:mes|ano|lunes|fin de semana)|creo|pienso|opino|"
    rf"supongo) |{_LED}(?:my|our|mis?|nuestr[oa]s?|(?!como\b|cuando\b|cuanto\b)[a-z]{{2,}}(?<!l)o) )"
)
"""A statement without a request: "I work nights", "manejo un taxi", "it's raining"."""
FIRST_PERSON = expression(
    r"\b(?:i|we|my|our|me|nos|mis?|nuestr[oa]s?|soy|somos|estoy|estamos|tengo|vivo|llevo|hago|vengo|salgo|conozco|"
    r"conduzco|duermo|fumo|bebo|sufro|padezco|viajo|vendo|alquilo|monto|corro|nado|cocino|leo|escribo|hablo|invierto|"
    r"opero|gano|pierdo|prefiero|adoro|siento|tomo|mido)\b"
)
"""Words of the first person. Verbs that are nouns as well are left out: "envio", "pago", "trabajo"."""
SAYS_I = expression(rf"(?!\b(?:me|nos)\b){FIRST_PERSON.pattern}|\b(?:me|nos) \w+(?:o|amos|emos|imos)\b")
"""As above; "me" counts in Spanish alone, beside a verb: not "tell me", but "cuándo me jubilo"."""
ASKS_WHAT_TO_DO = expression(
    r"\bhow (?:do|does|to|come)\b|\bwhy\b|\b(?:can|could|may|should|shall|would|will) \w|\bwhat (?:if|happens)\b|"
    r"\bcomo (?!me |se )|\bpor que\b|\b(?:puedo|podemos|podria|podeis|puedes|debo|debemos|deberia|conviene|que pasa)\b"
)
"""Asks for a way, a reason, a permission or advice."""
EXCLAIMS = expression(
    rf"{_LED}(?:que (?:buen|mal|bonit|dur|larg|rar)\w*|vaya|menud[oa]|what an?) \w+|"
    r"(?:great|nice|lovely|terrible|awful) (?:weather|day|week)\b"
)
EVERYTHING = expression(
    r"\b(?:everything|all (?:of )?(?:my |the )?(?:shares|stocks|positions|holdings)|todo(?! l[oa]s? que)|tod[oa]s "
    r"(?:mis|las) "
    r"(?:acciones|posiciones))\b(?!.*\b(?:of|de) (?:it|that|them|es[oa]s?|ell[oa]s?)\b)"
)
COUNTED = expression(r"\d (?:shares?|units?|acciones|titulos?)\b")
LATER = expression(
    rf"{ANOTHER_DAY.pattern}|\b(?:at|on|before|after) (?:the )?(?:next )?(?:open(?:ing)?|close)\b|"
    r"\b(?:when|cuando) (?:\w+ ){0,2}(?:opens?|abr[ae])\b|"
    r"\b(?:a la|al|en la|en el) (?:apertura|cierre)\b|\bnext (?:week|month|session)\b|"
    r"\b(?:proxim[oa]|siguiente) (?:semana|mes|sesion)\b|\b(?:semana|mes) que viene\b|"
    r"\b\d{1,2}(?::\d\d)? ?(?:am|pm|o clock)\b|\ba las \d{1,2}\b|"
    r"\b(?:in|within|for|dentro de|en|durante) (?:\d+|an?|una?) (?:minut\w*|hours?|horas?|days?|dias?|"
    r"weeks?|semanas?)\b"
)
"""Asks to place an order later. Orders cannot be scheduled: they go to the market once confirmed."""
AT_ONCE = expression(r"\b(?:now|right away|at once|straight away|immediately|ahora|ya|enseguida|inmediatamente)\b")
ADVICE = expression(
    r"\b(?:should|shall) (?:i|we)\b|"
    r"\b(?:your (?:take|view|opinion|thoughts?)|(?:any )?thoughts on|the play on|tu opinion|(?:buy or sell|long or "
    r"short)|compro o vendo|"
    r"que (?:opinas|piensas|harias)|what (?:do|would) you (?:think|do)|deberia|debo|conviene|recomiendas|"
    r"aconsejas|recommend|consejos?|advice|good (?:time|idea|moment|day)|buen (?:momento|dia)|worth(?! of))\b"
)
_ASSET = r"(?:stocks?|shares?|etfs?|funds?|crypto\w*|coins?|accion(?:es)?|valor(?:es)?|fondos?|cripto\w*)"
RECOMMENDED_ASSET = expression(
    rf"\b(?:which|what|any|some|an?|good|que|cual\w*|algun[oa]?s?|una?|buen[oa]s?) (?:\w+ ){{0,2}}{_ASSET}\b.{{0,25}}"
    r"\b(?:recommend\w*|suggest\w*|recom(?:iend|end)\w+|aconsej\w+|sug(?:ier|er)\w+)\b|"
    rf"\b(?:recommend|suggest|recomien\w+|aconsej\w+|sugier\w+) (?:me )?(?:\w+ ){{0,3}}{_ASSET}\b"
)
"""Asks which share or fund to take."""
TRADING = expression(
    r"\b(?:long or short|yolo|(?:go|going) all in|(?:put|stick|throw|move) .{1,20} into|buy\w*|sell\w*|invest\w*|"
    r"compr\w+|vend\w+|invert\w+|inviert\w+|inversion\w*)\b"
)
IS_ABOUT = expression(
    r"\b(?:whats?|who|que|quien(?:es)?)\b.*\b(?:this|these|you|here|company|site|website|business|esto|ustedes|"
    r"vosotros|sois|"
    r"son|empresa|sitio|web|pagina|negocio|haceis|hacen|dedic\w+|ofrec\w+|do)\b|"
    r"^\W*(?:(?:tell me|cuentame|hablame)(?: algo| more| mas)? )?(?:about|sobre|de) (?:you|us|this|nosotros|vosotros)\b"
)
MEANT = expression(r"\b(?:mean|meant|should i|quier\w+ decir|quisiste decir)\b")
TAKEN = expression(r"\b(?:take|accept|acept\w+|admit\w+|cogeis)\b")
"""Means of payment, which are about the company and not about shares."""
THIS_PLACE = expression(r"\b(?:this|est[ae]) (?:place|lugar)\b")
YOU_ALL = expression(r"\byou (?:people|guys|folks|lot|all)\b")
PLAN_FOR_IT = expression(
    r"\b(?:what|which|que|cual) (?:\w+ )?plan\b.*\b(?:for (?:that|it|this)|need|necesito|hace falta|para (?:eso|"
    r"ello|esto))\b|^\W*(?:and |y |pero |but )?(?:why (?:can\W?t|not)|por que no(?: puedo)?)\b(?: \w+){0,2}\W*$"
)
BOTH = expression(
    r"\b(?:cual|which)\b.*\b(?:mas|menos|mejor|peor|mayor|menor|more|less|most|least|better|worse|best|worst|higher|"
    r"lower|cheaper|highest|lowest|biggest|smallest|largest|greatest|\w+est)\b|"
    r"\b(?:both|the two|them|each other|l[oa]s dos|amb[oa]s|entre (?:ell[oa]s|si)|compar\w+l[oa]s)\b"
)
COMPARED_WITH = expression(
    r"\b(?:it|that|this|esa|ese|eso) (?:or|vs|o) |\b(?:or|vs|o) (?:it|that|this|esa|ese|eso)\W*$|"
    r"\b(?:it|that|this|them|eso|ese|esa|esta|este)\b.{0,40}\b(?:than|as|que|com[op]\w*)\b|"
    r"\b(?:it|that|they)\b.{0,12}\b(?:beat|(?:out|under)perform\w*|lag\w*)\b"
    r"(?! (?:just |simply )?(?:buy|hold|compra|mantener))|"
    r"\bcompar\w+ (?:with|to|con|a)\b|^\W*(?:(?:y|e|lo|le)\W+)*(?:hizo mejor|bat\w+|super[oa]|gan[oa]) (?:que|a)\b|"
    r"^\W*(?:(?:and|y|e|so|pero|but)\b\W*)*(?:(?:es|esta|sube|vale|is|(?:is )?it) )?"
    r"(?:(?:que )?(?:mas|menos|more|less|worse|mejor|peor|\w+er) (?:\w+ )?(?:than|que)|"
    r"(?:versus|vs|against|frente a|contra))\b"
)
"""Compares a named share with the one last mentioned: "is that more than IBM?"."""
TURNS = expression(
    r"\b(?:above|over|below|under|gets (?:back )?to|hits|reaches|llegue|alcanza|"
    r"rises?|falls?|drops?|goes|loses|sube|suba|baja|baje|cae|caiga|pierd[ae]|pasa|llega|"
    r"supera)\b"
)
DOING = expression(r"\b(?:doing|perform\w*|mov(?:ed|ing)|prices?|today|up|down|van?|precios?|cotiza\w*|hoy)\b")
THEY = expression(r"\b(?:they|them|those|these|ell[oa]s|est[oa]s|es[oa]s|van)\b")
POSSESSED = expression(
    r"['’]s\W*(?:$|(?:any )?(?:more|less|\w+er)\b)|^\W*(?:y |e )?(?:el|la|los|las|lo) de\b", re.IGNORECASE
)
"""Asks the same for another share: "what's AAPL's?", "el de Apple"."""
EXPLAINED_TOO = expression(
    r"\b(?:and|y) (?:what (?:does|do|is) (?:it|that|this)\b|(?:eso )?que (?:significa|quiere decir|es eso)\b)"
)
"""Asks, beside a figure, what its name means."""
THAT_MANY = expression(
    r"\b(?:that (?:many|much)|as many|those|them|es[oa]s|tant[oa]s|compral[oa]s?|"
    r"(?:compra|mete|pon)(?:me)? (?:es[oa]|la mitad)|(?:buy|get|take)(?: me)? half(?: of)? (?:that|it))\b|"
    r"^\W*(?:(?:ok|vale|pues|and|y|then)\b\W*)*(?:(?:place|do|take|make|enter|buy) (?:it|that|the order)|haz(?:lo|la)|"
    r"pon (?:la|esa) orden|pon(?:lo|la))\b"
)
"""Refers to the quantity just computed."""
IS_DONE = expression(
    r"^\W*(?:(?:and|so|y|entonces|pero|ok)\b\W*)*(?:(?:is|are|was|were|did|has|have) (?:it|they|that|those|both|"
    r"the \w+|my \w+)|(?:ya )?(?:se (?:ha|han)|ha sido|han sido|esta|estan|sigue\w*))\b.{0,20}\b(?:gone|there|done|"
    r"filled|executed|through|on(?=\W*$| (?:my|it|there|now|yet|the (?:watch ?)?list)\b)|live|in place|deleted|removed|"
    r"cancell?ed|set|placed|active|pending|bought|sold|(?:ejecut|borr|elimin|cancel|quit|activ|compr|realiz|cre)ad\w+|"
    r"vendid\w+|hech\w+|puest\w+|pendientes?|activ\w+)\b|^\W*(?:and |y )?(?:cuant[oa]s (?:llevo|tengo|van|hay)|"
    r"how many (?:do i have|are there|is that))\b|^\W*(?:list |show me )?what\W?s (?:still )?(?:open|pending|waiting|"
    r"left)\W*$|^\W*que (?:sigue|queda|hay) (?:abiert|pendient)\w+\W*$|^\W*(?:seguro que )?(?:ya )?no queda (?:nada|"
    r"ningun\w+)\W*$|^\W*(?:list|show)(?: me)? (?:them|those)(?: all)?\W*$|^\W*(?:muestra|ensena|"
    r"lista)(?:me)?l[oa]s\W*$|^\W*what\W?s (?:on|in) (?:it|there)\b|^\W*que hay (?:en ella|ahi)\b|^\W*(?:what (?:did|"
    r"have) i (?:just )?(?:do(?:ne)?|set|order(?:ed)?|placed?)|que (?:acabo de hacer|he hecho|hice))\W*$|^\W*(?:(?:and|"
    r"y|so)\W+)?(?:which|what|how many|any|cual(?:es)?|cuant[oa]s|algun[oa]s?)(?: (?:one|ones|of them))? (?:are|is|"
    r"do i (?:still )?have|me|tengo|hay|qued\w+|sig\w+)\b(?: (?:still |now )?(?:left|set|queda\w*|puest\w+|activ\w*|"
    r"viv\w+|open|abiert\w+|ahora))?\W*$|^\W*(?:me )?queda\w* algun[oa]\b|^\W*(?:did|has|have|ha|"
    r"han)\b.{0,15}\b(?:fire|trigger|fill|go (?:off|through)|salta|dispara|ejecuta)\w*\b"
)
"""Asks for the current state of orders, alerts or the watchlist."""
SURE = expression(
    r"\b(?:sure|certain|reliable|confiden\w+|trust\w*|accura\w+|often right|fias|fiable|segur[oa]|aciert\w*|"
    r"confianza|precis[oa])\b"
)
WHY = expression(r"^\W*(?:(?:and|y|but|pero)\b\W*)*(?:why|how come|por que|based on what|en que te basas)\b")
"""Ask how reliable a prediction is, and what it is based on."""
THE_OTHER = expression(r"\b(?:the|el|la) (?:other|otr[oa])\b")
OVERDONE = expression(r"\b(?:overbought|oversold|sobrecompr\w+|sobrevend\w+)\b")
SAME = expression(r"\b(?:same|lo mismo|igual)\b")
MISTAKEN = expression(
    r"^\W*(?:no\W+)?(?:me (?:equivoque|confundi)|that['’]?s (?:wrong|not right)|i was wrong|i made a mistake)\b"
)
"""Corrects something said before."""
OF_ONESELF = expression(
    r"^(?!.*\b(?:what|how|which|when|why|where|que|cuant[oa]s?|cual|cuando|como)\b)"
    r"\W*(?!(?:and |so )?(?:can|could|would|will|do|did|am|is|are)\b)(?:[\w']+[,. ]+){0,2}?"
    r"(?:(?:i|we)(?:['’]ve| have)? (?!(?:m|d|ll|ve|can|could|would|will|wanna|gotta|just want)\b)[a-z]+|"
    r"tengo|tenemos|llevo|compre|vendi|herede) "
)
"""Says what somebody has or does, and asks nothing."""
ONE_OF_THEM = expression(
    r"\b(?:the|el|la) (?:better|best|worse|worst|stronger|weaker|cheaper|cheapest|winner|winning|loser|losing|other|"
    r"mejor|peor|ganadora?|perdedora?|otr[oa]|(?:mas|menos) \w+)\b(?! (?:price|precio))|"
    r"\b(?:the one|whichever|whatever|la que|el que|cual)\b"
)
"""Refers to one of several things by a property."""
ASKS_WHEN = expression(
    r"^\W*(?:(?:and|y|ok|hi|hello|hola)\W+)*(?:(?:at )?what (?:time|hours?|days?)|"
    r"a que horas?|que (?:dias|horas?)|when (?:are|do|does)|en que horario)\b"
)
"""Asks at what hours people are there, which the pages answer."""
ASKS_HOW = expression(
    r"^\W*(?:(?:and|y|ok|hi|hello|hola)\W+)*(?:how (?:do|can|does|would)|como (?:se|puedo|hago|puede\w*|funciona\w*))\b"
)
GOING_ON = expression(
    r"^\W*(?:and|y|e|what about|how about|que hay de|also|tambien|another|otr[oa]|same for|lo mismo|"
    r"now (?:for|with|do|try)|ahora (?:de|con|para|el de|la de)|pero|but|or|o)\b|"
    r"\b(?:too|as well|tambien)\W*$|"
    r"\b(?:it|its|it s|that|those|them|this|one|ese|esa|eso|esos|esas|sus?|lo|la|las|los|ello)\b"
)
HOW_OR_WHICH = expression(
    r"\b(?:how|do you|does|is there|are there|which (?:plan|one)|what happens|como|que pasa|teneis|tienen|hay|que plan|"
    r"cual(?:es)?|puedo|can i|funciona\w*|works?)\b"
)
