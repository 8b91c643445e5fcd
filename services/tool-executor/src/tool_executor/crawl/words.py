"""The texts that tell an admin why pages were skipped or failed; programs read the reason beside them. They are stored
in English; the gateway translates them for whoever reads them (its texts/errors.es.toml)."""

from contracts.knowledge import Left

REASON_TEXTS = {
    "denied": "The company's settings leave this page out.",
    "robots": "The site's robots.txt asks not to read this page.",
    "noindex": "The page asks not to be listed (noindex).",
    "duplicate": "It says the same as {other}.",
    "canonical": "It names {other} as its own address.",
    "redirected": "It leads to {other}.",
    "redirect_loop": "Its redirects go round in a circle.",
    "too_many_redirects": "It redirects more than {most} times.",
    "leaves_the_site": "It redirects away from the site.",
    "gone": "The page is no longer there.",
    "endless": "There are more than {most} addresses like {shape}: the rest looks endless and is not read.",
    "goes_round": "Its address says the same again and again.",
    "full": "The site has more than {most} pages (knowledge.maxPages): this and the rest are not read.",
    "no_text": "The page has no text that can be read (its scripts may write it).",
    "not_text": "This is no page, and no document that can be read.",
    "crashed": "The page cannot be read: it makes its reader fail.",
}


def reason_text(reason: str, **values: object) -> str:
    return REASON_TEXTS[reason].format(**values)[:500]


def skipped(url: str, reason: str, **values: object) -> Left:
    return Left(url=url[:2048], outcome="skipped", reason=reason, message=reason_text(reason, **values))
