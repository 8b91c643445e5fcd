"""rpc.tools.site.check.v1: whether fetch_page may read an address under the given settings, saved or not. The same code
as fetch_page decides from the address alone: no name is resolved, and nothing is fetched."""

from urllib.parse import urlsplit

from contracts.preview_rpc import SiteCheckReply, SiteCheckRequest
from tool_executor.domain.site_address import AddressRefusedError, Origin, parse_origin, site_of
from tool_executor.texts import TEXTS

OFF = TEXTS["site.reading_is_off"]
NO_ADDRESS = TEXTS["site.not_an_address"]


class SiteChecks:
    """`demo`, `loopback`: see site_of."""

    def __init__(self, demo: Origin | None, *, loopback: bool = False) -> None:
        self._demo = demo
        self._loopback = loopback

    async def check(self, request: SiteCheckRequest) -> SiteCheckReply:
        """Returns whether the address is allowed; a refusal contains the reason."""
        tools, address = request.tool_config, request.address.strip()
        if not tools.fetch_page_enabled:
            return SiteCheckReply(allowed=False, reason=OFF.in_language(request.language))
        try:
            site = site_of(tools.allowed_domains, tools.allowed_paths, self._demo, loopback=self._loopback)
            if "://" not in address:
                return SiteCheckReply(allowed=True, url=str(site.page(address)))
            parts = urlsplit(address)
            origin = parse_origin(f"{parts.scheme}://{parts.netloc}")
            path = f"{parts.path or '/'}?{parts.query}" if parts.query else parts.path or "/"
            return SiteCheckReply(allowed=True, url=str(site.at(origin, path)))
        except AddressRefusedError as refused:
            return SiteCheckReply(allowed=False, reason=refused.text.in_language(request.language))
        except ValueError:
            return SiteCheckReply(allowed=False, reason=NO_ADDRESS.in_language(request.language))
