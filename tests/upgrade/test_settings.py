"""Settings of the release before: each is there, or whoever sets it is told what to do instead."""

import re
from importlib import import_module
from pathlib import Path

from contracts.providers import KEYED
from nexus_cli.stack.services import SERVICES, package
from runtime.setting_names import REMOVED, known_names
from tests.upgrade.golden_files import golden

ROOT = Path(__file__).parents[2]
OTHERS = {"NEXUS_URL", "NEXUS_KEY", "NEXUS_CHROMIUM", "NEXUS_FORK_SERVER", "NEXUS_NATS_REPLCAS"}
"""Variables of examples, of tests and of commands, and a slip that is shown as one."""


def test_a_setting_that_is_removed_is_told_of_for_one_release() -> None:
    assert set(golden("settings")) - every_setting() == set(REMOVED)


def test_every_setting_that_a_page_names_is_read() -> None:
    there = every_setting() | OTHERS | {provider.address_variable for provider in KEYED.values()}
    pages = [ROOT / "README.md", *(ROOT / "docs").rglob("*.md")]
    named = {name: page.name for page in pages for name in re.findall(r"`(NEXUS_[A-Z_]+[A-Z])\b", page.read_text())}
    assert {name: page for name, page in named.items() if name not in there} == {}
    assert len(named) > 75


def every_setting() -> frozenset[str]:
    for service in SERVICES:
        import_module(f"{package(service)}.settings")
    return known_names()
