"""A process that ends when its parent dies, however that ends."""

import ctypes
import signal
import sys

_libc = ctypes.CDLL(None, use_errno=True) if sys.platform == "linux" else None
_PR_SET_PDEATHSIG = 1


def end_with_parent(number: signal.Signals) -> None:
    """Asks the kernel to send this process a signal when its parent dies. Does nothing on systems without such a
    call."""
    if _libc is not None:
        _libc.prctl(_PR_SET_PDEATHSIG, number)
