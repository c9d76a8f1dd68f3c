"""Kinds of failure: what a provider meant, read from any envelope that it chose."""

from __future__ import annotations

from typing import Any

import pytest

from conformance.contract.kinds import (
    Kind,
    error_object,
    failing,
    inner_status,
    kind_of,
    kind_of_reply,
    reason_of,
    says_no_model,
)
from conformance.exchange.model import Reply
from tests.contract.captures import ask, capture, exchange, wire


def _reply(body: Any, status: int = 400) -> Reply:
    reply = exchange(capture(ask(), wire(body, status=status))).reply
    assert reply is not None
    return reply


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("This model's maximum context length is 8192 tokens", Kind.CONTEXT_LENGTH),
        ("You exceeded your current quota, please check your plan and billing details", Kind.QUOTA),
        ("Insufficient Balance", Kind.QUOTA),
        ("Your credit balance is too low to access the API.", Kind.QUOTA),
        ("The model `x` does not exist or you do not have access to it", Kind.MODEL_NOT_FOUND),
        ("ghost/ghost-model-v9 is not a valid model ID", Kind.MODEL_NOT_FOUND),
        ("No endpoints found for maker/model:free.", Kind.MODEL_NOT_FOUND),
        ("Rate limit reached for requests", Kind.RATE_LIMIT),
        ("Overloaded", Kind.OVERLOADED),
        ("Incorrect API key provided: sk-test", Kind.AUTHENTICATION),
        ("The response was filtered due to the prompt triggering the content management policy", Kind.CONTENT_FILTER),
        ("Invalid value for temperature", Kind.OTHER),
        ("", Kind.OTHER),
    ],
)
def test_words_tell_the_kind(text: str, kind: Kind) -> None:
    """The words of public reports are recognised, others are not."""
    assert kind_of(text) is kind


def test_a_code_goes_before_the_words() -> None:
    """A code says what an error is, whatever its message talks about."""
    body = {"error": {"message": "Please try again.", "code": "context_length_exceeded"}}
    assert kind_of_reply(_reply(body)) is Kind.CONTEXT_LENGTH


def test_a_long_text_is_read_to_a_bound() -> None:
    """Words past the bound are not looked for."""
    assert kind_of("x" * 5000 + "rate limit") is Kind.OTHER


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        ({"error": {"message": "a"}}, "a"),
        ([{"error": {"message": "a"}}], "a"),
        ({"error": "a"}, "a"),
        ({"message": "a"}, "a"),
        ({"msg": "a"}, "a"),
        ({"detail": "a"}, "a"),
        ({"detail": [{"msg": "a", "loc": ["b"]}, {"msg": "c"}, 7, {"msg": 8}]}, "a; c"),
        ({"detail": []}, ""),
        ({"errors": [{"message": "a"}]}, "a"),
        ({"error": {"message": ""}}, ""),
        ([], ""),
        (None, ""),
        (7, ""),
    ],
)
def test_reasons_are_found_in_every_family(body: Any, reason: str) -> None:
    """The words for a person are found wherever providers put them."""
    assert reason_of(body) == reason


@pytest.mark.parametrize(
    ("body", "status"),
    [
        ({"error": {"code": 429}}, 429),
        ({"error": {"code": "503"}}, 503),
        ({"error": {"status": 404}}, 404),
        ({"status_code": 502}, 502),
        ({"error": {"code": 200}}, None),
        ({"error": {"code": True}}, None),
        ({"error": {"code": "model_not_found"}}, None),
        (None, None),
    ],
)
def test_inner_statuses_are_of_errors(body: Any, status: int | None) -> None:
    """A stated status is three digits from 400 to 599, and nothing else."""
    assert inner_status(body) == status


def test_an_error_object_is_an_object() -> None:
    """What is no object has none."""
    assert error_object("x") is None
    assert error_object({"a": 1}) == {"a": 1}


@pytest.mark.parametrize("reason", ["network_error", "error", "TIMEOUT", "MALFORMED_FUNCTION_CALL", "aborted"])
def test_failing_reasons(reason: str) -> None:
    """A provider's own reason may say that the generation failed."""
    assert failing(reason)


@pytest.mark.parametrize("reason", ["STOP", "end_turn", "eos", "length", "", None, 7])
def test_reasons_that_do_not_fail(reason: Any) -> None:
    """An end, however it is spelled, is no failure."""
    assert not failing(reason)


def test_a_missing_model_is_told_from_an_outage() -> None:
    """ "Not available" alone may be a matter of time."""
    assert says_no_model(_reply({"error": {"message": "The model `x` does not exist"}}))
    assert not says_no_model(_reply({"error": {"message": "The model is currently not available"}}, 503))
