"""With `telemetry.spans` every operation and every transaction is a span; none holds content or a name."""

import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest
from opentelemetry import trace
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.trace import StatusCode

from recollectum import Recollectum
from recollectum.domain.errors import NotFound, SettingsError
from recollectum.upkeep.doctor.examination import telemetry

ON = {"telemetry.spans": "on"}
CANARY = "canary3e"


@pytest.fixture
def exporter(monkeypatch: pytest.MonkeyPatch) -> Iterator[InMemorySpanExporter]:
    """Where the spans of a process go that has set up OpenTelemetry."""
    exporter, provider = InMemorySpanExporter(), TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    # A process can set its provider once only.
    monkeypatch.setattr(trace, "get_tracer", provider.get_tracer)
    yield exporter
    provider.shutdown()


def _named(spans: Sequence[ReadableSpan], operation: str) -> list[ReadableSpan]:
    return [one for one in spans if (one.attributes or {}).get("recollectum.operation") == operation]


def _use(home: Recollectum) -> None:
    vault = home.vault(f"user:{CANARY}")
    saved = vault.memories.save(f"{CANARY} likes tea", key=CANARY).memory
    vault.recall(f"what does {CANARY} like?")
    with pytest.raises(NotFound):
        vault.memories.get(saved.id + CANARY)


def test_each_operation_is_a_span_with_its_action(
    engine_settings: dict[str, object], exporter: InMemorySpanExporter, tmp_path: Path
) -> None:
    with Recollectum(tmp_path / "home", settings={**engine_settings, **ON}) as home:
        _use(home)
        assert "telemetry.spans is on" in telemetry(home.settings).words
    spans = exporter.get_finished_spans()
    (saved,) = _named(spans, "Memories.save")
    assert saved.name == "memory.write"
    assert saved.attributes == {"recollectum.action": "memory.write", "recollectum.operation": "Memories.save"}
    assert saved.status.status_code is StatusCode.UNSET
    assert (saved.end_time or 0) > (saved.start_time or 0)
    assert [one.name for one in spans if one.name == "memory.search"]
    (refused,) = _named(spans, "Memories.get")
    assert refused.status.status_code is StatusCode.ERROR
    assert (refused.attributes or {})["error.type"] == "NotFound"
    within = [one for one in spans if one.name.startswith("transaction ")]
    # Transactions are spans on PostgreSQL, inside those of their operation.
    assert bool(within) == ("storage.url" in engine_settings)
    if within:
        of_save = [one for one in within if one.parent and one.parent == saved.context]
        assert {one.name for one in of_save} >= {"transaction write"}
    assert CANARY not in "".join(one.to_json() for one in spans)


def test_there_are_none_unless_the_settings_ask_for_them(exporter: InMemorySpanExporter, tmp_path: Path) -> None:
    with Recollectum(tmp_path / "home", settings={"encryption": "off"}) as home:
        _use(home)
        assert telemetry(home.settings) == telemetry()
    assert exporter.get_finished_spans() == ()


def test_without_the_package_they_are_refused_in_words(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "opentelemetry.trace", None)
    with pytest.raises(SettingsError, match=r"run: pip install opentelemetry-api, or turn it off"):
        Recollectum(tmp_path / "home", settings=ON)
