package console

import "slices"

// guideClients returns the clients with the snippets of docs/start as they stand there, for the URL and the name of the guides.
func guideClients() []connectClient { return slices.Concat(guideAssistants(), guideTools()) }

// guideAssistants returns the applications in which people talk to a model.
func guideAssistants() []connectClient {
	return []connectClient{
		{Name: "Claude Code", ID: "claude-code", Guide: "claude", Snippets: []connectSnippet{
			{"In a terminal", "claude mcp add --transport http orders http://127.0.0.1:8080/mcp"},
			{"Or in .mcp.json, for everyone who works on a repository", `{
  "mcpServers": {
    "orders": {
      "type": "http",
      "url": "http://127.0.0.1:8080/mcp"
    }
  }
}`},
		}},
		{Name: "Claude Desktop and claude.ai", ID: "claude-desktop", Guide: "claude", Steps: []string{
			"Choose Settings → Connectors → Add custom connector.",
			"Enter the URL http://127.0.0.1:8080/mcp. Connectors are reached from Anthropic's network: the URL must be public.",
		}, Snippets: []connectSnippet{
			{"Without a public URL, Claude Desktop starts the program itself: claude_desktop_config.json (adapt the paths, and env to the variables that your configuration names)", `{
  "mcpServers": {
    "orders": {
      "command": "/usr/local/bin/drawbridge",
      "args": ["stdio", "--config", "/etc/drawbridge/drawbridge.yaml"],
      "env": {"SHOP_KEY": "harbour-2009"}
    }
  }
}`},
		}},
		{Name: "VS Code", ID: "vscode", Guide: "vscode", Snippets: []connectSnippet{
			{"In a terminal", `code --add-mcp '{"name":"orders","type":"http","url":"http://127.0.0.1:8080/mcp"}'`},
			{"Or in .vscode/mcp.json", `{
  "servers": {
    "orders": {
      "type": "http",
      "url": "http://127.0.0.1:8080/mcp"
    }
  }
}`},
		}},
		{Name: "Cursor", ID: "cursor", Guide: "cursor", Snippets: []connectSnippet{
			{"In ~/.cursor/mcp.json, or .cursor/mcp.json of a project", `{
  "mcpServers": {
    "orders": {
      "url": "http://127.0.0.1:8080/mcp"
    }
  }
}`},
		}},
		{Name: "ChatGPT", ID: "chatgpt", Guide: "chatgpt", Steps: []string{
			"Turn on Developer mode.",
			"Choose Create app and enter the URL http://127.0.0.1:8080/mcp. ChatGPT connects from OpenAI's network: the URL must be public.",
			"Choose OAuth as authentication, then log in.",
		}},
	}
}

// guideTools returns the clients for terminals and programs.
func guideTools() []connectClient {
	return []connectClient{
		{Name: "Codex CLI", ID: "codex", Guide: "codex", Snippets: []connectSnippet{
			{"In a terminal", "codex mcp add orders --url http://127.0.0.1:8080/mcp"},
			{"Or in ~/.codex/config.toml", "[mcp_servers.orders]\nurl = \"http://127.0.0.1:8080/mcp\""},
		}},
		{Name: "Gemini CLI", ID: "gemini-cli", Guide: "gemini-cli", Snippets: []connectSnippet{
			{"In a terminal", "gemini mcp add --scope user --transport http orders http://127.0.0.1:8080/mcp"},
			{"Or in ~/.gemini/settings.json", `{
  "mcpServers": {
    "orders": {
      "url": "http://127.0.0.1:8080/mcp",
      "type": "http"
    }
  }
}`},
		}},
		{Name: "MCP Inspector", ID: "inspector", Guide: "inspector", Snippets: []connectSnippet{
			{"In a terminal", "npx @modelcontextprotocol/inspector --cli http://127.0.0.1:8080/mcp --transport http --method tools/list"},
			{"In a browser", "npx @modelcontextprotocol/inspector --server-url http://127.0.0.1:8080/mcp --transport http"},
		}},
		{Name: "curl", ID: "curl", Guide: "curl", Snippets: []connectSnippet{{"In a terminal", guideCurl}}},
		{Name: "TypeScript", ID: "typescript", Guide: "typescript", Snippets: []connectSnippet{
			{"In a terminal", "npm install @modelcontextprotocol/client@2.4.0"}, {"In client.mjs", guideTypeScript},
		}},
		{Name: "Python", ID: "python", Guide: "python", Snippets: []connectSnippet{
			{"In a terminal", "pip install mcp==2.3.0"}, {"In client.py", guidePython},
		}},
	}
}

const guideCurl = `curl -s http://127.0.0.1:8080/mcp \
  -H 'Content-Type: application/json' -H 'Accept: application/json, text/event-stream' \
  -H 'MCP-Protocol-Version: 2026-07-28' -H 'Mcp-Method: tools/list' \
  -d '{"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {"_meta": {
        "io.modelcontextprotocol/protocolVersion": "2026-07-28", "io.modelcontextprotocol/clientCapabilities": {}}}}'`

// The programs of the guides, up to the list of tools: the call of a tool that follows there fits the sample service alone.
const (
	guideTypeScript = `import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";

const url = new URL(process.env.MCP_URL ?? "http://127.0.0.1:8080/mcp");
const token = process.env.MCP_TOKEN;
const headers = token ? { Authorization: ` + "`Bearer ${token}`" + ` } : {};

const client = new Client({ name: "my-client", version: "1.0.0" }, { versionNegotiation: { mode: "auto" } });
await client.connect(new StreamableHTTPClientTransport(url, { requestInit: { headers } }));
try {
  const { tools } = await client.listTools();
  console.log(tools.map((tool) => tool.name).join("\n"));
} finally {
  await client.close();
}`
	guidePython = `import asyncio
import os

import httpx2
from mcp import Client
from mcp.client.streamable_http import streamable_http_client

URL = os.environ.get("MCP_URL", "http://127.0.0.1:8080/mcp")
TOKEN = os.environ.get("MCP_TOKEN")


async def main() -> None:
    headers = {"Authorization": f"Bearer {TOKEN}"} if TOKEN else {}
    async with httpx2.AsyncClient(headers=headers) as http_client:
        async with Client(streamable_http_client(URL, http_client=http_client)) as client:
            for tool in (await client.list_tools()).tools:
                print(tool.name)


asyncio.run(main())`
)
