"""The right steps of the gateway, by name: what a defect may leave out. A closed set.

Knows no code: each step is asked for, with `Call.does`, where it is taken.
"""

from __future__ import annotations

from enum import StrEnum


class Step(StrEnum):
    """The right steps that a defect may leave out."""

    # the client's request
    AUTHENTICATE = "authenticate"
    KEY_FIRST = "key-first"
    PREFLIGHT = "preflight"
    KNOW_MODEL = "know-model"
    VALIDATE = "validate"
    BODY_LIMIT = "body-limit"
    REPLACE_MODEL = "replace-model"
    # the pool
    ROTATE = "rotate"
    BOUND_ATTEMPTS = "bound-attempts"
    FIRST_TOKEN_TIMEOUT = "first-token-timeout"
    IDLE_TIMEOUT = "idle-timeout"
    CLOSE_ON_HANGUP = "close-on-hangup"
    LET_GO = "let-go"
    PEEK = "peek"
    IGNORE_COMMENTS = "ignore-comments"
    # reading a member's answer
    REFUSE_ERROR_IN_SUCCESS = "refuse-error-in-success"
    REFUSE_ERROR_IN_CHOICE = "refuse-error-in-choice"
    REFUSE_EMPTY_CHOICES = "refuse-empty-choices"
    REFUSE_BAD_REASON = "refuse-bad-reason"
    REFUSE_UNFINISHED = "refuse-unfinished"
    REFUSE_BROKEN_EVENT = "refuse-broken-event"
    REFUSE_WRONG_MEDIA = "refuse-wrong-media"
    REFUSE_CUT_BODY = "refuse-cut-body"
    GO_ON_AFTER_WARNING = "go-on-after-warning"
    GO_ON_AFTER_USAGE = "go-on-after-usage"
    REFUSE_EMPTY_EMBEDDINGS = "refuse-empty-embeddings"
    COUNT_CHOICES = "count-choices"
    DECODE_CONTENT = "decode-content"
    CONVERT_MEDIA = "convert-media"
    BOUND_EVENT = "bound-event"
    WHOLE_CHARACTERS = "whole-characters"
    # the shape of an answer
    OWN_ID = "own-id"
    OBJECT = "object"
    CREATED = "created"
    MODEL = "model"
    KNOWN_MEMBERS = "known-members"
    ROLE = "role"
    CONTENT_STRING = "content-string"
    REASON_TABLE = "reason-table"
    REASON_TOOL_CALLS = "reason-tool-calls"
    HIDE_NATIVE_REASON = "hide-native-reason"
    TOOL_CALLS = "tool-calls"
    USAGE = "usage"
    LOGPROBS = "logprobs"
    CHOICE_INDEX = "choice-index"
    # a stream
    ROLE_ONCE = "role-once"
    REASON_ONCE = "reason-once"
    USAGE_STRIPPED = "usage-stripped"
    USAGE_CHUNK = "usage-chunk"
    ERROR_EVENT = "error-event"
    DONE = "done"
    # embeddings
    ENCODING = "encoding"
    DATA_ORDER = "data-order"
    # errors
    CLEAN_ERRORS = "clean-errors"
