"""Connects to Redis or Valkey: to a single server, to the primary that Sentinels name, or to a cluster.

redis://:PASSWORD@HOST:6379/0|    redis+sentinel://:PASSWORD@ONE:26379,OTHER:26379/NAME/0?sentinel_password=…|
redis+cluster://:PASSWORD@ONE:6379,OTHER:6379

With `rediss` all connections use TLS; `ssl_ca_certs`, `ssl_certfile` and `ssl_keyfile` in the query name files.
"""

from __future__ import annotations

from collections.abc import Awaitable
from typing import Any, cast
from urllib.parse import urlsplit

from redis.asyncio import Redis
from redis.asyncio.cluster import ClusterNode, ClusterPipeline, RedisCluster
from redis.asyncio.connection import parse_url
from redis.asyncio.retry import Retry
from redis.asyncio.sentinel import Sentinel
from redis.backoff import NoBackoff
from redis.exceptions import ClusterDownError, RedisClusterException, SlotNotCoveredError
from redis.exceptions import ConnectionError as RedisConnectionError
from redis.exceptions import TimeoutError as RedisTimeoutError

from runtime.errors import NotReadyError

SENTINEL, CLUSTER = "sentinel", "cluster"


def redis_client(url: str, deadline: float, *, name: str, **options: Any) -> Redis:
    """Returns a client whose commands have `deadline` seconds. Only commands that a closed connection did not accept
    are retried, once and immediately: after a restart or a fail-over every pooled connection is closed."""
    options |= {
        "socket_timeout": deadline,
        "socket_connect_timeout": deadline,
        "retry": Retry(NoBackoff(), 1, supported_errors=(RedisConnectionError,)),
        "client_name": name,
    }
    kind = urlsplit(url).scheme.partition("+")[2]
    if not kind:
        client = Redis.from_url(url, **options)  # pyright: ignore[reportUnknownMemberType]
        try:
            client.connection_pool.make_connection()  # pyright: ignore[reportUnknownMemberType] - it does not connect
        except TypeError as error:
            raise NotReadyError(f"NEXUS_REDIS_URL has an option that there is not: {error}") from error
        return client
    hosts, path, url_options = _parts(url)
    if kind == CLUSTER:
        nodes = [ClusterNode(host, port) for host, port in hosts]
        # It has the commands of a single server, including those for several keys.
        return cast("Redis", _Cluster(startup_nodes=nodes, **url_options, **options))
    primary, _, database = path.partition("/")
    sentinel_options = {
        "socket_timeout": deadline,
        "socket_connect_timeout": deadline,
        "password": url_options.pop("sentinel_password", None),
    }
    sentinel_options |= {key: value for key, value in url_options.items() if key.startswith("ssl")}
    url_options["db"] = int(database or 0)
    return Sentinel(hosts, sentinel_kwargs=sentinel_options).master_for(primary, **url_options, **options)  # pyright: ignore


async def incarnation(client: Redis) -> str:
    """Returns a value that changes when the server, or one of a cluster's primaries, restarts."""
    if not isinstance(client, _Cluster):
        return str((await _info(client.info("server")))["run_id"])  # pyright: ignore[reportUnknownMemberType]
    answer = await _info(client.info("server", target_nodes=_Cluster.PRIMARIES))  # pyright: ignore[reportUnknownMemberType]
    servers = answer.values() if "run_id" not in answer else [answer]
    return " ".join(sorted(str(server["run_id"]) for server in servers))


async def lost_servers(client: Redis) -> list[str]:
    """Returns the addresses of the cluster's servers that the others consider failed."""
    if not isinstance(client, _Cluster):
        return []
    nodes: dict[str, dict[str, Any]] = await cast("Any", client).execute_command("CLUSTER NODES")
    return [address for address, server in nodes.items() if "fail" in str(server["flags"]).split(",")]


async def _info(answer: Any) -> dict[str, Any]:
    return await cast("Awaitable[dict[str, Any]]", answer)


class _Cluster(RedisCluster):
    """A cluster client that raises the same errors as that of a single server, and does not wait twice for a silent
    one."""

    ERRORS_ALLOW_RETRY = (RedisConnectionError, ClusterDownError, SlotNotCoveredError)

    async def initialize(
        self,
        additional_startup_nodes_info: list[tuple[str, int]] | None = None,
        last_failed_node_name: str | None = None,
    ) -> RedisCluster:
        try:
            return await super().initialize(additional_startup_nodes_info, last_failed_node_name)
        except RedisClusterException as error:
            raise RedisConnectionError(str(error)) from error

    def pipeline(self, transaction: Any | None = None, shard_hint: Any | None = None) -> ClusterPipeline:
        del shard_hint
        return _Pipeline(self, transaction)  # pyright: ignore[reportAbstractUsage] - redis-py makes its own as it is

    def mget(self, keys: Any, *args: Any) -> Any:
        return self.mget_nonatomic(keys, *args)

    def bgrewriteaof(self, **kwargs: Any) -> Any:
        return self.execute_command("BGREWRITEAOF", target_nodes=self.PRIMARIES, **kwargs)

    def reload_slots(self) -> None:
        """Makes the next command read the cluster's slot table again first."""
        self._initialize = True


class _Pipeline(ClusterPipeline):
    async def execute(self, raise_on_error: bool = True, allow_redirections: bool = True) -> list[Any]:
        answers = await super().execute(raise_on_error, allow_redirections)
        if any(isinstance(answer, (RedisConnectionError, RedisTimeoutError)) for answer in answers):
            # The client does not notice an error that is not raised: after a fail-over it would go on using the old
            # server.
            cast("_Cluster", self.cluster_client).reload_slots()
        return answers


def _parts(url: str) -> tuple[list[tuple[str, int]], str, dict[str, Any]]:
    """Returns the servers to connect to first, the path, and connection options."""
    parts = urlsplit(url)
    login, separator, hosts = parts.netloc.rpartition("@")
    scheme = parts.scheme.partition("+")[0]
    url_options = dict(parse_url(parts._replace(scheme=scheme, netloc=f"{login}{separator}anyone", path="").geturl()))
    url_options.pop("host")
    if url_options.pop("connection_class", None) is not None:
        url_options["ssl"] = True
    addresses = [host.rpartition(":") for host in hosts.split(",")]
    return [(host.strip("[]"), int(port)) for host, _, port in addresses], parts.path.strip("/"), url_options
