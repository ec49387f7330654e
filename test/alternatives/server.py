"""Serves the OpenAPI document DOCUMENT with FastMCP: by HTTP at a port, else on standard input and output.

usage: server.py DOCUMENT BASE_URL [PORT]
"""

import datetime
import json
import sys

import httpx2
import yaml
from fastmcp import FastMCP


def document(path):
    """The document as JSON has it: a date of YAML is a text."""
    with open(path, encoding="utf-8") as file:
        if path.endswith(".json"):
            return json.load(file)
        text = yaml.load(file, Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader))
        return json.loads(json.dumps(text, default=lambda value: value.isoformat() if isinstance(value, datetime.date) else str(value)))


def server(path, base_url):
    client = httpx2.AsyncClient(base_url=base_url, limits=httpx2.Limits(max_connections=200, max_keepalive_connections=200))
    return FastMCP.from_openapi(openapi_spec=document(path), client=client, name="api")


if len(sys.argv) == 3:
    server(sys.argv[1], sys.argv[2]).run(transport="stdio", show_banner=False, log_level="error")
else:
    server(sys.argv[1], sys.argv[2]).run(transport="http", host="127.0.0.1", port=int(sys.argv[3]), show_banner=False, log_level="warning", stateless_http=True, json_response=True)
