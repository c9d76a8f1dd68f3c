"""How each known gateway wants its lanes written: a configuration file, or a header on each request. Pure.

One small function for each kind; a profile names its renderer by `config`. Knows nothing of processes or files.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from conformance.target.lanes import Lane, Member
from conformance.target.profile import Profile
from conformance.target.template import fill

#: Statuses that are about the member and not about the request, for gateways that want them listed.
MEMBER_STATUSES = (401, 402, 403, 404, 408, 429, 500, 502, 503, 504, 529)


#: The times and counts of a profile that belong to its capabilities.
_TIMES = (
    "first_token_timeout_ms",
    "idle_timeout_ms",
    "cooldown_ms",
    "cooldown_after",
    "quarantine_ms",
    "retry_after_max_ms",
    "cancel_ms",
    "max_attempts",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Renderer:
    """A configuration file's name, and the function that makes its text from the profile, the lanes and the port."""

    file: str
    text: Callable[[Profile, Sequence[Lane], int], str]


def lane_headers(profile: Profile, lane: Lane) -> tuple[tuple[str, str], ...]:
    """The header lines that each client request of `lane` carries, as the profile's `lane_headers` say."""
    values = {"alias": lane.alias, "portkey": _dump(portkey_config(profile, lane))}
    return tuple((name, fill(template, values)) for name, template in profile.lane_headers)


def member_url(profile: Profile, member: Member) -> str:
    """The API root that the gateway is told for `member`."""
    return member.base_url + profile.upstream_prefix


def lanes_json(profile: Profile, lanes: Sequence[Lane], port: int) -> str:
    """Keys, lanes and members as plain JSON, and what the profile declares: all that a gateway of one's own is told."""
    declared = {name: getattr(profile, name) for name in _TIMES if getattr(profile, name) is not None}
    config = {"api_key": profile.api_key, "port": port, "lanes": _lanes(profile, lanes)}
    return _dump(config | {"declares": {"capabilities": sorted(profile.capabilities)} | declared})


def reference_json(profile: Profile, lanes: Sequence[Lane], port: int) -> str:
    """The reference gateway's configuration; `timeouts` in seconds, as the profile declares them."""
    limits = {"first_token": profile.first_token_timeout_ms, "idle": profile.idle_timeout_ms}
    timeouts = {name: limit / 1000 for name, limit in limits.items() if limit is not None}
    config = {"api_key": profile.api_key, "lanes": _lanes(profile, lanes), "timeouts": timeouts}
    return _dump(config | _reference_memory(profile))


def _reference_memory(profile: Profile) -> dict[str, Any]:
    """What the reference gateway is to remember, for as long as the profile declares; what it declares not is off."""
    longest = profile.retry_after_max_ms
    sections: dict[str, Any] = {
        "cooldown": {"window": _seconds(profile.cooldown_ms), "after": profile.cooldown_after},
        "quarantine": {"window": _seconds(profile.quarantine_ms)},
        "honours-retry-after": {} if longest is None else {"longest": _seconds(longest)},
        "retries": {},
        "cache": {},
        "reports-serving-model": True,
    }
    names = {"honours-retry-after": "retry_after", "reports-serving-model": "name_deployment"}
    return {names.get(key, key): value for key, value in sections.items() if key in profile.capabilities}


def _seconds(limit: float | None) -> float:
    return (limit or 0.0) / 1000


def litellm_json(profile: Profile, lanes: Sequence[Lane], port: int) -> str:
    """The LiteLLM proxy's configuration (YAML, of which JSON is a part): one model group for each lane.

    No fallbacks, cooldowns or retries are set: the proxy is judged as it comes. Only the declared first-token limit is.
    """
    models = [
        {
            "model_name": lane.alias,
            "litellm_params": {
                "model": f"openai/{member.model}",
                "api_base": member_url(profile, member),
                "api_key": member.api_key,
            },
            "model_info": {"id": member.model},
        }
        for lane in lanes
        for member in lane.members
    ]
    router: dict[str, Any] = {}
    if profile.first_token_timeout_ms is not None:
        # One limit for a stream's first token, one for a whole answer: a member that never answers is given up by both.
        router["stream_timeout"] = router["timeout"] = profile.first_token_timeout_ms / 1000
    settings: dict[str, Any] = {"model_list": models, "general_settings": {"master_key": profile.api_key}}
    return _dump(settings | ({"router_settings": router} if router else {}))


def nginx_conf(profile: Profile, lanes: Sequence[Lane], port: int) -> str:
    """A transparent nginx: a header picks the lane's pool, nothing is rewritten, a failing member is passed over."""
    read = (profile.idle_timeout_ms or 60_000) / 1000
    pools = "\n".join(_nginx_pool(lane) for lane in lanes)
    names = "\n".join(f"    {lane.alias} {lane.alias};" for lane in lanes)
    return _NGINX.format(port=port, read=f"{read:g}", pools=pools, names=names, first=lanes[0].alias)


def portkey_config(profile: Profile, lane: Lane) -> dict[str, Any]:
    """What Portkey takes on each request: the lane's members in order, the next one on a status of the member's own."""
    targets = [
        {
            "provider": "openai",
            "api_key": member.api_key,
            "custom_host": member_url(profile, member),
            "override_params": {"model": member.model},
        }
        for member in lane.members
    ]
    return {"strategy": {"mode": "fallback", "on_status_codes": list(MEMBER_STATUSES)}, "targets": targets}


def smg_manifest(profile: Profile, lanes: Sequence[Lane], port: int) -> str:
    """The smg router's list of workers, each told the model it serves: a lane alias. It adds /v1 to the URL."""
    workers = [
        {"id": member.model, "url": member.base_url, "model_id": lane.alias}
        for lane in lanes
        for member in lane.members
    ]
    return _dump({"version": 1, "workers": workers})


RENDERERS: dict[str, Renderer] = {
    "lanes": Renderer(file="lanes.json", text=lanes_json),
    "reference": Renderer(file="reference.json", text=reference_json),
    "litellm": Renderer(file="config.yaml", text=litellm_json),
    "nginx": Renderer(file="nginx.conf", text=nginx_conf),
    "smg": Renderer(file="workers.json", text=smg_manifest),
}


def _lanes(profile: Profile, lanes: Sequence[Lane]) -> list[dict[str, Any]]:
    return [{"alias": lane.alias, "members": [_member(profile, member) for member in lane.members]} for lane in lanes]


def _member(profile: Profile, member: Member) -> dict[str, Any]:
    return {
        "name": member.name,
        "base_url": member_url(profile, member),
        "api_key": member.api_key,
        "model": member.model,
    }


def _nginx_pool(lane: Lane) -> str:
    servers = "".join(f"    server 127.0.0.1:{member.port} max_fails=0;\n" for member in lane.members)
    return f"  upstream {lane.alias} {{\n{servers}    keepalive 16;\n  }}"


def _dump(value: Any) -> str:
    return json.dumps(value, separators=(",", ":"))


_NGINX = """\
daemon off;
master_process off;
pid nginx.pid;
error_log stderr warn;
events {{ worker_connections 8192; }}
http {{
  access_log off;
  client_body_temp_path body;
  proxy_temp_path proxy;
  fastcgi_temp_path fastcgi;
  uwsgi_temp_path uwsgi;
  scgi_temp_path scgi;
  client_body_buffer_size 1m;
  client_max_body_size 64m;
  map_hash_max_size 16384;
  map_hash_bucket_size 128;
  map $http_x_conformance_lane $lane {{
    default {first};
{names}
  }}
{pools}
  server {{
    listen 127.0.0.1:{port};
    location = /health {{ return 200; }}
    location / {{
      proxy_pass http://$lane;
      proxy_http_version 1.1;
      proxy_set_header Connection "";
      proxy_set_header X-Conformance-Lane "";
      proxy_buffering off;
      proxy_connect_timeout 2s;
      proxy_read_timeout {read}s;
      proxy_next_upstream error timeout http_403 http_404 http_429 http_500 http_502 http_503 http_504 non_idempotent;
      proxy_next_upstream_tries 0;
    }}
  }}
}}
"""
