import pytest

from contracts.ws import Cursor
from gateway.domain.recovery import (
    MAX_STREAM_DISTANCE,
    AskMemory,
    Bounds,
    Plan,
    ReadLog,
    SendSnapshot,
    UpToDate,
    plan_recovery,
)


def since(seq: int, epoch: str = "e") -> Cursor:
    return Cursor(epoch=epoch, seq=seq)


@pytest.mark.parametrize(
    ("cursor", "newest", "bounds", "plan"),
    [
        (None, 9, Bounds("e", 1, 20), SendSnapshot(recovered=True)),
        (None, 0, Bounds("e", 1, 0), SendSnapshot(recovered=True)),
        (since(9), 9, Bounds("e", 1, 20), UpToDate()),
        (since(15), 9, Bounds("e", 1, 20), UpToDate()),
        (since(0), 0, Bounds("e", 1, 0), UpToDate()),
        (since(4), 9, Bounds("e", 1, 20), ReadLog(4, 9)),
        (since(4), 9, Bounds("e", 5, 20), ReadLog(4, 9)),
        (since(3), 9, Bounds("e", 5, 20), AskMemory(3, 9)),
        (since(1), 30_000, Bounds("e", 1, 1 + MAX_STREAM_DISTANCE), AskMemory(1, 30_000)),
        (since(2), 30_000, Bounds("e", 1, 1 + MAX_STREAM_DISTANCE), ReadLog(2, 30_000)),
        (since(9, "other"), 9, Bounds("e", 1, 20), SendSnapshot(recovered=False)),
        (since(21), 9, Bounds("e", 1, 20), SendSnapshot(recovered=False)),
    ],
)
def test_what_a_client_missed_is_read_where_it_costs_least(
    cursor: Cursor | None, newest: int, bounds: Bounds, plan: Plan
) -> None:
    assert plan_recovery(cursor, newest, bounds) == plan
