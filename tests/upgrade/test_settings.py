"""Settings of the release before: each is there, or whoever sets it is told what to do instead."""

from importlib import import_module

from nexus_cli.stack.services import SERVICES, package
from runtime.setting_names import REMOVED, known
from tests.upgrade.golden_files import golden


def test_a_setting_that_is_removed_is_told_of_for_one_release() -> None:
    for service in SERVICES:
        import_module(f"{package(service)}.settings")
    before = set(golden("settings"))
    assert before - known() == set(REMOVED)
