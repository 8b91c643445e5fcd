"""Packages have a reason, locked versions are held against advisories, each service has a bill of what it brings."""

import json
import re
import runpy
import tomllib
from datetime import date, timedelta
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]
CHAIN: dict[str, Any] = runpy.run_path(str(ROOT / "deploy/supply_chain.py"))
TODAY = date(2026, 11, 22)
_ROW = re.compile(r"^\| ([@\w./-]+) \| (.+) \|$", re.MULTILINE)
_NAME = re.compile(r"[A-Za-z0-9._-]+")
PACKAGES = (
    "tests/support/mcp_suite",
    "tests/support/script_check",
    "tests/support/widget_recipes",
    "services/gateway/tests/doors/ui_client",
)


def asked_for() -> set[str]:
    """The packages that the projects name."""
    lines: list[str] = []
    for path in (
        ROOT / "pyproject.toml",
        *ROOT.glob("libs/*/*.toml"),
        *ROOT.glob("services/*/*.toml"),
        ROOT / "cli/pyproject.toml",
    ):
        told = tomllib.loads(path.read_text())
        project = told["project"]
        groups = [*project.get("optional-dependencies", {}).values(), *told.get("dependency-groups", {}).values()]
        lines += [*project.get("dependencies", ()), *(one for group in groups for one in group)]
    python = {found[0].lower() for line in lines if (found := _NAME.match(line)) and not line.startswith("nexus-")}
    npm = {
        name for folder in PACKAGES for name in json.loads((ROOT / folder / "package.json").read_text())["dependencies"]
    }
    return python | npm


def test_every_package_that_we_ask_for_has_a_sentence_why_and_nothing_else_has() -> None:
    rows = {
        name: why
        for name, why in _ROW.findall((ROOT / "docs/dependencies.md").read_text())
        if name not in ("package", "---")
    }
    assert rows.keys() == asked_for()
    assert [name for name, why in rows.items() if len(why.split()) < 3] == []


def test_no_locked_version_is_known_to_be_wrong_and_the_age_of_what_is_known_is_said() -> None:
    snapshot = json.loads((ROOT / "deploy/advisories.json").read_text())
    read = date.fromisoformat(snapshot["date"])
    assert CHAIN["audit"](TODAY)[0] == []
    assert len(CHAIN["audit"](read)[1]) == 2
    # That nobody asks about npm's packages is an exception too, and ends.
    (until,) = (load["until"] for load in json.loads((ROOT / "deploy/advisories-excepted.json").read_text()))
    failed, _ = CHAIN["audit"](date.fromisoformat(until) + timedelta(days=1))
    assert [one for one in failed if "npm npm ended" in one]
    _, later = CHAIN["audit"](read + timedelta(days=31))
    assert "31 DAYS OLD" in later[2]


def test_an_npm_package_without_a_hash_or_with_an_address_is_found(tmp_path: Path) -> None:
    packages = {
        "": {"name": "suite"},
        "node_modules/fine": {"version": "1.0.0", "integrity": "sha512-aaaa"},
        "node_modules/loose": {"version": "1.0.0"},
        "node_modules/elsewhere": {"version": "1.0.0", "integrity": "sha512-aaaa", "resolved": "https://example.com/a"},
    }
    lock = tmp_path / "package-lock.json"
    lock.write_text(json.dumps({"packages": packages}))
    count, loose = CHAIN["npm_packages"]([lock])
    assert count == 3
    assert [name.rpartition("/")[2] for name in loose] == ["loose", "elsewhere"]


def test_a_version_that_an_advisory_is_about_is_found_and_a_mended_one_is_not() -> None:
    snapshot = json.loads((ROOT / "deploy/advisories.json").read_text())
    found = CHAIN["findings"](snapshot, [("aiohttp", "3.9.1")])
    assert "PYSEC-2024-26" in {one.advisory for one in found}
    assert all(one.fixed for one in found)
    assert CHAIN["findings"](snapshot, [("aiohttp", "3.14.0")]) == []
    assert CHAIN["affected"]("no version", {"versions": [], "ranges": []})


@pytest.mark.parametrize(
    ("exception", "fault"),
    [
        ({"why": "the parser that it is about is never used here", "until": "2027-01-01"}, None),
        ({"why": "later", "until": "2027-01-01"}, "does not say why"),
        ({"why": "the parser that it is about is never used here", "until": "2026-11-21"}, "ended on"),
        ({"why": "the parser that it is about is never used here", "until": "2028-01-01"}, "longer than"),
        (
            {"why": "the parser that it is about is never used here", "until": "2027-01-01", "advisory": "X"},
            "for nothing",
        ),
    ],
)
def test_an_exception_has_a_reason_an_end_and_something_that_it_is_for(
    exception: dict[str, str], fault: str | None
) -> None:
    found = [CHAIN["Finding"]("aiohttp", "3.9.1", "PYSEC-2024-26", "odd characters", "3.9.2")]
    wrong = CHAIN["faults_of"]([{"package": "aiohttp", "advisory": "PYSEC-2024-26", **exception}], found, TODAY)
    assert [fault in one for one in wrong] == [True] if fault else wrong == []


@pytest.mark.parametrize("lock", sorted((ROOT / "deploy/locks").glob("*.lock")), ids=lambda lock: lock.stem)
def test_a_bill_of_materials_names_everything_that_a_service_installs(lock: Path) -> None:
    bill = CHAIN["bill"](lock.stem, lock)
    assert (bill["bomFormat"], bill["specVersion"], bill["version"]) == ("CycloneDX", "1.6", 1)
    assert re.fullmatch(r"urn:uuid:[0-9a-f-]{36}", bill["serialNumber"])
    named = {(one["name"], one["version"]) for one in bill["components"]}
    assert named == set(CHAIN["locked"](lock).items())
    assert all(
        one["purl"] == one["bom-ref"] == f"pkg:pypi/{one['name']}@{one['version']}" for one in bill["components"]
    )
    licensed = [one for one in bill["components"] if "licenses" in one]
    assert len(licensed) >= len(bill["components"]) * 0.8
