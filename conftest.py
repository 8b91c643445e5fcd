"""Loads the fixtures that start the real servers for every test of the tree."""

import gc
import socket
from collections.abc import Iterator

# Hundreds of modules are imported and none of that is garbage: nothing is looked for until all tests are collected.
gc.disable()
pytest_plugins = ["runtime.testing.servers", "runtime.testing.disk"]

# Imported early on purpose: hypothesis' pytest plugin otherwise does it at the end of a session, where CPython 3.11's
# parser can fail with "AST constructor recursion depth mismatch".
import pytest  # noqa: E402
import structlog  # noqa: E402
from hypothesis import HealthCheck, settings  # noqa: E402
from xdist.remote import Producer  # noqa: E402
from xdist.scheduler.loadscope import LoadScopeScheduling  # noqa: E402

from runtime.lifecycle.process import freeze_heap  # noqa: E402

# How fast an example is says how busy the machine is, and a run that fails is to say something of the change and not of
# the dice. To throw the dice: pytest --hypothesis-profile=dice.
settings.register_profile("dice", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("same", settings.get_profile("dice"), derandomize=True, database=None)
settings.load_profile("same")


@pytest.fixture(autouse=True)
def logs_as_they_were() -> Iterator[None]:
    """A command that a test runs in this process may say how it logs: the next test logs as if it had not."""
    before = structlog.get_config()
    yield
    structlog.configure(**before)


@pytest.hookimpl(trylast=True)
def pytest_configure(config: pytest.Config) -> None:
    """A traceback is logged as services log it. Drawn with every local variable, as structlog does by itself, one stops
    the loop for seconds on a busy machine, for longer than the lease of what is in work.

    pytest-rerunfailures asks the first process around each test, in two small packets: the second must not wait for
    40 ms until the first one is acknowledged."""
    plain = structlog.dev.ConsoleRenderer(exception_formatter=structlog.dev.plain_traceback)
    structlog.configure(processors=[*structlog.get_config()["processors"][:-1], plain])
    asks = getattr(getattr(config, "failures_db", None), "sock", None)
    if isinstance(asks, socket.socket):
        asks.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)


@pytest.hookimpl(tryfirst=True)
def pytest_runtestloop() -> None:
    """The modules and the tests stay to the end: a collection during a test looks through what tests have made."""
    freeze_heap()


LONGEST = (
    "tests/faults/test_campaign.py",
    "tests/browser",
    "tests/system",
    "tests/system/test_backup.py",
    "tests/system/test_turn_budget.py",
)
"""Begun first, so that no worker is left with one of them at the end."""
TOGETHER = ("tests/browser", "tests/system", "tests/faults")
"""Folders whose tests share a stack, and a browser: one worker runs all of them, then stops what they shared."""


def unit_of(test: str) -> str:
    """What one worker runs of `test`, a node id: its file, or its folder if the tests of that share a stack."""
    file = test.partition("::")[0]
    return next((folder for folder in TOGETHER if file.startswith(f"{folder}/") and file not in LONGEST), file)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """The longest units first; then, unit by unit, those of the whole product, which compute, spread evenly among those
    of one service, which rather wait."""
    units: dict[str, list[pytest.Item]] = {}
    for item in items:
        units.setdefault(unit_of(item.nodeid), []).append(item)
    longest = [unit for unit in LONGEST if unit in units]
    whole = [unit for unit in units if unit.startswith("tests/") and unit not in longest]
    others = [unit for unit in units if not unit.startswith("tests/")]
    spread = sorted((place / len(names), name) for names in (whole, others) for place, name in enumerate(names))
    items[:] = [item for unit in (*longest, *(unit for _, unit in spread)) for item in units[unit]]


class Units(LoadScopeScheduling):
    """Gives a worker one unit after the other, in the order of the tests."""

    def __init__(self, config: pytest.Config, log: Producer) -> None:
        super().__init__(config, log)
        config.option.loadscopereorder = False

    def _split_scope(self, nodeid: str) -> str:
        return unit_of(nodeid)


def pytest_xdist_make_scheduler(config: pytest.Config, log: Producer) -> Units | None:
    """Where nothing else is asked for, a file or a folder is one worker's."""
    return Units(config, log) if config.getoption("dist") == "load" else None
