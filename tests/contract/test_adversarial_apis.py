"""No false alarm on the other APIs: whatever is legal, however odd, violates nothing that gates."""

from __future__ import annotations

import pytest

from tests.contract.adversarial_apis import CALLS, MESSAGES, RESPONSES
from tests.contract.adversarial_asked import ANSWERED, BOUNDED, OWING, TRANSLATED
from tests.contract.adversarial_forwarded import ASKED, TOLD
from tests.contract.adversarial_relayed import PUT_RIGHT
from tests.contract.adversarial_tools import CHOSEN
from tests.contract.captures import Capture, violated

ALL = {
    **RESPONSES,
    **CALLS,
    **MESSAGES,
    **BOUNDED,
    **ANSWERED,
    **TRANSLATED,
    **OWING,
    **ASKED,
    **TOLD,
    **CHOSEN,
    **PUT_RIGHT,
}


@pytest.mark.parametrize("item", [pytest.param(item, id=name) for name, item in ALL.items()])
def test_a_legal_reply_passes(item: Capture) -> None:
    """A reply that takes a freedom which no norm denies is no violation."""
    found = violated(item)
    assert {name: (one.findings[0].expected, one.findings[0].actual) for name, one in found.items()} == {}
