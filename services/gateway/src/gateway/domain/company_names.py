"""Derives a company's id from its name."""

import re
import unicodedata

_LONGEST = 64


def id_of(name: str) -> str:
    """The name in lower case without accents, words joined by hyphens: Clínica del Sol is clinica-del-sol."""
    plain = unicodedata.normalize("NFKD", name.casefold()).encode("ascii", "ignore").decode()
    return re.sub(r"[^a-z0-9]+", "-", plain)[:_LONGEST].strip("-")
