"""What goes to a person first, and what never does."""

import pytest

from contracts.company import CompanyConfig, faults
from contracts.person_rules import PersonRule, RuleInput, matching_rule

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
        (RuleInput("¡Os voy a DEMANDAR!"), 1),
        (RuleInput("demandaré"), None),
        (RuleInput("My  lawyer, will write"), 1),
        (RuleInput("lawyer my"), None),
        (RuleInput("quiero un reembolso", "pro"), 2),
        (RuleInput("¿me pueden reembolsar?", "premium"), 2),
        (RuleInput("quiero un reembolso", "free"), None),
        (RuleInput("how do I go about cancelling my subscriptions", "pro"), 2),
        (RuleInput("my subscription is fine", "pro"), None),
        (RuleInput("hello", page="https://acme.example/pricing/enterprise?x=1"), 3),
        (RuleInput("hello", page="https://acme.example/pricing/enterprises"), None),
        (RuleInput("My lawyer", page="https://acme.example/careers/2"), 0),
        (RuleInput("hello", page="https://acme.example/docs/v2/api"), 0),
        (RuleInput("hello", page="https://acme.example/a/b.html"), 3),
        (RuleInput("hello", page="https://acme.example/a/b.htmlx"), None),
        (RuleInput("hello", page="/aab"), None),  # what one part has taken the next one has not
        (RuleInput("hello", page="/aabxab"), 3),
        (RuleInput("hello", page="http://[not an address"), None),
        (RuleInput("hello"), None),
        (RuleInput(""), None),
    ],
)
def test_the_first_rule_that_fits_counts(asking: RuleInput, index: int | None) -> None:
    found = matching_rule(RULES, asking)
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
