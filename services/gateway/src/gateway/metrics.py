"""The gateway's metrics."""

from prometheus_client import Counter, Gauge, Histogram

SOCKETS = Gauge("nexus_gateway_sockets", "Open websockets")
FRAMES = Counter("nexus_gateway_frames_total", "Frames received", ("type",))
CLOSED = Counter("nexus_gateway_closed_total", "Sockets that the gateway closed", ("code",))
REFUSED = Counter("nexus_gateway_refused_total", "Frames answered with an error", ("code",))
ACKNOWLEDGED_SECONDS = Histogram(
    "nexus_gateway_acknowledged_seconds",
    "From a message's frame to its acknowledgement",
    buckets=(0.0005, 0.001, 0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1.0, 5.0, 15.0),
)
VISITORS = Counter(
    "nexus_gateway_visitors_total", "Visitors' tokens given, by whether an address is known", ("address",)
)
ADDRESSES = Gauge("nexus_gateway_visitor_addresses", "Different addresses that visitors' tokens went to, at most 64")
RESYNCED = Counter("nexus_gateway_resynced_total", "Sockets whose gap was looked for during the chat", ("outcome",))
