"""Loads the fixtures that start the real servers for every test of the tree."""

import asyncio
import gc
import socket
from asyncio import AbstractEventLoop
from collections.abc import Callable, Iterator, Sequence

# Hundreds of modules are imported and none of them is garbage: the collector is off until all tests are collected.
gc.disable()
pytest_plugins = ["runtime.testing.fixtures", "runtime.testing.disk"]

# Imported early on purpose: hypothesis' pytest plugin otherwise does it at the end of a session, where CPython 3.11's
# parser can fail with "AST constructor recursion depth mismatch".
import pytest  # noqa: E402
import structlog  # noqa: E402
import uvloop  # noqa: E402
from execnet import XSpec  # noqa: E402
from hypothesis import HealthCheck, settings  # noqa: E402
from xdist.remote import Producer  # noqa: E402
from xdist.scheduler.loadscope import LoadScopeScheduling  # noqa: E402

from runtime.lifecycle.process import freeze_heap  # noqa: E402
from tests.support import worker_forks  # noqa: E402

# The time of an example depends on how busy the machine is, so it has no deadline. Examples are the same in each run,
# so that a failure comes from the change and not from chance; for random ones: pytest --hypothesis-profile=random.
settings.register_profile("random", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("same", settings.get_profile("random"), derandomize=True, database=None)
settings.load_profile("same")


@pytest.fixture(autouse=True)
def logs_as_they_were() -> Iterator[None]:
    """Restores the configuration of logs, which a command run by a test in this process may change."""
    before = structlog.get_config()
    yield
    structlog.configure(**before)


@pytest.hookimpl(trylast=True)
def pytest_configure(config: pytest.Config) -> None:
    """Logs a traceback as services log it. Drawn with every local variable, as structlog does by default, one stops the
    loop for seconds on a busy machine, for longer than the lease of what is in work.

    Turns Nagle's algorithm off for pytest-rerunfailures, which sends two small packets around each test: the second
    would wait 40 ms for the acknowledgement of the first."""
    plain = structlog.dev.ConsoleRenderer(exception_formatter=structlog.dev.plain_traceback)
    structlog.configure(processors=[*structlog.get_config()["processors"][:-1], plain])
    asks = getattr(getattr(config, "failures_db", None), "sock", None)
    if isinstance(asks, socket.socket):
        asks.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)


def pytest_asyncio_loop_factories(item: pytest.Item) -> dict[str, Callable[[], AbstractEventLoop]]:
    """Runs tests on the event loop of what they test: uvloop as services do, which takes an eighth less CPU, and those
    of commands on asyncio's."""
    is_of_command = item.nodeid.startswith("cli/")
    return {"loop": asyncio.new_event_loop if is_of_command else uvloop.new_event_loop}


@pytest.hookimpl(tryfirst=True)
def pytest_runtestloop() -> None:
    """Excludes modules and collected tests from garbage collections during the run."""
    freeze_heap()


LONGEST = (
    "tests/faults/test_campaign.py",
    "tests/browser",
    "tests/system",
    "tests/system/test_guide_commands.py",
    "tests/system/test_evaluation.py",
    "tests/system/test_backup.py",
    "tests/system/test_added_provider.py",
    "tests/system/test_turn_budget.py",
    "tests/system/test_damaged_log.py",
    "tests/system/test_five_days.py",
    "tests/system/test_made_site.py",
    "tests/system/test_mcp_hanging_up.py",
    "tests/system/test_proposals.py",
    "tests/system/test_starting.py",
)
"""Started first, so that none of them is still running at the end when the other workers are idle."""
TOGETHER = ("tests/browser", "tests/system", "tests/faults")
"""Folders whose tests share a stack and a browser: one worker runs all of a folder's tests."""


def unit_of(test: str) -> str:
    """The unit of a test (a node id) that one worker runs: its file, or its folder if that shares a stack."""
    file = test.partition("::")[0]
    return next((folder for folder in TOGETHER if file.startswith(f"{folder}/") and file not in LONGEST), file)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Orders the units: the longest first, then tests of the whole product, which use the CPU, spread evenly among
    those of single services, which mostly wait."""
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


def pytest_xdist_setupnodes(config: pytest.Config, specs: Sequence[XSpec]) -> None:
    """Lets workers be forks of one process that has imported the tests."""
    python = worker_forks.start(config.args)
    for spec in specs:
        spec.python = python


def pytest_xdist_make_scheduler(config: pytest.Config, log: Producer) -> Units | None:
    """Distributes by unit, unless another distribution was chosen."""
    return Units(config, log) if config.getoption("dist") == "load" else None
