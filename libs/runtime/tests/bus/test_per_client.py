"""What there is once for each connection ends with it."""

import gc
import weakref

import pytest
from nats.aio.client import Client

from runtime.bus.marks import Marks
from runtime.bus.per_client import PerClient
from runtime.bus.replies import ReplyInbox
from runtime.bus.storage import Storage


@pytest.mark.parametrize("kind", [ReplyInbox, Marks, Storage])
def test_each_client_has_one_of_its_own_and_takes_it_with_it(kind: type[PerClient]) -> None:
    client, other = Client(), Client()
    one = kind.of(client)
    assert kind.of(client) is one
    assert kind.of(other) is not one
    gone = weakref.ref(client)
    del client, one
    gc.collect()
    assert gone() is None
