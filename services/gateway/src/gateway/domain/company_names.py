"""A company's id out of its name."""

import re
import unicodedata

_LONGEST = 64


def id_of(name: str) -> str:
    """The name in small letters without accents, its words joined by hyphens: Clínica del Sol is clinica-del-sol."""
    plain = unicodedata.normalize("NFKD", name.casefold()).encode("ascii", "ignore").decode()
    return re.sub(r"[^a-z0-9]+", "-", plain)[:_LONGEST].strip("-")
