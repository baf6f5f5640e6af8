"""Signals become one exception, and a second one does not cut teardown off."""

from __future__ import annotations

import os
import signal

import pytest

from driver.interrupts import Interrupted, interruptible


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_a_signal_raises_with_its_exit_code_and_later_signals_are_ignored(number: signal.Signals, code: int) -> None:
    torn_down = False
    with pytest.raises(Interrupted) as caught, interruptible():
        try:
            os.kill(os.getpid(), number)
        finally:
            os.kill(os.getpid(), signal.SIGINT)
            os.kill(os.getpid(), signal.SIGTERM)
            torn_down = True
    assert caught.value.exit_code == code
    assert torn_down


def test_the_former_handlers_come_back() -> None:
    before = signal.getsignal(signal.SIGTERM)
    with interruptible():
        assert signal.getsignal(signal.SIGTERM) != before
    assert signal.getsignal(signal.SIGTERM) == before
