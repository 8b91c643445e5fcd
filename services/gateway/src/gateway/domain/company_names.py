"""Derives a company's id from its name or site."""

import re
import unicodedata

from contracts.own_tools import split_address

_MAX_LENGTH = 64


def new_company_id(name: str, site: str) -> str:
    """The id of a new company: derived from its name, or from the site's host if the name has no Latin letter or
    digit."""
    return id_from_name(name) or id_from_name((split_address(site).hostname or "").removeprefix("www."))


def id_from_name(name: str) -> str:
    """The name in lower case without accents, words joined by hyphens: Clínica del Sol is clinica-del-sol."""
    ascii_name = unicodedata.normalize("NFKD", name.casefold()).encode("ascii", "ignore").decode()
    return re.sub(r"[^a-z0-9]+", "-", ascii_name)[:_MAX_LENGTH].strip("-")
