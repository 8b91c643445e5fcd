"""What is left of something that was deleted, in words for people."""

from contracts.erasure_rpc import Receipt, Removed
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


class RemovedInWords(Removed):
    """With what is left in words."""

    remains_text: str | None = None


class ShownReceipt(Receipt):
    """A receipt as people read it."""

    removed: list[RemovedInWords]  # pyright: ignore[reportIncompatibleVariableOverride] - the same with more


def receipt_in_words(receipt: Receipt, language: str) -> ShownReceipt:
    """The receipt with words in `language`."""
    removed = [RemovedInWords.model_validate(one.to_wire() | _words(one, language)) for one in receipt.removed]
    return ShownReceipt.model_validate(receipt.to_wire() | {"removed": [one.to_wire() for one in removed]})


def _words(one: Removed, language: str) -> dict[str, str]:
    words = REMAINS.get(one.remains or "")
    return {"remainsText": words.said_in(language)} if words else {}
