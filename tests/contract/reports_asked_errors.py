"""Public reports of errors under another status than their own, of requests that are visibly broken, of errors beside a
choice, of paths outside the known operations, of preflights and of keys.

Facts from the threads, rebuilt as captures; keys and names are ours.
"""

from __future__ import annotations

from conformance.cassette.model import Envelope
from tests.contract.captures import Ask, Try, ask, chat, chunk, error, opening, stream, wire, words
from tests.contract.examples_error_kind import CUT, NO_MESSAGES, NO_MODEL
from tests.contract.examples_paths import ASKED, PAGE
from tests.contract.situation import Report, report

_OK = wire(chat())
_STREAM = ask(stream=True)
_BAD = wire(error("We could not parse the JSON body of your request."), status=400)
_CRASHED = "'list' object has no attribute 'get'"


def _failed(message: str = "The server had an error.", status: int = 500, **more: str) -> Envelope:
    return wire(error(message, **{"type": "server_error", **more}), status=status)


def _limit(status: int, code: str | None = "rate_limit_exceeded", type: str = "rate_limit_error") -> Envelope:
    return wire(error("Rate limit reached.", type=type, code=code), status=status)


def _key(status: int, **more: str) -> Envelope:
    return wire(error("Incorrect API key provided.", **{"code": "invalid_api_key", **more}), status=status)


_FILTERED = "The response was filtered due to the prompt triggering content management policy."
_ERROR = {"code": 502, "message": "Upstream idle timeout"}

STATUSES: tuple[Report, ...] = (
    report("BerriAI/litellm#23901", "error.rate-limit.status", wrong=_limit(500), right=_limit(429)),
    report(
        "BerriAI/litellm#30417",
        "error.status.agrees",
        wrong=_limit(500, "429"),
        right=_limit(429),
        told="the API states no status in its bodies",
    ),
    report("BerriAI/litellm#37599", "error.rate-limit.status", wrong=_limit(400), right=(_limit(429), _limit(503))),
    report("vllm-project/aibrix#671", "error.invalid-key.status", wrong=_key(500), right=_key(401)),
    report(
        "typesafe-ai/skills#8",
        "error.invalid-key.status",
        wrong=_key(403, type="authentication_error"),
        right=_key(401),
    ),
    report(
        "epam/ai-dial-adapter-vertexai#149",
        "error.type.status",
        wrong=_failed(_FILTERED, code="content_filter"),
        right=wire(error(_FILTERED, code="content_filter"), status=400),
        told="no norm ties a code to a status",
    ),
    report(  # the caller's fault, told as the server's
        "invalid-request-500",
        "error.invalid-request.status",
        wrong=wire(error("Invalid value for 'n'.", param="n"), status=500),
        right=wire(error("Invalid value for 'n'.", param="n"), status=400),
    ),
)

BROKEN: tuple[Report, ...] = (
    report(
        "miruamel/xuan#153", "error.request.status", request=Ask(value=CUT), wrong=_failed("Expecting ','"), right=_BAD
    ),
    report("sgl-project/sglang#3805", "error.request.status", request=Ask(value=b"{"), wrong=_failed(), right=_BAD),
    report(
        "vllm-project/vllm#51654", "error.request.status", request=Ask(value=["x"]), wrong=_failed(_CRASHED), right=_BAD
    ),
    report(
        "BerriAI/litellm#37146-messages",
        "error.request.status",
        request=Ask(value=NO_MESSAGES),
        wrong=_failed(),
        right=_BAD,
    ),
    report(
        "BerriAI/litellm#37146-model",
        "error.request.status",
        request=Ask(value=NO_MODEL),
        wrong=_failed("'model'"),
        right=(_BAD, _OK, _failed(status=503)),
    ),
)

BESIDE: tuple[Report, ...] = (
    report("genkit-ai/genkit#6259", "error.in-success", wrong=wire(chat("Hel", choice={"error": _ERROR})), right=_OK),
    report(
        "genkit-ai/genkit#6259-message",
        "error.in-success",
        wrong=wire(chat("", message={"error": "Provider failed"})),
        right=(_OK, wire(chat(message={"error": None}, choice={"error": None}))),
    ),
    report(
        "gethouston/houston#1211",
        "stream.error.shape",
        request=_STREAM,
        wrong=wire(stream(opening(), chunk("Hel"), chunk(reason="stop", choice={"error": _ERROR}))),
        right=(
            wire(stream(*words("Hello."))),
            wire(stream(opening(), error("Idle.", type="server_error"), done=False)),
        ),
    ),
    report(  # the member's error in a choice becomes a clean end
        "gethouston/houston#1211-relayed",
        "relay.error.told",
        request=_STREAM,
        up=wire(stream(opening(), chunk("Hel"), chunk(reason="stop", delta={"error": _ERROR}))),
        wrong=wire(stream(*words("Hel"))),
        right=wire(stream(opening(), chunk("Hel"), error("Idle.", type="server_error"), done=False)),
    ),
)

_SPEECH = Ask("/v1/audio/transcriptions", {"model": "whisper-1", "prompt": "cf-q8w3zd"})
_NOWHERE = Ask("/v1/nonexistent", {"model": "alias-1"})
_GONE = wire(error("Unknown request URL."), status=404)
_PREFLIGHT = Ask("chat.completions", None, "OPTIONS", ASKED)
_ALLOWED = ("Access-Control-Allow-Origin: *", "Access-Control-Allow-Headers: authorization, content-type")

EDGE: tuple[Report, ...] = (
    report(
        "diegosouzapw/OmniRoute#6405",
        "error.unserved.envelope",
        request=_NOWHERE,
        wrong=wire(PAGE, status=404, media="text/html"),
        right=_GONE,
        told="no norm lists the paths that are not there",
    ),
    report(
        "danny-avila/LibreChat#11975",
        "error.unserved.envelope",
        request=_NOWHERE,
        wrong=wire(PAGE, media="text/html"),
        right=_GONE,
        told="no norm lists the paths that are not there",
    ),
    report(
        "audio-413-page",
        "error.body.json",
        request=_SPEECH,
        wrong=wire(PAGE, status=413, media="text/html"),
        right=wire(error("Too large."), status=413),
    ),
    report(
        "songquanpeng/one-api#735",
        "json.body.valid",
        request=_SPEECH,
        wrong=wire(b'"Hello."'),
        right=(wire({"text": "Hello."}), wire(b"Hello.", media="text/plain")),
    ),
    report(
        "mudler/LocalAI#710",
        "http.preflight.allowed",
        request=_PREFLIGHT,
        wrong=wire(status=405, media=""),
        right=wire(status=204, media="", headers=_ALLOWED, framing="none"),
        told="a gateway may want no browser for its client",
    ),
    report(
        "ollama/ollama#4001",
        "http.preflight.allowed",
        request=_PREFLIGHT,
        wrong=wire(status=204, media="", headers=(_ALLOWED[0], "Access-Control-Allow-Headers: *"), framing="none"),
        right=wire(status=204, media="", headers=_ALLOWED, framing="none"),
        told="a gateway may want no browser for its client",
    ),
)

_HASH = "d748053a55933f7b" * 4
_WRONG = error("Invalid value for 'temperature'.", param="temperature")

KEYS: tuple[Report, ...] = (
    report(
        "BerriAI/litellm#39787",
        "error.message.no-key-hash",
        wrong=wire(
            error(f"Invalid proxy server token passed. Key Hash (Token) ={_HASH}.", type="auth_error"), status=401
        ),
        right=_key(401),
        told="no norm speaks of a key's hash",
    ),
    report(
        "BerriAI/litellm#32202",
        "relay.request.client-key",
        wrong=_OK,
        up=Try(_OK, request=ask(model="up-model").headed(("x-api-key", "sk-test-client"))),
        told="a gateway may pass keys through on purpose",
    ),
    report(
        "param-lost",
        "relay.error.param-kept",
        request=ask(temperature=5),
        up=wire(_WRONG, status=400),
        wrong=wire(error("Invalid value for 'temperature'."), status=400),
        right=wire(_WRONG, status=400),
        told="how an error is relayed is no norm's",
    ),
)

ASKED_ERRORS = (*STATUSES, *BROKEN, *BESIDE, *EDGE, *KEYS)
