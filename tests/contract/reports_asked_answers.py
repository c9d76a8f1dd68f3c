"""Public reports of what an answer held, or did not hold, named by their thread.

Facts from the threads, rebuilt as captures; keys and names are ours.
"""

from __future__ import annotations

from tests.contract.captures import ask, chat, completion, embeddings, stream, usage_chunk, wire, words
from tests.contract.examples_answers import (
    AGAIN,
    FULL,
    LISTS,
    METERED,
    MUTE,
    OPEN,
    SCORED,
    SHORT,
    SO_FAR,
    STREAM,
    THOUGHT_SO_FAR,
    TWICE,
    ZERO,
    calls,
    encoded,
    scores,
    tokens,
)
from tests.contract.examples_responses_items import BARE, COUNTED, GOOD, call, calling, late, over
from tests.contract.further import EVENTS, events
from tests.contract.responding import event, message, response
from tests.contract.situation import Report, report

SAID = events(*GOOD)
CALLED = events(*calling())
JSON = ask("responses")
RESPONSE = wire(response())
ONE = completion()["choices"][0]
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
CHAT: tuple[Report, ...] = (
    *(
        report(
            name,
            "stream.text.incremental",
            request=STREAM,
            wrong=wire(stream(*chunks)),
            right=wire(stream(*words("Hello", " there", ", friend", "."))),
        )
        for name, chunks in (
            ("QwenLM/qwen-code#3896", SO_FAR),
            ("QwenLM/qwen-code#3896 thoughts", THOUGHT_SO_FAR),
            ("tashfeenahmed/freellmapi#1007", TWICE),
            ("openclaw/openclaw#136262", AGAIN),
        )
    ),
    report("QuantumNous/new-api#2469", "chat.output.present", wrong=wire(MUTE), right=wire(chat())),
    report(
        "prantlf/ovai#5 counted",
        "chat.output.present",
        request=METERED,
        wrong=wire(stream(*words("", "", ""), usage_chunk(tokens(14, 60)))),
        right=wire(stream(*words("Hi", "", ""), usage_chunk(tokens(14, 60)))),
    ),
    *(
        report(name, "usage.counted", wrong=wire(ZERO), right=wire(chat()))
        for name in ("BerriAI/litellm#8349", "pattern-zones-co/koine#41")
    ),
    report(
        "MiXaiLL76/auto_ai_router#142",
        "usage.counted",
        request=METERED,
        wrong=wire(stream(*words("Hi"), usage_chunk(tokens(0, 2)))),
        right=wire(stream(*words("Hi"), usage_chunk())),
    ),
    report(
        "simonw/llm#1698",
        "usage.present",
        wrong=wire(chat(usage=None)),
        right=wire(chat()),
        told="The schema does not require the usage of chat completions: a SHOULD.",
    ),
    *(
        report(
            name,
            "bounds.cap.told",
            request=SHORT,
            wrong=wire(chat(**FULL)),
            right=wire(chat(reason="length", **FULL)),
            told="An answer may end right at its bound: a SHOULD.",
        )
        for name in (
            "jundot/omlx#2817",
            "maximhq/bifrost#4679",
            "ollama/ollama#17239",
            "unslothai/unsloth#10177",
            "router-for-me/CLIProxyAPI#5439",
            "mudler/LocalAI#3533",
        )
    ),
    *(
        report(
            name,
            "bounds.cap.open",
            request=SHORT,
            wrong=wire(OPEN),
            right=wire(calls('{"path": "/tmp', "length", 16)),
        )
        for name in ("earendil-works/pi#8501", "MiaAI-Lab/DeepSeek-v4-Flash-DSpark-2x-DGX-Spark#55")
    ),
)
SCORES: tuple[Report, ...] = (
    report(
        "sgl-project/sglang#1176",
        "logprobs.top",
        request=SCORED,
        wrong=wire(chat(choice={"logprobs": scores("Hello.")})),
        right=wire(chat(choice={"logprobs": scores("Hello.", top=2)})),
        told="The API may give fewer alternatives than were asked for: a SHOULD.",
    ),
    *(
        report(
            name,
            "logprobs.text",
            request=SCORED,
            wrong=wire(chat(choice={"logprobs": scores(*found, top=2)})),
            right=wire(chat(choice={"logprobs": scores("Hel", "lo.", top=2)})),
            told="Servers differ in what they strip from the ends of a text: a SHOULD.",
        )
        for name, found in (
            ("oobabooga/textgen#5339", ("Hel",)),
            ("vllm-project/vllm#9463", ("Bye", ".")),
            ("huggingface/text-generation-inference#1682", ()),
        )
    ),
    report(
        "ggml-org/llama.cpp#11346",
        "completion.logprobs.shape",
        request=ask("completions", logprobs=1),
        wrong=wire(completion(choice={"logprobs": scores("Hello.")})),
        right=wire(completion(choice={"logprobs": LISTS})),
    ),
    *(
        report(
            name,
            "completion.index",
            request=ask("completions", prompt=["cf-q8w3zd a", "b"]),
            wrong=wire(completion(choices=[ONE, ONE])),
            right=wire(completion(choices=[ONE, {**ONE, "index": 1}])),
        )
        for name in ("InternLM/lmdeploy#2395", "openai/openai-python#90")
    ),
)
MARKS: tuple[Report, ...] = (
    *(
        report(
            name,
            "chat.text.no-control-tokens",
            wrong=wire(chat(text)),
            right=wire(chat()),
            told="A text may speak of the mark: a SHOULD.",
        )
        for name, text in (
            ("ModelTC/LightLLM#130", "Hello.<|im_end|>"),
            ("moltis-org/moltis#306", "<|start_header_id|>assistant<|end_header_id|>\n\nHello."),
            ("logancyang/obsidian-copilot#2284", "Hello.</s>"),
            ("vllm-project/vllm#32587 channels", "<|channel|>analysis<|message|>Hm.<|end|><|start|>assistant"),
        )
    ),
    *(
        report(
            name,
            "relay.reasoning.kept",
            up=wire(chat(message={"reasoning_content": "Hm, yes."})),
            wrong=wire(chat()),
            right=wire(chat(message={"reasoning_content": "Hm, yes."})),
            told="No norm knows the member that reasoning stands in: a SHOULD.",
        )
        for name in ("BerriAI/litellm#8799", "mozilla-ai/any-llm#224")
    ),
    *(
        report(
            name,
            "embeddings.direction",
            request=ask("embeddings"),
            wrong=wire(embeddings([0.0, 0.0])),
            right=wire(embeddings([0.0, 0.5])),
            told="No norm says what the numbers are: a SHOULD.",
        )
        for name in ("arabold/docs-mcp-server#469", "ollama/ollama#12611")
    ),
    report(
        "langchain4j/langchain4j#5638",
        "embeddings.float32",
        request=ask("embeddings", encoding_format="base64"),
        wrong=wire(embeddings(encoded("<d", 0.6, 0.8))),
        right=wire(embeddings(encoded("<f", 0.6, 0.8))),
        told="The reference does not say how the numbers are encoded: a SHOULD.",
    ),
)
HELD = ITEMS + CHAT + SCORES + MARKS
