"""What became of planned faults, in a few words for tables and in whole sentences for reports."""

from __future__ import annotations

from collections.abc import Sequence

from contracts.attempt import FaultWitness
from contracts.results import AttemptResult


def fault_column(tries: Sequence[AttemptResult]) -> str:
    """`timeout met, latency not met` over the tries that decide a case; empty where none was planned."""
    words: dict[str, None] = {}
    for attempt in tries:
        words |= {f"{fault.type} {_met(fault)}": None for fault in attempt.faults or ()}
    return ", ".join(words)


def fault_sentence(fault: FaultWitness) -> str:
    """`timeout on downstream of tools: met, 132 bytes of requests, 90 received, 0 passed on`."""
    if fault.kind == "response":
        return f'{fault.type} from route "{fault.route}": {_met(fault)}, {fault.answers} such answers'
    return (
        f"{fault.type} on {fault.stream} of {fault.target}: {_met(fault)}, {fault.request_bytes} bytes of requests, "
        f"{fault.received_bytes} received, {fault.sent_bytes} passed on"
    )


def _met(fault: FaultWitness) -> str:
    return "met" if fault.met else "not met"
