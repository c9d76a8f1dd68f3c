"""The clauses of the module `inner`, each on examples that hold and examples that do not."""

from __future__ import annotations

import pytest

from conformance.contract.clause import Outcome
from tests.contract.captures import CLIENT_KEY, Try, ask, capture, chat, verdicts, wire
from tests.contract.example import Parameter, differs, label, parameters
from tests.contract.examples_inner import EXAMPLES, INNER, billed, housed


@pytest.mark.parametrize("parameter", parameters(EXAMPLES), ids=label)
def test_an_example_has_its_outcome(parameter: Parameter) -> None:
    """A holding example is held (it applies), a violating one is violated."""
    assert differs(parameter) == ""


def test_who_asks_with_the_clients_own_key_shows_the_clients_own_account() -> None:
    """A proxy that has no key of its own hides no account; keys that a recorder took out of both legs prove nothing."""
    own = capture(ask(), billed("org-1234"), Try(billed("org-1234"), key=CLIENT_KEY))
    assert verdicts(own)["secret.upstream"].outcome is Outcome.HELD
    taken_out = ask().headed(("Authorization", "Bearer REDACTED"))
    unknown = capture(taken_out, billed("org-1234"), Try(billed("org-1234"), request=taken_out))
    assert verdicts(unknown)["secret.upstream"].outcome is Outcome.VIOLATED


def test_two_fields_that_a_recorder_took_out_are_not_one() -> None:
    """What stood in a field is not known: a cookie of the gateway's own is no account."""
    cookie = wire(chat(), headers=("Set-Cookie: REDACTED",))
    seen = verdicts(capture(ask(), cookie, billed("REDACTED")))
    assert seen["secret.upstream"].outcome is Outcome.NOT_APPLICABLE


@pytest.mark.parametrize("host", ["api.openai.com", "api.openai.com:443", "127.0.0.1", "m0.test"])
def test_a_public_name_is_no_inner_address(host: str) -> None:
    """Which provider serves is told by other clauses, to those who promise to hide it."""
    shown = housed(wire(chat(), headers=(f"x-api-base: https://{host}/v1",)), host=host)
    assert verdicts(shown)["secret.address"].outcome is Outcome.NOT_APPLICABLE


def test_an_address_that_the_client_named_is_no_secret() -> None:
    """A client that chooses the member by a field gets the field back."""
    asked = ask().headed(("X-Worker", INNER))
    shown = housed(wire(chat(), headers=(f"x-worker: {INNER}",)), request=asked)
    assert verdicts(shown)["secret.address"].outcome is Outcome.NOT_APPLICABLE
