"""Loads the fixtures that start the real servers for every test of the tree."""

pytest_plugins = ["runtime.testing", "runtime.testing_disk"]

# Imported early on purpose: hypothesis' pytest plugin otherwise does it at the end of a session, where CPython 3.11's
# parser can fail with "AST constructor recursion depth mismatch".
import pytest  # noqa: E402
from hypothesis import HealthCheck, settings  # noqa: E402

# How fast an example is says how busy the machine is, and a run that fails is to say something of the change and not of
# the dice. To throw the dice: pytest --hypothesis-profile=dice.
settings.register_profile("dice", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("same", settings.get_profile("dice"), derandomize=True, database=None)
settings.load_profile("same")


LONGEST = ("test_campaign.py", "test_turn_budget.py", "test_backup.py")
"""A minute and more each: begun first, so that no worker is left with one of them at the end."""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """The longest tests first, all others in their order."""
    items.sort(key=lambda item: item.path.name not in LONGEST)
