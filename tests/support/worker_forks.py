"""Imports the modules of the tests once and forks the workers of pytest-xdist from there.

    python -P tests/support/worker_forks.py SOCKET TESTS…

Importing and compiling them takes 20 s of CPU, which each worker would spend. A worker still collects its tests, so a
module that cannot be imported is reported as without this process. `start` runs it beside pytest's own process and
returns the command that execnet takes for Python: it hands its descriptors over and stays until the worker ends.
Workers also share what forks the services for them (runtime.testing.forks).
"""

import atexit
import contextlib
import gc
import os
import select
import shutil
import subprocess
import sys
import tempfile
import types
from collections.abc import Generator, Sequence
from pathlib import Path

import pytest

from runtime.testing.fork_server import ForkServer, run_to_end
from runtime.testing.forks import SHARED_FORKS

CLIENT = Path(__file__).with_name("forked_worker.py")


class _Imports:
    """Collects nothing from the modules that pytest imports."""

    @pytest.hookimpl(tryfirst=True)
    def pytest_pycollect_makeitem(self) -> list[pytest.Item]:
        return []

    @pytest.hookimpl(wrapper=True)
    def pytest_make_collect_report(
        self, collector: pytest.Collector
    ) -> Generator[None, pytest.CollectReport, pytest.CollectReport]:
        """Forgets a module that was not imported to its end, which pytest leaves in sys.modules: a worker would take it
        for one that has been imported."""
        report = yield
        if not report.passed:
            files = {str(collector.path), str(collector.path / "__init__.py")}
            for name in [name for name, module in sys.modules.items() if getattr(module, "__file__", None) in files]:
                del sys.modules[name]
        return report


def start(tests: Sequence[str]) -> str:
    """Starts the process; it ends with this one."""
    folder = tempfile.mkdtemp(prefix="nexus-")
    path = f"{folder}/workers"
    os.mkfifo(f"{folder}/end")
    os.environ[SHARED_FORKS] = folder
    process = subprocess.Popen(
        [sys.executable, "-P", __file__, path, *tests], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    assert process.stdout is not None

    def end() -> None:
        process.communicate()
        shutil.rmtree(folder)

    atexit.register(end)
    assert select.select([process.stdout], [], [], 600)[0], "the test modules are not imported within 600 s"
    return f"{sys.executable} -S {CLIENT} {path}"


def _serve_execnet() -> None:
    """Does what `python -c` does in a worker that execnet starts."""
    sys.argv = ["-c"]
    main = sys.modules["__main__"] = types.ModuleType("__main__")
    exec(eval(sys.stdin.readline()), vars(main))


def main() -> None:
    """Imports, then serves."""
    path, *tests = sys.argv[1:]
    with Path(os.devnull).open("w") as nothing, contextlib.redirect_stdout(nothing):
        # No cache, which belongs to the real run; pytest-rerunfailures starts a thread, which a fork does not have.
        options = ["--collect-only", "-qq", "-p", "no:cacheprovider", "-p", "no:rerunfailures"]
        pytest.main([*options, *tests], plugins=[_Imports()])
    gc.disable()
    gc.freeze()
    os.open(Path(path).with_name("end"), os.O_RDWR)  # held open: a shared fork server lives as long as workers can
    if ForkServer(path).serve() is not None:
        run_to_end(_serve_execnet)


if __name__ == "__main__":
    main()
