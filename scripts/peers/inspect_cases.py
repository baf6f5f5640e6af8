"""The peer Inspect on N trivial cases: its mock model, one scorer each; run in an environment of its own."""

from __future__ import annotations

import sys
import tempfile

from inspect_ai import Task, eval  # noqa: A004 - the peer's own name
from inspect_ai.dataset import Sample
from inspect_ai.model import ModelOutput, ModelUsage, get_model
from inspect_ai.scorer import includes


def main() -> int:
    """Run the samples; 1 when the log is not a success."""
    count = int(sys.argv[1])
    samples = [Sample(input=f"What is the capital of France? ({number})", target="Paris") for number in range(count)]
    outputs = [ModelOutput.from_content("mockllm/model", "The capital is Paris.") for _ in range(count)]
    for output in outputs:  # without it the mock counts tokens with a table that it downloads
        output.usage = ModelUsage(input_tokens=10, output_tokens=5, total_tokens=15)
    model = get_model("mockllm/model", custom_outputs=outputs)
    with tempfile.TemporaryDirectory() as logs:
        (log,) = eval(Task(dataset=samples, scorer=includes()), model=model, log_dir=logs, display="none")
    return 0 if log.status == "success" else 1


if __name__ == "__main__":
    sys.exit(main())
