"""Hands times of operations and transactions to OpenTelemetry, where the settings ask for it.

Only the package of its interface is used: nothing is sent unless the process itself sets up OpenTelemetry's SDK, as
`opentelemetry-instrument` or a program around Recollectum does.
"""

from collections.abc import Generator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING

from recollectum.domain.errors import SettingsError
from recollectum.domain.telemetry.spans import Spans
from recollectum.home.install_command import install_command

if TYPE_CHECKING:
    from opentelemetry.trace import Tracer

    from recollectum.settings.model import TelemetrySettings
    from recollectum.storage.engine import Engine


class OpenTelemetrySpans:
    """One span for each piece of work; see `domain.telemetry.spans.Spans`."""

    def __init__(self, tracer: "Tracer") -> None:
        self._tracer = tracer

    @contextmanager
    def measure(self, name: str, facts: Mapping[str, str]) -> Generator[None]:
        """Measure the work of a block as one span; of an error it tells the class, because the text may name people."""
        started = self._tracer.start_as_current_span(
            name, attributes=facts, record_exception=False, set_status_on_exception=False
        )
        with started as span:
            try:
                yield
            except BaseException as error:
                # Import here: this is the only place that needs it.
                from opentelemetry.trace import StatusCode  # noqa: PLC0415

                span.set_attribute("error.type", type(error).__name__)
                span.set_status(StatusCode.ERROR)
                raise


def open_spans(settings: "TelemetrySettings", engine: "Engine") -> Spans | None:
    """Return what measures operations, and let it measure transactions too; None when the settings turn it off."""
    if settings.spans == "off":
        return None
    try:
        # Import here: an extra, which few programs have.
        from opentelemetry.trace import get_tracer  # noqa: PLC0415
    except ImportError:
        raise SettingsError(
            "telemetry.spans is on, but OpenTelemetry is not installed; "
            f"run: {install_command('opentelemetry-api')}, or turn it off"
        ) from None
    spans = OpenTelemetrySpans(get_tracer("recollectum"))
    if engine.server:
        engine.server.trace(spans)
    return spans
