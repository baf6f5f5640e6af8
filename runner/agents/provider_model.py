"""A model outside of the lab as the chat loop asks it; importing this loads the client library."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from contracts.errors import ErrorCode, LabError
from contracts.model_endpoint import Endpoint
from contracts.plan import AgentPlan
from contracts.suite.settings import Limits
from contracts.suite.tool import Tool
from providers.client import Client
from providers.conversation import MAX_REPLY_BYTES, ProviderError, Reply, Sampling, Session, ToolCall, ToolOffer
from runner.agents.chat_model import ModelTroubleError, system_text
from runner.agents.claims import agent_error
from runner.agents.interface import Assignment, Ending, EndKind
from runner.agents.limits import passed_limit
from runner.agents.provider_failures import failure_by_status


class ProviderModel:
    """Asks a provider (`runner.agents.chat_model.ChatModel`)."""

    def __init__(self, client: Client, endpoint: Endpoint, *, key: str | None) -> None:
        self._client = client
        self._endpoint = endpoint
        self._key = key

    @classmethod
    def of(cls, agent: AgentPlan, *, values: Mapping[str, str]) -> ProviderModel:
        """The model of an agent, with its key from `values`; raises LabError where it cannot be asked at all."""
        endpoint = Endpoint(agent.model or "", url=agent.model_url, auth=agent.auth)
        key = endpoint.key(values)
        try:
            return cls(Client(endpoint, key=key), endpoint, key=key)
        except ProviderError as trouble:
            raise LabError(
                ErrorCode.UNKNOWN_MODEL, f'the model "{agent.model}" cannot be asked', cause=trouble.detail
            ) from trouble

    def close(self) -> None:
        """Close its connections."""
        self._client.close()

    def begin(self, assignment: Assignment) -> ProviderModelSession:
        """A new conversation; one whose model has a planned fault has connections of its own, through the proxy."""
        agent, client, is_faulted = assignment.agent, self._client, assignment.model_is_faulted
        if is_faulted:
            client = Client(replace(self._endpoint, url=assignment.model_url), key=self._key)
        session = client.begin(
            system=system_text(assignment),
            tools=[_offer(tool) for tool in assignment.tools],
            sampling=Sampling(
                temperature=agent.temperature,
                seed=assignment.conditions.seed,
                max_output_tokens=agent.max_output_tokens,
            ),
            headers=assignment.trace.headers,
        )
        return ProviderModelSession(session, assignment.limits, own_client=client if is_faulted else None)

    def end(self, session: Session) -> None:
        """Close the connections that only this conversation had."""
        if isinstance(session, ProviderModelSession) and session.own_client is not None:
            session.own_client.close()


@dataclass(frozen=True)
class ProviderModelSession:
    """A conversation whose service's failures are the provider's; a request that it finds wrong is the agent's."""

    session: Session
    limits: Limits
    own_client: Client | None = None
    """Present exactly where a planned fault is on the way to the model."""

    def tell(self, text: str) -> None:
        """Add what the user says."""
        self.session.tell(text)

    def answer(self, call: ToolCall, text: str) -> None:
        """Add the result of a call."""
        self.session.answer(call, text)

    def ask(self, *, seconds: float) -> Reply:
        """What the model says next; raises ModelTroubleError."""
        try:
            return self.session.ask(seconds=seconds)
        except ProviderError as trouble:
            ending = agent_error(str(trouble)) if self.own_client is not None else _ending(trouble, self.limits)
            raise ModelTroubleError(ending, detail=trouble.detail) from trouble


def _ending(trouble: ProviderError, limits: Limits) -> Ending:
    if trouble.is_too_long and limits.output_bytes <= MAX_REPLY_BYTES:
        return passed_limit("output", limits=limits)
    if trouble.status is not None and failure_by_status(trouble.status) is None:
        return agent_error(str(trouble))
    return Ending(kind=EndKind.PROVIDER, reason=str(trouble))


def _offer(tool: Tool) -> ToolOffer:
    function = tool.function
    return ToolOffer(
        name=function.name,
        description=function.description,
        parameters=function.parameters or {"type": "object", "properties": {}},
        strict=bool(function.strict),
    )
