"""What goes wrong with the fault proxy; importing this loads no client library."""

from __future__ import annotations


class FaultProxyError(Exception):
    """It does not answer, or does not do what it is asked."""


class FaultProxyRefusedError(FaultProxyError):
    """It answered with an error."""
