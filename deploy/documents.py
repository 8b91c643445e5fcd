"""`make contracts`: writes the committed documents that are generated from code, or checks them with --check.

They are the JSON Schemas (a change that would break readers is refused), the AsyncAPI and OpenAPI documents, the tables
of settings in the guide, and the lines with the providers' keys in deployment files.
"""

import argparse
import json
import re
import sys
from collections.abc import Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any, cast

from contracts import analysis_report, ws
from contracts.asyncapi import document
from contracts.events.registry import EVENTS
from contracts.methods import METHODS
from contracts.providers import KEYS
from contracts.schemas import Schema, breaking_changes, schema_of, schema_of_document, schema_of_frame, schema_of_method
from contracts.tools_rpc import tool_service
from deploy.settings_page import PAGES, page
from gateway.application import build_http
from gateway.web.deps import Api
from market_adapter import documents as market_documents
from memory import documents as memory_documents

DOCUMENTS: dict[str, Any] = {**memory_documents.DOCUMENTS, **market_documents.DOCUMENTS}
"""The models of stored documents, by the document's name."""
KEYS_BEGIN = "# The providers' keys: written by `make contracts` from contracts/providers.py."
KEY_LINES = {
    "docker-compose.yml": ("      - KEY", '  KEY: {file: "${SECRETS:-./secrets}/KEY"}'),
    "deploy/make-secrets": ("yours KEY",),
    "deploy/kubernetes/base/agent.yaml": ("                    - {key: KEY, path: KEY}",),
}
"""Files with one line for each provider's key, and the forms of that line."""


def published() -> dict[str, Schema]:
    """Returns every published schema as the models define it now, by its file name below `schemas`."""
    schemas = {f"{event.name}/{event.version}.json": schema_of(event) for event in EVENTS}
    for method in (*METHODS, tool_service("-", "-")):
        name, _, number = method.subject.rpartition(".")
        schemas[f"{name}/{number}.json"] = schema_of_method(method)
    for side, frames in (("client", ws.CLIENT_FRAMES), ("server", ws.SERVER_FRAMES)):
        schemas |= {f"ws.{side}.{kind}/v1.json": schema_of_frame(kind, model) for kind, model in frames.items()}
    schemas |= {f"{name}.json": schema_of_document(stored) for name, stored in DOCUMENTS.items()}
    schemas[f"{analysis_report.NAME}/{analysis_report.VERSION}.json"] = analysis_report.report_schema()
    return schemas


def generated(root: Path) -> dict[Path, str]:
    """Returns every generated file below the repository's root, with its text; raises SystemExit on a breaking
    change."""
    schemas = root / "libs/contracts/src/contracts/schemas"
    texts: dict[Path, str] = {}
    for name, new in published().items():
        frozen = _read(schemas / name)
        if frozen is not None and (changes := breaking_changes(json.loads(frozen), new)):
            lines = "\n  ".join(changes)
            raise SystemExit(f"{name} would break its readers; add a new version instead:\n  {lines}")
        texts[schemas / name] = _text(new)
    for orphan in sorted(set(schemas.rglob("*.json")) - texts.keys()):
        raise SystemExit(f"{orphan.relative_to(schemas)} is published and has no model any more")
    texts[root / "docs/asyncapi/asyncapi.json"] = _text(document(version("nexus-contracts")))
    texts[root / "docs/openapi/openapi.json"] = _text(openapi(), indent=2)
    texts |= {root / "docs/guide" / name: page(language) for language, name in PAGES.items()}
    return texts | {root / name: with_keys((root / name).read_text(), forms) for name, forms in KEY_LINES.items()}


def openapi() -> dict[str, Any]:
    """Returns the OpenAPI document of all routes, built without their dependencies."""
    return build_http(cast(Api, None), []).openapi()


def with_keys(text: str, forms: Sequence[str]) -> str:
    """Returns the text with the lines of each form after KEYS_BEGIN replaced by one line for each provider's key."""
    for line in forms:
        form = re.escape(line).replace("KEY", r"[A-Z0-9_]+")
        key_lines = "".join(line.replace("KEY", key) + "\n" for key in KEYS.values())
        pattern = rf"(?m)^( *{re.escape(KEYS_BEGIN)}\n)(?:{form}\n)+"
        text, count = re.subn(pattern, lambda found, key_lines=key_lines: found[1] + key_lines, text)
        if count != 1:
            raise SystemExit(f"{KEYS_BEGIN!r} with lines like {line!r} below it stands {count} times instead of once")
    return text


def main() -> int:
    """Returns the exit code: 0 if the documents were written or are up to date, 1 for drift or a breaking change."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true", help="write nothing; fail when a file is out of date")
    parser.add_argument("--root", type=Path, default=Path.cwd(), help="the repository's root (default: here)")
    options = parser.parse_args()
    stale = [(file, text) for file, text in generated(options.root).items() if _read(file) != text]
    if options.check:
        for file, _ in stale:
            sys.stderr.write(f"{file.relative_to(options.root)} is out of date: run `make contracts`\n")
        return 1 if stale else 0
    for file, text in stale:
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
        sys.stdout.write(f"wrote {file.relative_to(options.root)}\n")
    return 0


def _read(file: Path) -> str | None:
    return file.read_text() if file.is_file() else None


def _text(value: object, indent: int = 1) -> str:
    return json.dumps(value, indent=indent, ensure_ascii=False, sort_keys=True) + "\n"


if __name__ == "__main__":
    raise SystemExit(main())
