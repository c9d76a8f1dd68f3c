"""Public reports of what an answer held, or did not hold, named by their thread.

Facts from the threads, rebuilt as captures; keys and names are ours.
"""

from __future__ import annotations

from tests.contract.captures import ask, wire
from tests.contract.examples_responses_items import BARE, COUNTED, GOOD, call, calling, late, over
from tests.contract.further import EVENTS, events
from tests.contract.responding import event, message, response
from tests.contract.situation import Report, report

SAID = events(*GOOD)
CALLED = events(*calling())
JSON = ask("responses")
RESPONSE = wire(response())
CUT = {"status": "incomplete", "incomplete_details": {"reason": "max_output_tokens"}}

ITEMS: tuple[Report, ...] = (
    report(
        "vllm-project/vllm#47916",
        "responses.item.same",
        request=EVENTS,
        wrong=events(*over("response.output_item.done", item=message("Hello.", id="msg_2"))),
        right=SAID,
    ),
    report(
        "anomalyco/opencode#46084",
        "responses.item.same",
        request=EVENTS,
        wrong=events(*calling(last=call(id="fc_2", call_id="call_2"))),
        right=CALLED,
    ),
    report(
        "anomalyco/opencode#44893",
        "responses.item.whole",
        request=EVENTS,
        wrong=events(*calling(done=call(""), last=call())),
        right=CALLED,
    ),
    report(
        "KochC/opencode-llm-proxy#48",
        "responses.item.whole",
        request=EVENTS,
        wrong=events(*over("response.content_part.done", part={**BARE, "text": "", "annotations": []})),
        right=SAID,
    ),
    report(
        "Wei-Shaw/sub2api#2875 arguments",
        "responses.item.whole",
        request=EVENTS,
        wrong=events(*calling(added=call(status="in_progress"))),
        right=CALLED,
    ),
    report(
        "openai/openai-python#3321 item",
        "responses.item.closed",
        request=EVENTS,
        wrong=events(*over("response.output_item.done", item=message("Hello.", status="in_progress"))),
        right=SAID,
    ),
    report(
        "diegosouzapw/OmniRoute#13693",
        "responses.item.closed",
        request=EVENTS,
        wrong=events(*late("response.output_text.done", "response.content_part.done")),
        right=SAID,
    ),
    *(
        report(
            name,
            "responses.usage.details",
            request=JSON,
            wrong=wire(response(usage=COUNTED)),
            right=RESPONSE,
        )
        for name in (
            "openai/codex#37141",
            "Arize-ai/openinference#2496",
            "jundot/omlx#1008",
            "pydantic/pydantic-ai#2669",
        )
    ),
    *(
        report(
            name,
            "responses.text.annotations",
            request=JSON,
            wrong=wire(response(output=[message(content=[BARE])])),
            right=RESPONSE,
        )
        for name in ("lmstudio-ai/lmstudio-bug-tracker#1089", "Wei-Shaw/sub2api#4107")
    ),
    report(
        "earendil-works/pi#7817",
        "responses.incomplete.reason",
        request=EVENTS,
        wrong=events(
            *GOOD[:-1],
            event(
                "response.incomplete",
                sequence_number=20,
                response=response(status="incomplete", incomplete_details={"reason": "length"}),
            ),
        ),
        right=events(*GOOD[:-1], event("response.incomplete", sequence_number=20, response=response(**CUT))),
    ),
    report(
        "braintrustdata/lingua#400",
        "responses.incomplete.reason",
        request=JSON,
        wrong=wire(response(status="incomplete", incomplete_details=None)),
        right=wire(response(**CUT)),
    ),
    report(
        "0xPlaygrounds/rig#1021",
        "responses.members",
        request=JSON,
        wrong=wire(response(tools=None, tool_choice=None, parallel_tool_calls=None)),
        right=RESPONSE,
        told="Official clients never read what was asked for: a SHOULD.",
    ),
)
HELD = ITEMS
