"""Connects to MCP endpoints as the client of a model vendor does, converts every tool for its model, and calls some.

usage: clients.py VENDOR CALLS URL…

It prints a line of JSON for each endpoint: {"tools": n, "converted": n, "lost": [[tool, reason]…], "calls": n, "failed": [[tool, reason]…]}.
"""

import asyncio
import copy
import json
import logging
import sys
import warnings

from mcp import ClientSession
from mcp.client.streamable_http import streamablehttp_client

logging.disable(logging.CRITICAL)


def reason(error):
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return f"{type(error).__name__}: {' '.join(str(error).split())[:200]}"


def arguments(tool):
    """Arguments of a call: a value of the right type for each that is required."""
    schema = tool.inputSchema
    definitions = schema.get("$defs", {})

    def value(s, depth=0):
        if "$ref" in s:
            return value(definitions[s["$ref"].removeprefix("#/$defs/")], depth + 1)
        if s.get("examples"):
            return s["examples"][0]
        for word in ("default", "const"):
            if word in s:
                return s[word]
        if s.get("enum"):
            return s["enum"][0]
        if s.get("anyOf"):
            return value(s["anyOf"][0], depth + 1)
        kind = s.get("type", "string")
        kind = kind[0] if isinstance(kind, list) else kind
        if kind == "object":
            return {name: value(s["properties"][name], depth + 1) for name in s.get("required", []) if depth < 20}
        if kind == "array":
            return [value(s["items"], depth + 1)] * s.get("minItems", 0)
        return {"integer": s.get("minimum", 1), "number": s.get("minimum", 1), "boolean": True, "null": None}.get(kind, "a" * max(1, s.get("minLength", 1)))

    return value({word: v for word, v in schema.items() if word not in ("examples", "default", "anyOf")})


class Session:
    """The client of the Python SDK, on which the others are built."""

    def __init__(self, url):
        self.url = url

    async def __aenter__(self):
        self.transport = streamablehttp_client(self.url)
        read, write, _ = await self.transport.__aenter__()
        self.session = ClientSession(read, write)
        await self.session.__aenter__()
        await self.session.initialize()
        return self

    async def __aexit__(self, *error):
        await self.session.__aexit__(*error)
        await self.transport.__aexit__(*error)

    async def tools(self):
        tools, cursor = [], None
        while True:
            page = await self.session.list_tools(cursor)
            tools += page.tools
            cursor = page.nextCursor
            if not cursor:
                return tools

    def convert(self, tool):
        """The Python SDK passes a tool on as it is."""

    async def call(self, tool):
        result = await self.session.call_tool(tool.name, arguments(tool))
        if not result.content:
            raise ValueError("the result is empty")


class GoogleGenAI(Session):
    def convert(self, tool):
        from google.genai import _mcp_utils

        with warnings.catch_warnings():
            warnings.simplefilter("error")  # a value that the model's schema has no place for
            converted = _mcp_utils.mcp_to_gemini_tool(tool)
            converted.model_dump_json(exclude_none=True)
        name = converted.function_declarations[0].name
        if not (name[0].isalpha() or name[0] == "_"):
            raise ValueError("Invalid function name. Must start with a letter or an underscore.")


class OpenAIAgents(Session):
    def convert(self, tool):
        from agents.strict_schema import ensure_strict_json_schema

        ensure_strict_json_schema(copy.deepcopy(tool.inputSchema))

    async def __aenter__(self):
        from agents.mcp import MCPServerStreamableHttp

        self.server = MCPServerStreamableHttp({"url": self.url, "timeout": 60}, client_session_timeout_seconds=60)
        await self.server.__aenter__()
        return self

    async def __aexit__(self, *error):
        await self.server.__aexit__(*error)

    async def tools(self):
        from agents.mcp import MCPUtil

        tools = await self.server.list_tools()
        functions = [MCPUtil.to_function_tool(tool, self.server, True) for tool in tools]
        if len(functions) != len(tools):
            raise ValueError(f"{len(functions)} functions of {len(tools)} tools")
        return tools

    async def call(self, tool):
        result = await self.server.call_tool(tool.name, arguments(tool))
        if not result.content:
            raise ValueError("the result is empty")


class LangChain(Session):
    async def tools(self):
        from langchain_mcp_adapters.tools import load_mcp_tools

        tools = await super().tools()
        self.loaded = {tool.name: tool for tool in await load_mcp_tools(self.session)}
        return tools

    def convert(self, tool):
        from langchain_core.utils.function_calling import convert_to_openai_tool

        function = convert_to_openai_tool(self.loaded[tool.name])["function"]
        missing = set(tool.inputSchema["properties"]) - set(function["parameters"]["properties"])
        if missing:
            raise ValueError(f"the arguments {sorted(missing)} are missing")

    async def call(self, tool):
        await self.loaded[tool.name].ainvoke({"type": "tool_call", "id": "1", "name": tool.name, "args": arguments(tool)})


VENDORS = {"python": Session, "google-genai": GoogleGenAI, "openai-agents": OpenAIAgents, "langchain": LangChain}


async def endpoint(vendor, url, calls):
    lost, failed, made = [], [], 0
    async with VENDORS[vendor](url) as client:
        tools = await client.tools()
        for tool in tools:
            try:
                client.convert(tool)
            except Exception as error:
                lost.append([tool.name, reason(error)])
        for tool in tools[:: max(1, len(tools) // calls)][:calls]:
            made += 1
            try:
                await asyncio.wait_for(client.call(tool), 30)
            except Exception as error:
                failed.append([tool.name, reason(error)])
    return {"tools": len(tools), "converted": len(tools) - len(lost), "lost": lost, "calls": made, "failed": failed}


async def main(vendor, calls, *urls):
    for url in urls:
        try:
            result = await endpoint(vendor, url, int(calls))
        except BaseException as error:
            result = {"tools": 0, "converted": 0, "lost": [["all", reason(error)]], "calls": 0, "failed": []}
        print(json.dumps(result), flush=True)


asyncio.run(main(*sys.argv[1:]))
