"""The peer pydantic-evals on N trivial cases: one task call, one assertion each; run in an environment of its own."""

from __future__ import annotations

import sys

from pydantic_evals import Case, Dataset
from pydantic_evals.evaluators import Contains


async def answer(question: str) -> str:
    """The scripted reply."""
    return "The capital is Paris." if question else ""


def main() -> int:
    """Run the cases; 1 when one of them does not hold."""
    cases = [
        Case(name=f"case-{number:06d}", inputs=f"What is the capital of France? ({number})")
        for number in range(int(sys.argv[1]))
    ]
    dataset = Dataset(name="trivial", cases=cases, evaluators=(Contains(value="Paris"),))
    report = dataset.evaluate_sync(answer, progress=False)
    held = sum(all(result.value for result in case.assertions.values()) for case in report.cases)
    return 0 if held == len(cases) else 1


if __name__ == "__main__":
    sys.exit(main())
