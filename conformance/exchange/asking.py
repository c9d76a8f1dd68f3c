"""What a request for a generation asks for, in one form for each API that a gateway may speak to a member.

From the JSON body of a request, and where it goes, to an Asking: what the model is told, its tools, its bounds. Knows
the chat and Responses APIs, Anthropic's messages, Gemini's contents, Bedrock's Converse and Ollama's chat; whatever
else is None. No opinion on what has to arrive stands here.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from conformance.exchange.members import list_in, object_in, text_in, texts
from conformance.exchange.model import Endpoint, Request
from conformance.exchange.turns import Given, Turn, given, spoken, turns


class Dialect(StrEnum):
    """The APIs whose requests are read."""

    CHAT = "chat"
    COMPLETIONS = "completions"
    RESPONSES = "responses"
    ANTHROPIC = "anthropic"
    GEMINI = "gemini"
    CONVERSE = "converse"
    OLLAMA = "ollama"


@dataclass(frozen=True, slots=True, kw_only=True)
class Asking:
    """One request: `turns` is who said what, `given` what tools gave for which calls.

    `texts` is all that the model is told besides `results` (what tools gave), `calls` (what they were given) and
    `tools` (the names of those that it may call now; `described` has name, description and arguments of each that the
    client tells). `media` counts images, sounds and files that are no text; `leaves` is every text of the body."""

    dialect: Dialect
    turns: tuple[Turn, ...]
    given: tuple[Given, ...]
    texts: tuple[str, ...]
    results: tuple[str, ...]
    calls: tuple[str, ...]
    leaves: tuple[str, ...]
    media: int
    tools: tuple[str, ...]
    described: tuple[tuple[str, str, tuple[str, ...]], ...]
    choice: str | None
    stop: tuple[str, ...]
    cap: Any
    temperature: Any
    top_p: Any
    schema: Any
    thinks: bool
    effort: Any
    verbosity: Any
    top_logprobs: Any
    parallel: bool | None
    as_json: bool


def _dialect(request: Request, body: dict[str, Any]) -> Dialect | None:
    path = request.target.split("?", 1)[0]
    if request.endpoint in (Endpoint.CHAT, Endpoint.COMPLETIONS, Endpoint.RESPONSES):
        return Dialect(request.endpoint.value.split(".")[0])
    if request.endpoint is not Endpoint.OTHER:
        return None
    if isinstance(body.get("contents"), list):
        return Dialect.GEMINI
    if not isinstance(body.get("messages"), list):
        return None
    if path.endswith("/messages") or "anthropic_version" in body:
        return Dialect.ANTHROPIC
    if path.endswith(("/converse", "/converse-stream")):
        return Dialect.CONVERSE
    return Dialect.OLLAMA if path.endswith("/api/chat") else None


def asking(request: Request) -> Asking | None:
    """What `request` asks for; None where its body is of none of the APIs."""
    body = request.doc.value if request.doc is not None and request.doc.ok else None
    if not isinstance(body, dict):
        return None
    dialect = _dialect(request, body)
    if dialect is None:
        return None
    said, results, calls = _told(dialect, body)
    bounds = next((found for name in _BOUNDS.get(dialect, ()) if (found := object_in(body, name))), body)
    stops = next((bounds[name] for name in ("stop", "stop_sequences", "stopSequences") if bounds.get(name)), None)
    return Asking(
        dialect=dialect,
        turns=tuple(turns(body)),
        given=tuple(given(body)),
        texts=said,
        results=results,
        calls=calls,
        leaves=tuple(_leaves(body)),
        media=sum(1 for name in _SAID for _ in _media(body.get(name))),
        tools=tuple(_allowed(body) or _tools(body)),
        described=tuple(_described(body)),
        choice=_choice(dialect, body),
        stop=tuple(item for item in texts(stops) if isinstance(item, str)),
        cap=_first(bounds, _CAPS),
        temperature=bounds.get("temperature"),
        top_p=_first(bounds, ("top_p", "topP")),
        schema=_schema(dialect, body),
        effort=_first(body, ("reasoning_effort",)) or object_in(body, "reasoning").get("effort"),
        verbosity=_first(body, ("verbosity",)) or object_in(body, "text").get("verbosity"),
        top_logprobs=body.get("top_logprobs"),
        parallel=_parallel(body),
        as_json=_as_json(body),
        thinks=bool(body.get("thinking") or object_in(body, "additionalModelRequestFields").get("thinking")),
    )


#: Where an API keeps the bounds of an answer, if not in the body itself.
_BOUNDS = {
    Dialect.GEMINI: ("generationConfig", "generation_config"),
    Dialect.CONVERSE: ("inferenceConfig",),
    Dialect.OLLAMA: ("options",),
}
#: What the APIs call the bound of what is generated; the chat API's newer name counts where both stand.
_CAPS = ("max_completion_tokens", "max_tokens", "max_output_tokens", "maxOutputTokens", "maxTokens", "num_predict")


def _first(value: dict[str, Any], names: tuple[str, ...]) -> Any:
    return next((value[name] for name in names if value.get(name) is not None), None)


def _leaves(value: Any) -> Iterator[str]:
    """Every text in a JSON value, the names of members too."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for name, item in value.items():
            yield name
            yield from _leaves(item)
    elif isinstance(value, list):
        for item in value:
            yield from _leaves(item)


def _told(dialect: Dialect, body: dict[str, Any]) -> tuple[tuple[str, ...], tuple[str, ...], tuple[str, ...]]:
    """What the model is told by a request of the OpenAI API, what its tools gave, and what they were given; nothing of
    the other APIs."""
    said: list[str] = []
    results: list[str] = []
    calls: list[str] = []
    if dialect is Dialect.COMPLETIONS:
        said += (text for text in texts(body.get("prompt")) if isinstance(text, str))
    if dialect is Dialect.RESPONSES:
        said += spoken(body.get("instructions"))
        said += spoken(body["input"]) if isinstance(body.get("input"), str) else ()
    for item in list_in(body, "messages" if dialect is Dialect.CHAT else "input"):
        if not isinstance(item, dict):
            continue
        if item.get("role") == "tool":
            results.append("".join(spoken(item.get("content"))))
        elif item.get("type") in ("function_call_output", "custom_tool_call_output"):
            results.append("".join(spoken(item.get("output"))))
        elif item.get("type") in ("function_call", "custom_tool_call"):
            calls.append(_arguments(item) or text_in(item, "input"))
        elif item.get("type", "message") == "message":
            said += spoken(item.get("content"))
            calls += [_arguments(object_in(call, "function")) for call in list_in(item, "tool_calls")]
    return tuple(said), tuple(results), tuple(calls)


def _arguments(call: dict[str, Any]) -> str:
    """The arguments of a call where they are an object: anything else has no place in the APIs that want one."""
    told = text_in(call, "arguments")
    return told if told.lstrip().startswith("{") else ""


def _allowed(body: dict[str, Any]) -> list[str]:
    """The names of the tools that a choice leaves over; [] where it leaves all of them."""
    told = object_in(body, "tool_choice")
    if told.get("type") != "allowed_tools":
        return []
    return list(_tools({"tools": list_in(object_in(told, "allowed_tools") or told, "tools")}))


def _tools(body: dict[str, Any]) -> Iterator[str]:
    """The names of the functions that the model may call."""
    listed = [*list_in(body, "tools"), *list_in(object_in(body, "toolConfig"), "tools")]
    for item in list_in(body, "input"):
        if isinstance(item, dict) and item.get("type") == "additional_tools":
            listed += list_in(item, "tools")
    for tool in listed:
        if not isinstance(tool, dict):
            continue
        inner = object_in(tool, "function") or object_in(tool, "toolSpec") or tool
        declared = list_in(tool, "functionDeclarations") or list_in(tool, "function_declarations") or [inner]
        if tool.get("type", "function") in ("function", "custom") or declared != [inner]:
            yield from (one["name"] for one in declared if isinstance(one, dict) and isinstance(one.get("name"), str))


def _described(body: dict[str, Any]) -> Iterator[tuple[str, str, tuple[str, ...]]]:
    """Name, description and names of arguments of each function of an OpenAI request."""
    for tool in list_in(body, "tools"):
        inner = object_in(tool, "function") or (tool if isinstance(tool, dict) else {})
        if isinstance(tool, dict) and tool.get("type") == "function" and text_in(inner, "name"):
            properties = object_in(object_in(inner, "parameters"), "properties")
            yield text_in(inner, "name"), text_in(inner, "description"), tuple(properties)


#: Where a request holds what the model is told.
_SAID = ("messages", "input", "contents", "system", "systemInstruction", "system_instruction")
_MEDIA = frozenset(
    {"image_url", "input_image", "image", "input_audio", "audio_url", "video_url", "file", "input_file", "document"}
)
_BLOBS = ("inlineData", "inline_data", "fileData", "file_data", "image", "document", "video")


def _media(value: Any) -> Iterator[Any]:
    """Every part of what the model is told that is no text: images, sounds, files."""
    if isinstance(value, dict):
        kind = value.get("type")
        known = isinstance(kind, str) and kind in _MEDIA
        if known or (kind is None and any(isinstance(value.get(name), dict) for name in _BLOBS)):
            # A file of text may go on as the text that it is.
            if not text_in(object_in(value, "file") or value, "file_data").startswith("data:text/"):
                yield value
            return
        for name, item in value.items():
            if name == "images" and isinstance(item, list):
                yield from item
            elif name not in ("tool_calls", "tools"):
                yield from _media(item)
    elif isinstance(value, list):
        for item in value:
            yield from _media(item)


def _choice(dialect: Dialect, body: dict[str, Any]) -> str | None:
    """auto, none, required, or the one tool that is to be called, as `=name`."""
    told = body.get("tool_choice")
    if dialect is Dialect.GEMINI:
        config = object_in(body, "toolConfig") or object_in(body, "tool_config")
        config = object_in(config, "functionCallingConfig") or object_in(config, "function_calling_config")
        allowed = list_in(config, "allowedFunctionNames") or list_in(config, "allowed_function_names")
        if len(allowed) == 1:
            return f"={allowed[0]}"
        return {"ANY": "required", "AUTO": "auto", "NONE": "none"}.get(text_in(config, "mode").upper())
    if dialect is Dialect.CONVERSE:
        told = object_in(object_in(body, "toolConfig"), "toolChoice")
        kind = next(iter(told), None)
        return {"any": "required", "auto": "auto", "tool": f"={object_in(told, 'tool').get('name')}"}.get(str(kind))
    if isinstance(told, str):
        return told
    if not isinstance(told, dict):
        return None
    named = object_in(told, "function").get("name") or told.get("name")
    if named and told.get("type") in ("function", "tool"):
        return f"={named}"
    if told.get("type") == "allowed_tools":
        return text_in(object_in(told, "allowed_tools") or told, "mode") or None
    return {"any": "required", "auto": "auto", "none": "none"}.get(str(told.get("type")))


def _parallel(body: dict[str, Any]) -> bool | None:
    """Whether several tools may be called at once, where a request says so."""
    disabled = object_in(body, "tool_choice").get("disable_parallel_tool_use")
    told = body.get("parallel_tool_calls") if disabled is None else disabled is False
    return told if isinstance(told, bool) else None


def _as_json(body: dict[str, Any]) -> bool:
    """Whether an answer in JSON is asked for, of any schema."""
    told = object_in(body, "response_format") or object_in(object_in(body, "text"), "format")
    config = object_in(body, "generationConfig") or object_in(body, "generation_config")
    mime = _first(config, ("responseMimeType", "response_mime_type"))
    return told.get("type") == "json_object" or mime == "application/json" or bool(body.get("format"))


def _schema(dialect: Dialect, body: dict[str, Any]) -> Any:
    """The schema that the answer has to have, of a request of the OpenAI API."""
    if dialect is Dialect.CHAT:
        return object_in(object_in(body, "response_format"), "json_schema").get("schema")
    return object_in(object_in(body, "text"), "format").get("schema") if dialect is Dialect.RESPONSES else None
