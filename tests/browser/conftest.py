"""A real Chromium against the whole product. One worker runs all of them, with one
browser and its stacks; each test has its own visitors.

The browser is the machine's own (tests/support/chromium.py): where there is none these tests fail. They share one event
loop, since a browser cannot move to another: each module says
`pytestmark = pytest.mark.asyncio(loop_scope="session")`.
"""

from collections.abc import AsyncIterator, Iterator

import pytest
import pytest_asyncio
from playwright.async_api import Browser, async_playwright, expect

from agent.scripted_model.server import ScriptedModel, scripted_model
from tests.browser.visits import DEADLINE_MS, Visits
from tests.support.chromium import chromium
from tests.support.running_stack import RunningStack

ABSENT = (
    "AvoidUnnecessaryBeforeUnloadCheckSync,DestroyProfileOnBrowserClose,HttpsUpgrades,HttpsFirstBalancedModeAutoEnable,"
    "LensOverlay,MediaRouter,PaintHolding,ThirdPartyStoragePartitioning,AvoidCorsURLLoaderRestartOnRedirect,"
    "OptimizationHints,NetworkTimeServiceQuerying,AimEnabled,PreconnectToSearch,"
    "WebUIOmniboxPopup,WebUIOmniboxAimPopup,SpareRendererForSitePerProcess"
)
"""Chromium features to disable. First those that Playwright disables, repeated here because only the last such list
counts; then the popups of the address bar (two extra pages for each page) and the spare renderer process, which cost
two thirds of the processor time of a page."""
ARGUMENTS = [
    "--no-sandbox", "--disable-dev-shm-usage", "--disable-gpu", "--force-color-profile=srgb",
    f"--disable-features={ABSENT}",
]  # fmt: skip
expect.set_options(timeout=DEADLINE_MS)


@pytest.fixture(scope="package")
def stack(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningStack]:
    """The product as a newcomer starts it: no keys, the offline provider."""
    with RunningStack(tmp_path_factory.mktemp("nexus"), env={}) as running:
        yield running


@pytest_asyncio.fixture(scope="package", loop_scope="session")
async def model() -> AsyncIterator[ScriptedModel]:
    """A scripted model."""
    async with scripted_model() as server:
        yield server


@pytest.fixture(scope="package")
def scripted_stack(tmp_path_factory: pytest.TempPathFactory, model: ScriptedModel) -> Iterator[RunningStack]:
    """The product with that model, and a market that moves on by a session every ten seconds, for twenty minutes."""
    env = {**model.environment, "NEXUS_SAMPLE_SECONDS_PER_BAR": "10"}
    with RunningStack(tmp_path_factory.mktemp("nexus"), env) as running:
        yield running


@pytest_asyncio.fixture(scope="package", loop_scope="session")
async def browser() -> AsyncIterator[Browser]:
    """Headless Chromium."""
    async with async_playwright() as playwright:
        running = await playwright.chromium.launch(executable_path=chromium(), args=ARGUMENTS)
        yield running
        await running.close()


@pytest_asyncio.fixture(loop_scope="session")
async def visits(stack: RunningStack, browser: Browser) -> AsyncIterator[Visits]:
    """Opens pages, each as another person; afterwards no page may have logged an error."""
    opened = Visits(browser, stack.url)
    yield opened
    await opened.end()


@pytest_asyncio.fixture(loop_scope="session")
async def scripted_visits(scripted_stack: RunningStack, browser: Browser) -> AsyncIterator[Visits]:
    """The same on the stack with the scripted model."""
    opened = Visits(browser, scripted_stack.url)
    yield opened
    await opened.end()
