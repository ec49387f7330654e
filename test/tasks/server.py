"""Serves the tools of several OpenAPI documents with FastMCP and its search by BM25, or prints them by operation.

usage: server.py APIS (--list | PORT)

APIS is a JSON file: a list of {name, document, base_url, authorization}, where document is the path of a document in JSON.
"""

import asyncio
import json
import sys

import httpx2
from fastmcp import FastMCP
from fastmcp.server.transforms.search import BM25SearchTransform


def api(item):
    with open(item["document"], encoding="utf-8") as file:
        document = json.load(file)
    headers = {"Authorization": item["authorization"]} if item["authorization"] else {}
    client = httpx2.AsyncClient(base_url=item["base_url"], headers=headers)
    return FastMCP.from_openapi(openapi_spec=document, client=client, name=item["name"])


async def tools(name, server):
    """The tools of an API by operation, as API METHOD PATH."""
    found = {}
    for tool in await server.list_tools():
        route = tool._route
        found[f"{name} {route.method} {route.path}"] = {"name": f"{name}_{tool.name}", "arguments": list(tool.parameters["properties"])}
    return found


with open(sys.argv[1], encoding="utf-8") as file:
    items = json.load(file)
servers = {item["name"]: api(item) for item in items}
if sys.argv[2] == "--list":
    listed = {}
    for name, server in servers.items():
        listed |= asyncio.run(tools(name, server))
    print(json.dumps(listed))
else:
    whole = FastMCP(name="tasks", transforms=[BM25SearchTransform()])
    for name, server in servers.items():
        whole.mount(server, namespace=name)
    whole.run(transport="http", host="127.0.0.1", port=int(sys.argv[2]), show_banner=False, log_level="warning", stateless_http=True, json_response=True)
