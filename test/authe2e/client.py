"""The official Python client: it logs in at the endpoint of the first argument with the redirect URI of the second, reads an
order, and prints the result. Where its user has to go it prints behind "VISIT ", and reads the address that the browser was sent back to."""

import asyncio
import sys
from urllib.parse import parse_qs, urlsplit

import httpx2
from mcp.client.auth import OAuthClientProvider, TokenStorage
from mcp.client.auth.oauth2 import AuthorizationCodeResult
from mcp.client.session import ClientSession
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.auth import OAuthClientMetadata


class Memory(TokenStorage):
    tokens = client = None

    async def get_tokens(self):
        return self.tokens

    async def set_tokens(self, tokens):
        self.tokens = tokens

    async def get_client_info(self):
        return self.client

    async def set_client_info(self, client_info):
        self.client = client_info


async def visit(url):
    print("VISIT", url, flush=True)


async def answer():
    line = await asyncio.to_thread(sys.stdin.readline)
    query = {name: values[0] for name, values in parse_qs(urlsplit(line.strip()).query).items()}
    return AuthorizationCodeResult(code=query["code"], state=query.get("state"), iss=query.get("iss"))


async def main(endpoint, redirect):
    storage = Memory()
    metadata = OAuthClientMetadata(
        client_name="authe2e", redirect_uris=[redirect], grant_types=["authorization_code", "refresh_token"], token_endpoint_auth_method="none"
    )
    provider = OAuthClientProvider(endpoint, metadata, storage, visit, answer)
    async with httpx2.AsyncClient(auth=provider, timeout=30) as http, streamable_http_client(endpoint, http_client=http) as streams:
        async with ClientSession(streams[0], streams[1]) as session:
            await session.initialize()
            result = await session.call_tool("getOrder", {"order_no": "SO 1001"})
            print("RESULT", result.model_dump_json(), flush=True)
            print("HAS", "refresh token" if storage.tokens.refresh_token else "none", flush=True)


asyncio.run(main(*sys.argv[1:]))
