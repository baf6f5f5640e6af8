"""The networks that hold the engine's pool, as they come and go while they are looked at."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest
from python_on_whales.exceptions import NoSuchNetwork

from driver.stacks import networks


class Gone:
    """Listed, and removed before anything else is asked of it."""

    @property
    def driver(self) -> str:
        raise NoSuchNetwork(["docker", "network", "inspect"], 1)


def test_a_network_that_goes_while_it_is_looked_at_holds_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    there: Any = SimpleNamespace(driver="bridge", name="one", labels=None)
    host: Any = SimpleNamespace(driver="host", name="host", labels=None)
    client = SimpleNamespace(network=SimpleNamespace(list=lambda: [Gone(), there, host]))
    monkeypatch.setattr(networks, "DockerClient", lambda: client)

    assert networks.bridge_networks() == {"one": {}}
