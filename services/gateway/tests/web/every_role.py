"""Sends what schemathesis makes of each operation of a gateway's OpenAPI document, each request once for every role.

The requests are made once, for that is most of the work. Arguments: the gateway's address, and {role: token} as JSON.
"""
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false
# pyright: reportUnknownParameterType=false, reportMissingTypeArgument=false

import json
import sys
from contextlib import suppress

import requests
import schemathesis
from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis.errors import Unsatisfiable
from schemathesis import Case, GenerationMode
from schemathesis.checks import not_a_server_error
from schemathesis.core.failures import FailureGroup
from schemathesis.core.transport import Response
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_schema_conformance,
    status_code_conformance,
)

CHECKS = [not_a_server_error, status_code_conformance, content_type_conformance, response_schema_conformance]
WITHOUT = ["/v2/tools/{name}", "/v1/responses"]
"""A call of a tool waits for an executor, and a response for an agent, which are not there: their own tests have it."""
ALWAYS_THE_SAME = settings(
    max_examples=3,
    deadline=None,
    database=None,
    phases=[Phase.generate],
    suppress_health_check=(HealthCheck.too_slow, HealthCheck.filter_too_much, HealthCheck.data_too_large),
)


class EveryRole:
    """What was sent to a gateway, and what of its answers was not as the document says."""

    def __init__(self, url: str, tokens: dict[str, str]) -> None:
        self._schema = schemathesis.openapi.from_url(f"{url}/openapi.json", timeout=60).exclude(path=WITHOUT)
        self._tokens = tokens
        self._session = requests.Session()
        self.sent = 0
        self.wrong: list[str] = []

    def all(self) -> None:
        """Every operation, with what it takes and with what it does not."""
        for found in self._schema.get_all_operations():
            operation = found.ok()  # pyright: ignore[reportAttributeAccessIssue] - else it raises, and says why
            for mode in GenerationMode:
                made = operation.as_strategy(generation_mode=mode)
                # Of an operation that takes nothing there is nothing that it does not take.
                with suppress(Unsatisfiable):
                    seed(1)(ALWAYS_THE_SAME(given(case=made)(self._send)))()

    def _send(self, case: Case) -> None:
        for role, token in self._tokens.items():
            answer = case.call(headers={"Authorization": f"Bearer {token}"}, session=self._session, timeout=30)
            self.sent += 1
            self._wrong_headers(case, role, answer)
            try:
                case.validate_response(answer, checks=CHECKS)
            except FailureGroup as failures:
                self.wrong += [f"{role}: {exception}\n{case.as_curl_command()}" for exception in failures.exceptions]

    def _wrong_headers(self, case: Case, role: str, answer: Response) -> None:
        """Notes headers that clients act on and the document does not name."""
        operation = self._schema.raw_schema["paths"][case.operation.path][case.operation.method.lower()]
        response = operation["responses"].get(str(answer.status_code), {})
        shared = self._schema.raw_schema["components"]["responses"]
        named = shared.get(response.get("$ref", "").rpartition("/")[2], response).get("headers", {})
        for name in ("ETag", "Location", "Retry-After", "WWW-Authenticate"):
            if name.lower() in answer.headers and name not in named:
                self.wrong.append(f"{role}: {answer.status_code} has {name}\n{case.as_curl_command()}")


def main() -> int:
    """Exit code 1 when an answer is not as the document says; each is told of."""
    roles = EveryRole(sys.argv[1], json.loads(sys.argv[2]))
    roles.all()
    sys.stdout.write("\n\n".join(roles.wrong) or f"{roles.sent} requests were answered as the document says")
    return 1 if roles.wrong else 0


if __name__ == "__main__":
    sys.exit(main())
