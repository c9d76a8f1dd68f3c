"""Scenarios, profiles and a running stage for the tests of the pipeline."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from conformance.run.plan import PlannedCase, plan_cases
from conformance.run.stage import Stage, open_stage
from conformance.scenario.codec import decode
from conformance.scenario.model import Scenario
from conformance.target.lanes import Lane, Member
from conformance.target.load import load_profile
from conformance.target.profile import Profile

HELLO = "authored/openai/chat-hello"
HELLO_STREAM = "authored/openai/chat-hello-stream"

#: The reference gateway on a fixed set of promises, so that there is always one that it does not make.
REFERENCE = replace(
    load_profile("reference"),
    capabilities=frozenset({"failover", "provider-blind", "idle-timeout", "first-token-timeout"}),
)


def scenario(name: str = "hello", lines: str = "", **play: str) -> Scenario:
    """A scenario "test.NAME": a chat request, what `lines` of TOML add or replace, and what each member plays."""
    given = tomllib.loads(lines)
    table = {
        "id": f"test.{name}",
        "title": f"The scenario {name}",
        "request": {"endpoint": "chat.completions", "messages": [{"role": "user", "content": "Say hello."}]},
        "play": {member: [item] for member, item in (play or {"default": HELLO}).items()},
        "exercises": ["chat.id"],
        "source": "incident A",
        **given,
    }
    return decode(table, where="scenes.py")


def url_profile(*lanes: Lane, control: str = "") -> Profile:
    """A gateway that runs already, with these lanes."""
    return Profile(
        name="deployed",
        kind="url",
        base_url="http://127.0.0.1:9/v1",
        lanes=lanes,
        upstream_control=control,
        upstream_token_variable="CONFORMANCE_TEST_TOKEN" if control else "",
    )


def lane(alias: str, *ports: int) -> Lane:
    """A lane with a member on each of the ports."""
    members = (
        Member(name=f"m{number}", port=port, api_key=f"sk-up-{port}", model=f"up-model-{port}")
        for number, port in enumerate(ports)
    )
    return Lane(alias=alias, members=tuple(members))


@contextmanager
def staged(
    scenarios: Sequence[Scenario], folder: Path, *drivers: str
) -> Iterator[tuple[Stage, dict[str, PlannedCase]]]:
    """A stage with the reference gateway, and the planned cases of these scenarios by id."""
    cases = plan_cases(scenarios, drivers or ("wire",), REFERENCE)
    with open_stage(REFERENCE, cases, folder) as stage:
        yield stage, {case.id: case for case in cases}
