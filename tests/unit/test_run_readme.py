"""README.md of a run: how to run it again under its conditions, and what was left running."""

from __future__ import annotations

from contracts.plan import ImageIdentity, Plan
from driver.ports import KeptContainer
from driver.run_readme import run_readme
from ledger.redaction import Redactor
from tests.fakes.written_runs import plan_of


def plan(**conditions: object) -> Plan:
    made = plan_of("greets")
    return made.model_copy(update={"conditions": made.conditions.model_copy(update=conditions)})


def test_what_surrounded_the_agent_is_in_the_command_that_repeats_the_run() -> None:
    image = ImageIdentity(reference="alpine:3", digest="d", image_id="i")
    surrounded = plan(isolation="container", setup_root=True, egress=True).model_copy(
        update={"images": {"base": image}}
    )

    assert "--isolation container --base-image alpine:3 --setup-root --egress --case ID" in run_readme(
        surrounded, redactor=Redactor({})
    )
    assert "--no-setup --case ID" in run_readme(plan(no_setup=True), redactor=Redactor({}))
    plain = run_readme(plan(), redactor=Redactor({}))
    assert "--isolation" not in plain
    assert "--base-image" not in plain


def test_what_was_kept_is_named_with_the_command_that_enters_it() -> None:
    kept = [KeptContainer(attempt="greets#1", command="docker exec -it labctl-1 sh")]

    text = run_readme(plan(), redactor=Redactor({}), kept=kept)

    assert "- greets#1: `docker exec -it labctl-1 sh`" in text
    assert "labctl clean --kept" in text
    assert "left running" not in run_readme(plan(), redactor=Redactor({}))
