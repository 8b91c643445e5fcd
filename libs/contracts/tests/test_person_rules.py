"""What goes to a person first, and what never does."""

import pytest

from contracts.company import CompanyConfig, faults
from contracts.person_rules import Asking, PersonRule, ruling

RULES = [
    PersonRule.model_validate(one)
    for one in (
        {"to": "never", "pages": ["/careers", "/docs/*/api"]},
        {"to": "person", "words": ["demandar", "my lawyer"]},
        {"to": "person", "topics": ["reembolsos", "cancel subscription"], "plans": ["pro", "premium"]},
        {"to": "person", "pages": ["/pricing/enterprise", "/*.html", "/a*ab*ab"]},
    )
]


@pytest.mark.parametrize(
    ("asking", "index"),
    [
        (Asking("¡Os voy a DEMANDAR!"), 1),
        (Asking("demandaré"), None),
        (Asking("My  lawyer, will write"), 1),
        (Asking("lawyer my"), None),
        (Asking("quiero un reembolso", "pro"), 2),
        (Asking("¿me pueden reembolsar?", "premium"), 2),
        (Asking("quiero un reembolso", "free"), None),
        (Asking("how do I go about cancelling my subscriptions", "pro"), 2),
        (Asking("my subscription is fine", "pro"), None),
        (Asking("hello", page="https://acme.example/pricing/enterprise?x=1"), 3),
        (Asking("hello", page="https://acme.example/pricing/enterprises"), None),
        (Asking("My lawyer", page="https://acme.example/careers/2"), 0),
        (Asking("hello", page="https://acme.example/docs/v2/api"), 0),
        (Asking("hello", page="https://acme.example/a/b.html"), 3),
        (Asking("hello", page="https://acme.example/a/b.htmlx"), None),
        (Asking("hello", page="/aab"), None),  # what one part has taken the next one has not
        (Asking("hello", page="/aabxab"), 3),
        (Asking("hello", page="http://[not an address"), None),
        (Asking("hello"), None),
        (Asking(""), None),
    ],
)
def test_the_first_rule_that_fits_counts(asking: Asking, index: int | None) -> None:
    found = ruling(RULES, asking)
    assert (found.index if found else None) == index
    if found is not None:
        assert found.to == RULES[found.index].to


@pytest.mark.parametrize(
    ("rule", "field"),
    [
        ({"to": "person"}, "personRules.0"),
        ({"to": "boss", "words": ["hello"]}, "personRules.0.to"),
        ({"to": "never", "plans": ["gold"]}, "personRules.0.plans.0"),
        ({"to": "never", "pages": ["pricing"]}, "personRules.0.pages.0"),
        ({"to": "never", "words": ["x"]}, "personRules.0.words.0"),
        ({"to": "never", "word": ["hello"]}, "personRules.0.word"),
    ],
)
def test_what_is_wrong_is_named(rule: object, field: str) -> None:
    found = faults({"companyId": "acme", "personRules": [rule]})
    assert field in [fault.field for fault in found]


def test_rules_travel() -> None:
    wire = CompanyConfig(company_id="acme", person_rules=RULES).to_wire()
    assert CompanyConfig.model_validate(wire).person_rules == RULES
