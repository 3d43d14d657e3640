"""What the bot counts, for Prometheus. One object, made by bootstrap; nothing is registered at import."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Mapping

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest
from prometheus_client.core import GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"

POST_BUCKETS = (0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 20.0, 30.0)
SEARCH_BUCKETS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5)

log = logging.getLogger(__name__)


class _Stock(Collector):
    """A gauge with one label that asks for its figures when it is scraped."""

    def __init__(self, *, name: str, text: str, count: Callable[[], Mapping[str, float]], label: str = "state") -> None:
        self._name, self._text, self._count, self._label = name, text, count, label

    def collect(self) -> Iterator[Metric]:
        family = GaugeMetricFamily(self._name, self._text, labels=[self._label])
        try:
            figures = self._count()
        except Exception:  # A scrape must answer while the database is away; the gap in the series shows it.
            log.warning("metric_unavailable", extra={"metric": self._name}, exc_info=True)
            return
        for state, number in sorted(figures.items()):
            family.add_metric([state], number)
        yield family


class Metrics:
    """The bot's own registry. Every time is in seconds."""

    def __init__(self) -> None:
        self.registry = CollectorRegistry(auto_describe=False)
        self.documents = Counter(
            "digest_documents", "Digest files met, by what became of them.", ["state"], registry=self.registry
        )
        self.entries = Counter(
            "digest_entries",
            "Entries stored, by kind: new, revised, known.",
            ["kind"],
            registry=self.registry,
        )
        self.outcomes = Counter(
            "digest_deliveries_finished",
            "Attempts to deliver a message, by the state they led to.",
            ["state"],
            registry=self.registry,
        )
        self.post_seconds = Histogram(
            "digest_post_seconds",
            "How long Slack took to answer a post.",
            buckets=POST_BUCKETS,
            registry=self.registry,
        )
        self.search_seconds = Histogram(
            "digest_search_seconds",
            "How long one search took, from text to hits.",
            buckets=SEARCH_BUCKETS,
            registry=self.registry,
        )
        self.last_tick = Gauge(
            "digest_last_tick_timestamp_seconds",
            "When a tick last ended well, by its name.",
            ["tick"],
            registry=self.registry,
        )
        self.hung_ticks = Counter(
            "digest_ticks_hung",
            "Ticks that outlasted their time budget, by name.",
            ["tick"],
            registry=self.registry,
        )
        self.throttled = Counter(
            "digest_throttled", "Times Slack answered 429, by method.", ["method"], registry=self.registry
        )
        self.socket_connected = Gauge(
            "digest_socket_connected", "1 while Socket Mode is connected.", registry=self.registry
        )
        self.requests_refused = Counter(
            "digest_requests_refused",
            "Requests over HTTP that were refused for their signature.",
            registry=self.registry,
        )
        self.listener_errors = Counter(
            "digest_listener_errors", "Requests of people that ended in an error.", registry=self.registry
        )

    def watch_documents(self, count: Callable[[], Mapping[str, float]]) -> None:
        """Show the stock of documents by state, counted when scraped."""
        self.registry.register(_Stock(name="digest_documents_stored", text="Documents by state.", count=count))

    def watch_entries(self, count: Callable[[], Mapping[str, float]]) -> None:
        """Show the stock of entries, counted when scraped; the mapping may have one key such as `all`."""
        self.registry.register(_Stock(name="digest_entries_stored", text="Entries by state.", count=count))

    def watch_deliveries(self, count: Callable[[], Mapping[str, float]]) -> None:
        """Show the stock of deliveries by state, counted when scraped."""
        self.registry.register(_Stock(name="digest_deliveries", text="Deliveries by state.", count=count))

    def watch_slot_lag(self, count: Callable[[], Mapping[str, float]]) -> None:
        """Show how far each channel is behind its newest slot, in seconds, counted when scraped."""
        text = "From the due time of the newest slot to its last message, or to now while some wait, by channel."
        self.registry.register(_Stock(name="digest_slot_lag_seconds", text=text, count=count, label="channel"))

    def exposition(self) -> bytes:
        """The text that Prometheus reads. Calls the watched counters, so keep it off an event loop."""
        return generate_latest(self.registry)
