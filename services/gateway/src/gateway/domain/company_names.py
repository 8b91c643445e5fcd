"""Derives a company's id from its name, or its site."""

import re
import unicodedata

from contracts.own_tools import split_address

_LONGEST = 64


def id_for(name: str, site: str) -> str:
    """The id of a new company. A name without a Latin letter or digit has none: the site's host then."""
    return id_of(name) or id_of((split_address(site).hostname or "").removeprefix("www."))


def id_of(name: str) -> str:
    """The name in lower case without accents, words joined by hyphens: Clínica del Sol is clinica-del-sol."""
    plain = unicodedata.normalize("NFKD", name.casefold()).encode("ascii", "ignore").decode()
    return re.sub(r"[^a-z0-9]+", "-", plain)[:_LONGEST].strip("-")
