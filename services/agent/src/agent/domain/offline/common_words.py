"""Words that say little about the subject of a question, in Spanish and English, without accents.

LIGHT words are ignored ("do", "the", "puedo"). COMMON ones help to choose between passages, but a page without them may
still answer ("apply", "quick", "siempre").
"""

from functools import lru_cache

from agent.domain.offline.lexicon import keys_of, words_of
from agent.domain.text_features import bare_verb, is_one_letter_apart, is_transposed, stem, word_set

LIGHT = word_set(
    "do does did is are was be been am can could may might will would shall should have has had i you we they it he "
    "she me my your our their us them this that these those there here the a an of to for in on at by with from as "
    "and or but if so not no any some all much many long far often type kind tipo clase support supported ir more "
    "most less very just also too up out about into than then luego what which who whom whose when why how where get "
    "got give need want like know tell say says let please hi hello hey thanks ok okay well actually really whole work "
    "make take offer sell provide possible thing way exactly mean site page website company business service product "
    "el la los las un una unos unas lo al del de en y e o u que cual cuales quien quienes como cuando cuanto cuanta "
    "donde por para con sin sobre si es son era ser esta estan este esa ese eso esto hay tiene tienen tengo tener "
    "puedo puede pueden podria podeis hace hacen hacer hago te se le les nos os mi mis tu tus su sus yo usted ustedes "
    "vosotros nosotros quiero quisiera queria necesito saber decir dime mas muy tan tambien ya aqui ahi alli pero "
    "porque pues vale hola gracias favor todo toda ofrece ofrecen ofreceis venden vendeis vende trabajan exactamente "
    "sitio pagina web empresa negocio servicio policy politica atencion information informacion info details detalles "
    "shop store tienda local bring traer llevar doy das dar darme dame funciona funcionan funcionar estais sois "
    "trabajais vuestro vuestra accept aceptais aceptan acepta producto cosa dan dais da sirve sirven algo dont doesnt "
    "didnt isnt arent wasnt wont cant couldnt wouldnt shouldnt havent im ive id youre hows lets r ur pls plz hw wat q "
    "k xq pq tb tmb admitis admite admiten admitir allow kiero aser acer aver ola ora quiere quieren querer alguien "
    "alguna alguno algun nadie cada falta va van voy vas dejar deja dejo pongo poner pasa pasar ocurre ocurrir "
    "suceder debe debo deber must happen happened leave something anything someone anyone him themselves myself "
    "yourself himself herself ourselves itself because whether although though however whenever without within upon "
    "per via cuyo cuya mio mia mios mias tuyo tuya suyo suya nuestro nuestra ellos ellas nosotras vosotras ningunas "
    "aunque mientras segun hacia contra entre quiera each every one go goes going look see find found told wondering "
    "creer creo crees cree creen creeis "
    "case cuentame contadme contar hablame habladme dedica dedican dedicas dedicais n fue "
)
"""Words of grammar and of asking, which are ignored."""
_COMMON = word_set(
    "over apply stay valid available start begin finish end keep hold carry send show help ask answer exist seem "
    "become allow require remain continue run play move live believe think understand learn try wait meet set add "
    "real actual normal usual usually quick quickly fast soon later early again still already always never sometimes "
    "maybe perhaps good bad best better nice fine new old other another same different dislike love wish hope prefer "
    "care worry sure certain certainly currently present today tomorrow now yet time moment tmrw people person "
    "somebody around inside within during before after until since while once total quantity amount main general full "
    "both either such own able apart besides instead according regarding concerning basically simply automatically "
    "directly aplicar queda valido disponible empezar acabar terminar mantener lleva enviar mostrar ayudar preguntar "
    "responder parecer permitir seguir sigue vivir pensar conocer entender aprender intentar esperar encontrar "
    "agregar verdad rapido pronto antes despues todavia aun siempre nunca veces vez quiza bueno malo mejor "
    "nuevo viejo otro mismo diferente gusta gustaria preferir importa seguro hoy manana ahora gente alrededor dentro "
    "durante hasta desde mientras cantidad completo ambos propio capaz aparte ademas segun basicamente simplemente "
    "automaticamente directamente llega recibir avisa incluso entonces asi parte forma manera modo caso number numero "
    "name nombre list detail value period reach extra day week morning afternoon evening night dia semana tarde finde "
    "weekend one two three four five six seven eight nine ten uno dos tres cuatro cinco seis ocho diez ayer yesterday "
    "non father mother dad mum mom padre madre grandmother grandfather abuelo noche monday tuesday wednesday thursday "
    "friday lunes martes miercoles jueves viernes kick effect lose deal come along drop mind pick yr yrs else sort "
    "saturday sunday sabado domingo "
    "bit lot plus ever asap straight away quite rather yeah sorry anyway somewhere anywhere everything guys folks "
    "dear right wrong true false turn bought sold spend spent expect arrange organise organize manage handle involve "
    "suggest fit stop stopped walk talk said heard read wrote written put sit break broke follow lead joined "
    "interested curious planning plan to based near far round tonight mate lovely great bigger smaller larger longer "
    "shorter easier hard easy difficult subir volver salir salgo ensename mirar ver veo buscar comprar coger cojo "
    "tomar usar uso utilizar preparar final al principio interesa interesaria apetece urge decidme dime decirme "
    "podriais quereis querria vendria vengo venir vamos iremos iria ire pone hecho haria sabeis supongo imagino "
    "resulta acaso ningun mucho poco bastante demasiado solo solamente cualquier cualquiera ultimo siguiente proximo "
    "pasado lento facil dificil lejos arriba abajo delante detras junto oye oiga disculpa majo tio tia chicos guapa "
    "hombre senor don estoy estare seria fuera tuviera hubiera ser haber habra habria hemos han has he ido ida sido "
    "igual peor mentira raro posible imposible necesario obligatorio mama papa somos soy "
    "alquilar alquilo alquila rent hire cerca cercano cercana recommend recommended advise recomendar recomienda "
    "example examples ejemplo ejemplos toca corresponde max maximum maximo maxima "
    "recomiendas recomendais recomendado recomendable aconsejar aconsejas aconsejais "
)
_AMBIGUOUS_STEMS = frozenset(("nin", "basic"))
"""Stems of common words (nine, basically) that are also stems of specific ones: nino, Basic."""
COMMON = frozenset(map(stem, _COMMON)) - _AMBIGUOUS_STEMS
"""Stems of words said about anything: they help to choose a passage, but an answer need not contain them."""
_COMMON_MEANINGS = {
    common_stem: frozenset(key for word in _COMMON if stem(word) == common_stem for key in keys_of(word))
    for common_stem in COMMON
}
"""By stem: the meanings of the common words that have it."""
_FORMAL_MEANINGS = frozenset(("=weekday", "=month", "=free", "=include", "=last"))
"""Meanings that say what kind of question it is; they do not make a word one that it is about."""
_MIN_MISSPELT_LETTERS = 6
"""Minimum letters of a common word that is recognised with one wrong letter."""
_LONG_COMMON = tuple(word for word in COMMON if len(word) >= _MIN_MISSPELT_LETTERS)
ASKING = frozenset(("where", "donde"))


def is_common(keys: frozenset[str]) -> bool:
    """Whether a word is a common one, also with one wrong letter.

    A word with a meaning of its own is not the common one of the same stem (car and care, sala and salir), nor that one
    misspelt (reparar and preparar).
    """
    own_meanings = {key for key in keys if key[0] == "="} - _FORMAL_MEANINGS
    if stems := keys & COMMON:
        return own_meanings <= frozenset[str]().union(*(_COMMON_MEANINGS[common_stem] for common_stem in stems))
    return not own_meanings and any(
        _nearly_common(key) for key in keys - _AMBIGUOUS_STEMS if len(key) >= _MIN_MISSPELT_LETTERS - 1
    )


@lru_cache(maxsize=8_192)
def _nearly_common(word: str) -> bool:
    return any(is_one_letter_apart(word, common_word) for common_word in _LONG_COMMON)


def significant_words(text: str) -> list[str]:
    """The words of a text that say what it is about: all but LIGHT ones."""
    return [word for word in words_of(text) if not _is_light(word)]


@lru_cache(maxsize=8_192)
def _is_light(word: str) -> bool:
    if len(word) == 4 and stem(word) not in COMMON and any(is_transposed(word, light_word) for light_word in LIGHT):
        return True
    return word not in ASKING and any(
        light_word in LIGHT for light_word in (word, bare_verb(word), *_without_ending(word))
    )


def _without_ending(word: str) -> list[str]:
    """The verbs that an English word may be a form of: gets, getting."""
    endings = [("s", 1)] if not word.endswith("ss") else []
    endings += [("ing", 3), ("ing", 4)]
    return [word[:-cut] for ending, cut in endings if word.endswith(ending) and len(word) - cut >= 3]
