"""Live runs against a deployed gateway: its upstream is not ours, the cost is capped, the key is nowhere."""

from __future__ import annotations

import asyncio
import dataclasses
import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from conformance.cli import main
from conformance.contract.catalog import select
from conformance.contract.clause import Finding, Outcome, Verdict
from conformance.errors import TargetError, UsageError
from conformance.options import RunOptions
from conformance.report.model import Case, ClientLine, Leg
from conformance.run import live, run
from conformance.run.live import MARK, Budget, call_of, key_of, mark_of, plan_live
from conformance.run.mask import masked
from conformance.run.plan import PlannedCase, plan_cases
from conformance.run.play import Player, nonce_for
from conformance.run.stage import Stage, open_stage
from conformance.target.load import load_profile
from conformance.upstream.plays import NONCE
from tests.run.scenes import HELLO_STREAM, REFERENCE, scenario, url_profile

LIVE = scenario("live", "live = true")
KEY = REFERENCE.api_key
NOBODY = "http://127.0.0.1:9/v1"

#: What the healthy default of the replay upstream tells of itself, for a chat reply.
BASELINE = ["baseline.chat", "baseline.chat-stream", "models.list"]


@pytest.fixture(scope="module")
def stage(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stage]:
    """The deployed gateway: the replay upstream stands behind it and is armed for nothing."""
    cases = plan_cases([scenario()], ["wire"], REFERENCE)
    with open_stage(REFERENCE, cases, tmp_path_factory.mktemp("deployed")) as opened:
        yield opened


@pytest.fixture
def words(stage: Stage, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> list[str]:
    """The command line of the job; the key stands in a variable alone."""
    monkeypatch.setenv("CONFORMANCE_TEST_KEY", KEY)
    monkeypatch.chdir(tmp_path)
    line = ["run", "--target", stage.seat.base_url, "--live", "--model", stage.seat.lanes[0].alias]
    return [*line, "--api-key-env", "CONFORMANCE_TEST_KEY", "--select", ",".join(BASELINE)]


def rows(kind: str) -> list[dict[str, object]]:
    """The lines of one kind in the report that was written here."""
    lines = Path("conformance-report/report.jsonl").read_text(encoding="utf-8").splitlines()
    return [row for row in map(json.loads, lines) if row["kind"] == kind]


def posts(stage: Stage) -> int:
    """How many requests of the API the upstream has seen."""
    assert stage.upstream is not None
    return sum(entry.request.startswith(b"POST") for entry in stage.upstream.client().stray())


def test_verdicts_and_exact_cost(words: list[str], stage: Stage) -> None:
    """Every SDK driver sends what needs no play; requests and tokens are those that were sent and reported."""
    tokens, before = tokens_reported(stage), posts(stage)
    assert main(words) == 0
    (footer,) = rows("footer")
    played = [row for row in rows("case") if not row.get("skipped")]
    chats = [row for row in played if str(row["scenario"]).startswith("baseline.")]
    assert footer["spent"] == {
        "requests": len(played),
        "tokens": tokens * len(chats),
        "replies_without_usage": 0,
    }
    assert (len(chats), len(played)) == (6, 9)
    assert posts(stage) - before == len(chats)


def tokens_reported(stage: Stage) -> int:
    """What one reply of the healthy default reports."""
    import httpx

    answer = httpx.post(
        f"{stage.seat.base_url}/chat/completions",
        headers={"Authorization": f"Bearer {KEY}"},
        json={"model": stage.seat.lanes[0].alias, "messages": [{"role": "user", "content": "Hi"}]},
    )
    return int(answer.json()["usage"]["total_tokens"])


def test_cap_on_requests(words: list[str], stage: Stage) -> None:
    """With a cap of 3 requests, 3 are sent; the rest is skipped with the reason, and the run's end says so."""
    before = posts(stage)
    assert main([*words, "--max-requests", "3"]) == 0
    (footer,) = rows("footer")
    assert (footer["spent"]["requests"], footer["end"]) == (3, "capped")  # type: ignore[index]
    assert posts(stage) - before == 3
    skipped = [row["skipped"] for row in rows("case") if row.get("skipped")]
    assert skipped
    assert set(skipped) == {live.CAPPED}


def test_cap_on_tokens(words: list[str], stage: Stage) -> None:
    """The cap on tokens stops the run before a request that could pass it, not after."""
    before = posts(stage)
    main([*words, "--max-tokens", "1"])
    assert posts(stage) == before
    assert main([*words, "--max-tokens", "150"]) == 0
    (footer,) = rows("footer")
    assert footer["end"] == "capped"
    assert 0 < footer["spent"]["tokens"] <= 150  # type: ignore[index]


def test_the_key_is_nowhere(words: list[str], stage: Stage, capfd: pytest.CaptureFixture[str]) -> None:
    """Neither output nor any form of the report holds the key, whether the gateway conforms or echoes it."""
    assert main(words) == 0
    # A model of that name is not known, and the gateway's error repeats it.
    words[words.index("--model") + 1] = f"model-{KEY}"
    main(words)
    output = "".join(capfd.readouterr())
    assert KEY not in output.replace(f"--model model-{KEY}", "")
    for file in Path("conformance-report").iterdir():
        assert KEY.encode() not in file.read_bytes(), file.name


def test_a_bad_key_is_no_result(words: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """Where every request is refused the refusals are judged, cost no tokens, and prove nothing of the answers."""
    monkeypatch.setenv("CONFORMANCE_TEST_KEY", "sk-test-not-the-key")
    assert main(words) == 3
    (footer,) = rows("footer")
    assert footer["spent"]["tokens"] == 0  # type: ignore[index]
    assert footer["summary"]["checks"] > 0  # type: ignore[index]
    assert "none of the 6 requests that deserve an answer got one (status 401)" in str(footer["errors"])


def test_a_bad_key_is_no_result_though_its_refusals_violate(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """How a gateway words a 401 says nothing of what a deployment has to answer: the key is told first."""
    monkeypatch.setenv("CONFORMANCE_TEST_KEY", "sk-test-not-the-key")
    faulty = load_profile("reference:error-without-wrapper")
    with open_stage(faulty, plan_cases([scenario()], ["wire"], faulty), tmp_path) as deployed:
        report = run(
            RunOptions(
                target=deployed.seat.base_url,
                live=True,
                model=deployed.seat.lanes[0].alias,
                api_key_env="CONFORMANCE_TEST_KEY",
                drivers=("wire",),
                select=("baseline.chat", "baseline.chat-stream"),
            )
        )
    assert report.footer is not None
    assert (report.footer.exit_code, report.footer.summary.gate) == (3, 2)
    assert "none of the 2 requests that deserve an answer got one (status 401)" in report.footer.errors[0]


def test_refusals_that_were_asked_for_are_a_result(words: list[str]) -> None:
    """Scenarios that are about refusals alone can conform."""
    words[-1] = "models.wrong-key,relay-request.wrong-key"
    assert main(words) == 0


def test_no_mark_is_a_nonce() -> None:
    """Whatever number a run gets, a replay upstream behind the target takes its prompts for those of no play."""
    for number in ("fe7dcf", "cfcfcf", "000000"):
        prompt = nonce_for(0, "baseline.chat[wire]").replace("cf-", mark_of(number))
        assert NONCE.search(f"Ticket {prompt}: say hello.".encode()) is None


def test_a_list_of_models_is_no_answer(words: list[str]) -> None:
    """Where all that generates is refused, a list of models makes no result; asked for alone, it is one."""
    words[words.index("--model") + 1] = "no-such-model"
    assert main(words) == 3
    (footer,) = rows("footer")
    assert "none of the 6 requests that deserve an answer got one (status 404)" in str(footer["errors"])
    words[-1] = "models.list"
    assert main(words) == 0


def test_upstream_is_not_asked_for(stage: Stage) -> None:
    """Clauses that need the upstream leg are not applicable, and what needs a play is skipped with the reason."""
    options = RunOptions(
        target=stage.seat.base_url, live=True, model=stage.seat.lanes[0].alias, drivers=("wire",),
        select=("baseline.chat", "pool.member-retired-404"),
    )  # fmt: skip
    report = run(options)
    chat, pool = report.cases
    assert pool.skipped == "it needs an upstream that plays"
    assert chat.attempts is None
    assert {verdict.outcome.value for verdict in chat.verdicts if verdict.clause.startswith("pool.failover")} == {
        "not-applicable"
    }
    assert report.header.mode == "live"


@pytest.mark.parametrize(
    ("options", "error"),
    [
        (RunOptions(target="reference", live=True, model="m"), TargetError),
        (RunOptions(target=NOBODY, live=True), UsageError),
        (
            RunOptions(target=NOBODY, live=True, model="m", api_key_env="CONFORMANCE_NO_KEY"),
            UsageError,
        ),
        (RunOptions(target=NOBODY, live=True, model="m", select=("pool.*",)), UsageError),
    ],
    ids=["no url", "no model", "no key", "nothing live"],
)
def test_what_cannot_be_run_live(options: RunOptions, error: type[Exception]) -> None:
    """A launched target, no model, no key, or a selection with nothing to send is refused before any request."""
    with pytest.raises(error):
        run(options)


def test_unreachable_gateway() -> None:
    """A gateway that is not there is told before anything is spent."""
    options = RunOptions(target=NOBODY, live=True, model="m", drivers=("wire",), select=("baseline.chat",))
    with pytest.raises(TargetError, match="nothing answers"):
        run(options)


def test_budget_counts_what_was_not_reported() -> None:
    """Reserved tokens count against the cap like reported ones."""
    budget = Budget(max_requests=2, max_tokens=100, tokens=30, reserved=40)
    assert budget.allows(30)
    assert not budget.allows(31)
    budget.requests = 2
    assert not budget.allows(0)


def test_each_prompt_is_capped_and_its_own() -> None:
    """A chat request gets a cap on its answer; its prompt carries a mark that no replay upstream takes for a nonce."""
    (case,) = plan_live([LIVE], RunOptions(drivers=("wire",)))
    call, estimate = call_of(case, RunOptions(model="m"), url_profile(), "sk-test-key", f"{MARK}abc123")
    assert call.params["max_tokens"] == live.MAX_TOKENS
    assert json.loads(call.body) == call.params
    assert b"cf-" not in call.body
    assert b"live-abc123" in call.body
    assert estimate > live.MAX_TOKENS


def test_several_answers_are_estimated() -> None:
    """n answers can cost n times the cap."""
    request = 'messages = [{ role = "user", content = "Hi" }], n = 3, max_tokens = 50'
    lines = f'live = true\nrequest = {{ endpoint = "chat.completions", {request} }}'
    many = PlannedCase(scenario=scenario("n", lines), driver="wire")
    _, estimate = call_of(many, RunOptions(model="m"), url_profile(), "sk-test-key", "live-x")
    assert estimate > 150


def test_key_of_the_profile(monkeypatch: pytest.MonkeyPatch) -> None:
    """The key comes from the variable that is named, else from the profile."""
    monkeypatch.setenv("CONFORMANCE_TEST_KEY", "sk-test-1")
    assert key_of(RunOptions(api_key_env="CONFORMANCE_TEST_KEY"), url_profile()) == "sk-test-1"
    assert key_of(RunOptions(), REFERENCE) == REFERENCE.api_key


def test_mask() -> None:
    """The key's bytes are replaced one by one, so that no span moves; a word that is no secret is left alone."""
    leg = Leg(name="request", data=b"Bearer sk-test-key\r\n", arrivals=(), cut=0)
    case = Case(id="a[wire]", scenario="a", evidence=(leg,), error="refused sk-test-key")
    made = masked(case, "sk-test-key")
    assert made.evidence[0].data == b"Bearer ***********\r\n"
    assert made.error == "refused ***********"
    assert masked(case, "key") == case


def test_a_piece_of_the_key_is_masked() -> None:
    """What a cut, a chunk's border or a change of case leaves of a key is masked, too; what is around it stays."""
    key = "sk-live-Abcdefgh0123"
    wire = b"8\r\nsk-live-\r\nc\r\nAbcdefgh0123\r\n"
    finding = Finding(expected="a word", actual="it is 'sk-live-Abcde'...", excerpt=b"SK-LIVE-ABCDEFGH0123!")
    case = Case(
        id="a[wire]",
        scenario="a",
        client=ClientLine(status=200, end="complete", ended_at=1.0, media_type=f"text/{key.lower()}; a"),
        verdicts=(Verdict(clause="a.b", outcome=Outcome.VIOLATED, findings=(finding,)),),
        evidence=(Leg(name="client", data=wire, arrivals=(), cut=0),),
    )
    made = masked(case, key)
    assert made.client is not None
    assert made.client.media_type == "text/" + "*" * 20 + "; a"
    assert made.verdicts[0].findings[0].actual == "it is '" + "*" * 13 + "'..."
    assert made.verdicts[0].findings[0].excerpt == b"*" * 20 + b"!"
    assert made.evidence[0].data == b"8\r\n" + b"*" * 8 + b"\r\nc\r\n" + b"*" * 12 + b"\r\n"


def test_a_real_key_stands_in_no_replayed_case(stage: Stage) -> None:
    """The key of a running target that came from a variable is masked in what replaying shows, too; so is its repr."""
    key = "sk-real-0123456789abcdef"
    seat = stage.seat
    profile = dataclasses.replace(seat.profile, api_key=key, api_key_variable="CONFORMANCE_TEST_KEY")
    assert key not in repr(profile)
    (case,) = plan_cases([scenario("cut", default=f"{HELLO_STREAM} | truncate-after-event:2")], ["wire"], REFERENCE)
    member = f"http://127.0.0.1:{seat.lanes[0].members[0].port}/v1"  # a member answers as it is told to
    player = Player(dataclasses.replace(seat, profile=profile, base_url=member), select(()))

    async def play() -> tuple[Case, ...]:
        try:
            return await player.play(case)
        finally:
            await player.aclose()

    (made,) = asyncio.run(play())
    request = made.leg("request")
    assert request is not None
    assert b"Authorization: Bearer " + b"*" * len(key) in request.data
    assert key not in repr(made)
