"""Words that say little or nothing of what a question is about, es and en, without accents."""

from functools import lru_cache

from agent.domain.offline.lexicon import meanings_of, one_apart, swapped, words_of
from agent.domain.text_features import bare_verb, stem, word_set

LIGHT = word_set(
    "do does did is are was be been am can could may might will would shall should have has had i you we they it he "
    "she me my your our their us them this that these those there here the a an of to for in on at by with from as "
    "and or but if so not no any some all much many long far often type types kind kinds tipo tipos clase clases "
    "support supported supports ir more most less very just also too up out about into than then what which who "
    "whom whose "
    "when why how where get got give gives need want like know tell say says let please hi hello hey thanks ok okay "
    "well actually really whole work works make makes take takes offer offers sell sells provide provides possible "
    "thing things way exactly mean site page website company business service services product products el la los "
    "las un una unos unas lo al del de en y e o u que cual cuales quien quienes como cuando cuanto cuanta cuantos "
    "cuantas donde por para con sin sobre si es son era ser esta estan este estos esa ese eso esto estas hay tiene "
    "tienen teneis tienes tengo tener puedo puede pueden puedes podria podeis hace hacen haceis hacer hago te se le "
    "les nos os mi mis tu tus su sus yo usted ustedes vosotros nosotros quiero quisiera queria necesito saber decir "
    "dime mas muy tan tambien ya aqui ahi alli pero porque pues vale hola gracias favor todo toda todos todas "
    "ofrece ofrecen ofreceis venden vendeis vende trabajan exactamente sitio pagina web empresa negocio servicio "
    "servicios policy politica atencion information informacion info details detalles shop store tienda local bring "
    "traer llevar doy das dar darme dame funciona funcionan funcionar estais sois trabajais vuestro vuestra vuestros "
    "vuestras accept accepts aceptais aceptan acepta producto productos cosa cosas dan dais da sirve sirven algo "
    "dont doesnt didnt isnt arent wasnt wont cant couldnt wouldnt shouldnt havent im ive id youre whats hows wheres "
    "thats "
    "theres lets u r ur pls plz hw wat q k xq pq tb tmb admitis admite admiten admitir allow allows kiero aser acer "
    "aver ola ora quiere quieren querer pues "
    "alguien alguna alguno algun nadie cada falta va van voy vas dejar deja dejo pongo poner pasa pasar ocurre "
    "ocurrir suceder debe debo deber needs must happen happens happened leave something anything someone anyone "
    "him them themselves myself yourself himself herself ourselves itself because whether although though "
    "however whenever without within upon per via cuyo cuya mio mia mios mias tuyo tuya suyo suya suyos suyas nuestro "
    "nuestra nuestros nuestras ellos ellas nosotras vosotras ningunas aunque mientras segun hacia contra entre quiera "
    "each every one go goes going lets look looking see find found told wondering case "
)
"""Of grammar and of asking: not looked for."""
_COMMON = word_set(
    "over apply applies stay valid available start begin finish end keep hold carry send show help ask answer exist "
    "exists seem become allow require remain continue run play move live believe think understand learn try wait "
    "meet set add real actual normal usual usually quick quickly fast soon later early again still already always "
    "never sometimes maybe perhaps good bad best better nice fine new old other another same different dislike love "
    "wish hope prefer care worry sure certain certainly currently present today tomorrow now yet time times moment "
    "tmrw people person somebody around inside within during before after until since while once total quantity amount "
    "main general full both either such own able apart besides instead according regarding concerning basically "
    "simply automatically directly aplicar aplica queda quedar valido disponible empezar empieza acabar acaba "
    "terminar mantener lleva enviar mostrar ayudar preguntar responder existir existe parecer permitir permite "
    "seguir sigue vivir creer pensar conocer entender aprender intentar esperar encontrar agregar realmente verdad "
    "normalmente rapido pronto luego antes despues todavia aun siempre nunca veces vez quiza bueno malo mejor nuevo "
    "viejo otro otra mismo misma diferente gusta gustar gustaria preferir importa seguro actualmente hoy manana "
    "ahora momento gente persona alrededor dentro durante hasta desde mientras cantidad completo ambos propio capaz "
    "aparte ademas segun basicamente simplemente automaticamente directamente llega llegar recibir recibo avisa "
    "avisar incluso entonces asi parte forma manera modo caso number numero name nombre list lista detail value "
    "period reach extra day days week weeks morning mornings afternoon evening night dia dias semana semanas tarde "
    "finde weekend one two three four five six seven eight nine ten uno dos tres cuatro cinco seis siete ocho nueve "
    "diez "
    "ayer yesterday non father mother dad mum mom padre madre grandmother grandfather abuelo abuela "
    "noche monday tuesday wednesday thursday friday lunes martes miercoles jueves viernes kick effect "
)
_DOING = word_set(
    "lose lost losing learn stay keep deal deals come comes coming along check drop mind treat pick hurt hurts old "
    "yr yrs able else extra kind sort bit lot plus even ever soon asap straight away quite rather yeah sorry anyway "
    "maybe somewhere anywhere everything stuff guys guy folks dear kindly honestly basically right wrong true false "
    "turn turns turned bought sold spend spent expect arrange organise organize manage handle involve suggest fit "
    "fits stop stopped walk talk speak said heard read write wrote written pass passed put set sit hand hands share "
    "break broke follow lead end ends ended join joined visit visits interested interest curious planning plan to "
    "thinking heading moving living based local near nearby close far away round trip morning afternoon evening "
    "tonight weekend week weeks day days month months year years hour hours minute minutes mate love lovely great "
    "cheaper cheapest expensive most least bigger smaller larger longer shorter faster easier hard easy difficult "
    "encargar llevar lleva llevo llevais quedar quedamos subir bajar volver vuelvo salir salgo sale salen cuesta "
    "ensenar ensename mirar miro ver veo viendo buscar busco buscando encontrar comprar compro compre coger cojo "
    "tomar tomo probar usar uso utilizar preparar preparais acabar acabo final al principio gustado interesa "
    "interesaria interesado interesada apetece urge corre cuenta cuentame contar decidme dime decirme podriais "
    "podrias quereis querria querriamos queremos vendria viene vienen vengo venir vamos iremos iria ire puesto "
    "poneis pone ponen hecho haria hariais sabeis sabes sabe conoceis creo supongo imagino parece resulta acaso "
    "ningun ninguna ningunos mucho mucha muchos muchas poco poca pocos pocas bastante demasiado solo solamente "
    "unicamente cualquier cualquiera ultimo ultima primero primera siguiente proximo proxima pasado pasada "
    "barato barata barato caro cara grande rapido lento facil dificil mayor menor cerca lejos arriba abajo "
    "delante detras junto juntos juntas viernes semana semanas dia dias mes meses ano anos tarde noche finde "
    "oye oiga mira perdon perdona disculpa disculpe buenas buenos majo maja tio tia chicos amigo amiga guapa guapo "
    "hombre mujer chico chica senor senora don dona familia casa estoy estamos estaba estare seria serian fuera "
    "tuviera hubiera ser haber habra habria habeis hemos han has he ido ida estado sido tenido quiza igual bueno "
    "mejor peor verdad mentira raro normal posible imposible necesario necesaria obligatorio obligatoria "
    "incluido incluida minimo maximo mama papa vive vivo vivimos somos soy "
)
_SHARED = frozenset(("log", "nin", "bon"))
"""Stems of common words (luego, nine, bueno) that are those of telling ones, too: logo, nino, bono."""
COMMON = (frozenset(map(stem, _COMMON)) | {stem(word) for word in _DOING if not meanings_of(word)}) - _SHARED
"""Stems of what anybody says about anything: they help to choose, and their absence is no reason for silence."""
_LONG = 6
_LONG_COMMON = tuple(one for one in COMMON if len(one) >= _LONG)
ASKING = frozenset(("where", "donde"))


def is_common(keys: frozenset[str]) -> bool:
    """Whether a word is said about anything, also with one letter wrong."""
    return bool(keys & COMMON) or any(_nearly_common(key) for key in keys if len(key) >= _LONG - 1)


@lru_cache(maxsize=20_000)
def _nearly_common(word: str) -> bool:
    return any(one_apart(word, one) for one in _LONG_COMMON)


def telling(text: str) -> list[str]:
    """The words of a text that say what it is about."""
    return [word for word in words_of(text) if not _is_light(word)]


def _is_light(word: str) -> bool:
    if len(word) == 4 and stem(word) not in COMMON and any(swapped(word, one) for one in LIGHT):
        return True
    return word not in ASKING and any(one in LIGHT for one in (word, bare_verb(word), *_without_ending(word)))


def _without_ending(word: str) -> list[str]:
    """What an English verb may be inflected of: gets, getting."""
    endings = [("s", 1)] if not word.endswith("ss") else []
    endings += [("ing", 3), ("ing", 4)]
    return [word[:-cut] for ending, cut in endings if word.endswith(ending) and len(word) - cut >= 3]
