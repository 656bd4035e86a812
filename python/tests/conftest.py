"""What the tests share: the folder of the repository's test data, and the command beside the module."""

import os
import pathlib
import signal
import subprocess

import pytest

# A shell that starts the tests in the background has them ignore it, and nobody could be interrupted.
signal.signal(signal.SIGINT, signal.default_int_handler)

ROOT = pathlib.Path(__file__).resolve().parents[2]


@pytest.fixture
def data() -> pathlib.Path:
    return ROOT / "testdata" / "aggregate"


@pytest.fixture
def command():
    """The command `fathom`, which FATHOM_PROGRAM names or the package brings."""
    from fathom import _command

    program = _command.program()

    def run(*arguments, text=None) -> bytes:
        arguments = [program, *map(os.fspath, arguments)]
        done = subprocess.run(arguments, input=text, capture_output=True, timeout=120)
        assert done.returncode in (0, 1), done.stderr.decode()
        return done.stdout

    return run
