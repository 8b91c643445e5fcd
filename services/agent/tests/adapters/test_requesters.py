"""Who asks, by the principal of a request."""

import time
from typing import Any

import pytest

from agent.adapters.requesters import prover
from agent.ports import Requester
from runtime.auth.principals import Principal


def proven(**changes: Any) -> Requester | None:
    soon = int(time.time()) + 600
    fields: dict[str, Any] = {"sub": "ana", "role": "user", "company": "demo", "plan": "pro", "exp": soon, **changes}
    return prover(lambda _: Principal(**fields))("signed", "demo")


def test_a_principal_of_the_company_asks_in_its_language() -> None:
    requester = proven(language="en-GB")
    assert requester is not None
    assert (requester.user, requester.language) == ("ana", "en")


@pytest.mark.parametrize("changes", [{"company": "other"}, {"conversation": "c1"}, {"exp": int(time.time()) - 1}])
def test_another_companys_a_conversations_and_an_expired_principal_prove_nothing(changes: dict[str, Any]) -> None:
    assert proven(**changes) is None
