"""Tells people what remains of deleted data."""

from contracts.erasure_rpc import Removed
from contracts.text import Text

REMAINS: dict[str, Text] = {
    "freed_space": Text(
        es="El servidor de mensajes ya no lo entrega; los bytes borrados quedan en su fichero hasta que lo reescribe.",
        en="The message server no longer gives it out; the freed bytes stay in its file until it rewrites the file.",
    ),
    "store_space": Text(
        es="MongoDB ya no lo tiene; sus páginas libres, su diario y su oplog lo guardan hasta que se reutilizan: "
        "`compact` y el tamaño del oplog deciden cuándo.",
        en="MongoDB no longer has it; its freed pages, journal and oplog hold it until they are reused: `compact` and "
        "the oplog's size decide when.",
    ),
    "append_file": Text(
        es="Redis ya no lo tiene; su fichero de operaciones se reescribe una vez al día.",
        en="Redis no longer has it; its append-only file is rewritten once a day.",
    ),
    "cache": Text(es="Solo en memoria, y caduca por sí mismo.", en="In memory only, and expires by itself."),
    "counters": Text(
        es="Cuánto se ha usado de los límites por hora y por día, sin ninguna palabra: cuenta hasta que caduca.",
        en="How much of the hourly and daily limits was used, with no words: it counts until it expires.",
    ),
    "records": Text(
        es="Los registros de sus llamadas a herramientas, para que ninguna se haga dos veces, con sus resultados; "
        "caducan.",
        en="Records of its tool calls, so that none is made twice, with their results; they expire.",
    ),
    "ids": Text(
        es="Identificadores de turnos y conversaciones, sin nada de lo que se dijo.",
        en="Ids of turns and conversations, nothing that was said.",
    ),
    "backups": Text(
        es="Las copias de seguridad hechas antes lo contienen hasta que las borres.",
        en="Backups made before this hold it until you delete them.",
    ),
    "logs": Text(
        es="Los registros de los servicios nombran identificadores, no palabras, mientras los guardes.",
        en="The services' logs name ids, no words, for as long as you keep them.",
    ),
    "providers": Text(
        es="Los proveedores de modelos recibieron los textos; lo que guardan lo dice tu contrato con ellos.",
        en="Model providers were sent the texts; what they keep is in your contract with them.",
    ),
}


def what_remains(one: Removed, language: str) -> str | None:
    """What remains, as a text; None: nothing, or something that only a newer release has a text for."""
    words = REMAINS.get(one.remains or "")
    return words.said_in(language) if words else None
