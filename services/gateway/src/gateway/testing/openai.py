"""For tests: OpenAI's client at a gateway's door."""

from openai import AsyncOpenAI, DefaultAsyncHttpxClient

from gateway.testing.http import PLAIN


def openai_client(url: str, key: str, timeout: float = 20) -> AsyncOpenAI:
    """The official client of the gateway at `url`; it does not try again by itself."""
    http = DefaultAsyncHttpxClient(verify=PLAIN)
    return AsyncOpenAI(base_url=f"{url}/v1", api_key=key, max_retries=0, timeout=timeout, http_client=http)
