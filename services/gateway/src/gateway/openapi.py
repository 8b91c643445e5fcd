"""python -m gateway.openapi: prints the OpenAPI document, as docs/openapi/openapi.json keeps it."""

import json
import sys
from typing import Any, cast

from gateway.application import build_http
from gateway.web.deps import Api


def document() -> dict[str, Any]:
    """The OpenAPI document of all routes, built without their dependencies."""
    return build_http(cast(Api, None), []).openapi()


def text() -> str:
    return json.dumps(document(), indent=2, ensure_ascii=False, sort_keys=True) + "\n"


if __name__ == "__main__":
    sys.stdout.write(text())
