"""The assistant without a model over a made site of 300 pages: the right page cited, and nothing made up."""

from datetime import UTC, datetime

from agent.domain.knowledge import given_passages, with_valid_citations
from agent.domain.offline.answers import is_unknown
from agent.domain.offline.assistant import respond
from agent.domain.offline.step_results import SayText
from contracts.knowledge import KnowledgeFound, Passage
from memory.knowledge.index import CompanyIndex
from memory.knowledge.passages import passages
from memory.knowledge.question import parsed_question
from memory.knowledge.texts import StemmedDocument, digest, stemmed_passage
from tests.support.made_site import SITE, Case, MadeSite, made_site

READ = datetime(2026, 3, 1, tzinfo=UTC)
LIMIT = 12


def index_of(site: MadeSite) -> CompanyIndex:
    index = CompanyIndex()
    for page in site.pages:
        document = StemmedDocument(page.url, "site", page.title, page.url, page.language, digest(page.path), READ)
        index.put(document, [stemmed_passage(cut, page.title) for cut in passages(page.blocks)])
    return index


def found_in(index: CompanyIndex, case: Case) -> KnowledgeFound:
    hits = index.search(parsed_question(case.question, (), case.language), case.question, LIMIT)
    return KnowledgeFound(
        passages=[
            Passage(
                id=f"p{at}",
                document_id=f"d{at}",
                source="site",
                title=hit.document.title,
                url=hit.document.url,
                heading=list(hit.section.headings),
                text=hit.text,
                language=hit.document.language,
                score=hit.score,
                read_at=hit.document.read_at,
                hash=hit.document.hash,
                exact=hit.exact,
            )
            for at, hit in enumerate(hits)
        ],
        documents=index.documents,
    )


def answered(index: CompanyIndex, case: Case) -> tuple[str, list[str]]:
    """What is said, and the pages that it cites."""
    found = found_in(index, case)
    messages = [{"role": "user", "content": case.question}]
    response = respond(messages, ("fetch_page",), case.language, introduced=True, knowledge=found)
    assert isinstance(response, SayText), case.question
    text, citations = with_valid_citations(response.text, given_passages(found, ()), [case.question])
    return text, [citation.url for citation in citations]


def test_ninety_five_of_a_hundred_questions_cite_the_right_page_and_no_trap_is_answered() -> None:
    site = made_site()
    asked = [case for case in site.cases if case.path]
    traps = [case for case in site.cases if not case.path]
    assert (len(site.pages), len(asked), len(traps)) == (300, 100, 20)
    index = index_of(site)
    wrong: list[tuple[str, str, list[str]]] = []
    for case in asked:
        text, pages = answered(index, case)
        if pages != [f"{SITE}{case.path}"] or case.holds not in text:
            wrong.append((case.question, text, pages))
    assert len(wrong) <= 5, wrong
    told = [(case.question, text) for case in traps if not is_unknown(text := answered(index, case)[0])]
    assert told == []
