"""The names in a trace: the GenAI semantic conventions (status Development) and, under `labctl.`, the lab's own."""

from __future__ import annotations

from typing import Literal

RUN = "run"
"""Name of the span of a whole run."""
CASE = "case"
"""`case ID`"""
CHECK = "check"
"""`check NAME`"""
INVOKE_AGENT = "invoke_agent"
"""`invoke_agent AGENT`: an attempt; also its `gen_ai.operation.name`."""
EXECUTE_TOOL = "execute_tool"
"""`execute_tool TOOL`; also its `gen_ai.operation.name`."""
CHAT = "chat"
"""`chat MODEL`: a request to a model; also its `gen_ai.operation.name`."""

SpanKind = Literal["run", "case", "attempt", "tool call", "model request", "check"]

# GenAI semantic conventions
OPERATION = "gen_ai.operation.name"
AGENT_NAME = "gen_ai.agent.name"
PROVIDER = "gen_ai.provider.name"
REQUEST_MODEL = "gen_ai.request.model"
REQUEST_TEMPERATURE = "gen_ai.request.temperature"
REQUEST_SEED = "gen_ai.request.seed"
REQUEST_MAX_TOKENS = "gen_ai.request.max_tokens"
INPUT_TOKENS = "gen_ai.usage.input_tokens"
OUTPUT_TOKENS = "gen_ai.usage.output_tokens"
TOOL_NAME = "gen_ai.tool.name"
TOOL_TYPE = "gen_ai.tool.type"
EVALUATION = "gen_ai.evaluation.result"
"""An event on the span of a check."""
EVALUATION_NAME = "gen_ai.evaluation.name"
EVALUATION_LABEL = "gen_ai.evaluation.score.label"
EVALUATION_SCORE = "gen_ai.evaluation.score.value"

# Their bodies: at `--capture payloads` only
INPUT_MESSAGES = "gen_ai.input.messages"
OUTPUT_MESSAGES = "gen_ai.output.messages"
TOOL_ARGUMENTS = "gen_ai.tool.call.arguments"
TOOL_RESULT = "gen_ai.tool.call.result"
BODIES = frozenset({INPUT_MESSAGES, OUTPUT_MESSAGES, TOOL_ARGUMENTS, TOOL_RESULT})

# General conventions
SERVICE_NAME = "service.name"
SERVICE_VERSION = "service.version"
HTTP_STATUS = "http.response.status_code"
ERROR_TYPE = "error.type"

# The lab's own
KIND = "labctl.kind"
"""A `SpanKind`."""
RUN_ID = "labctl.run.id"
CASE_ID = "labctl.case.id"
"""On every span below the run's."""
ATTEMPT = "labctl.attempt"
"""On an attempt's span and every one below it."""
REPEAT = "labctl.repeat"
RETRY_OF = "labctl.retry_of"
OUTCOME = "labctl.outcome"
OUTCOME_CLASS = "labctl.outcome.class"
CHECK_TYPE = "labctl.check.type"
TOOL_STATUS = "labctl.tool.status"
"""A word instead of an HTTP status."""
SEEN_BY = "labctl.seen_by"
"""Who knows of a call: `client` (the lab's own chat loop), `fixture-api` (its journal) or `agent` (its own word)."""
VIA = "labctl.via"
ROUTE = "labctl.route"
FAULT = "labctl.fault"
REQUEST_DIGEST = "labctl.request.digest"
RESPONSE_DIGEST = "labctl.response.digest"
COST_USD = "labctl.cost_usd"
