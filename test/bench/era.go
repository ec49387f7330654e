package main

import (
	"fmt"
	"strings"

	"drawbridge/test/wire"
)

// era is a revision of the protocol as a client speaks it.
type era struct {
	revision string
	modern   bool // stateless, with _meta in each request; else initialize and a session
}

var eras = []era{{revision: "2026-07-28", modern: true}, {revision: "2025-11-25"}}

// client is what a gateway's client sends with every request.
type client struct {
	era     era
	host    string
	token   string
	session string
}

// connect gives the client of a legacy era its session; the modern era needs none.
func (c *client) connect() error {
	if c.era.modern {
		return nil
	}
	conn, err := wire.Dial(c.host)
	if err != nil {
		return err
	}
	defer conn.Close()
	a, err := conn.Exchange([]byte(c.post("initialize", "", `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"`+
		c.era.revision+`","capabilities":{},"clientInfo":{"name":"bench","version":"1"}}}`, "")))
	if err != nil {
		return fmt.Errorf("initialize: %w", err)
	}
	if a.Status != 200 || !strings.Contains(string(a.Body), c.era.revision) {
		return fmt.Errorf("initialize: status %d: %.300s", a.Status, a.Body)
	}
	c.session = a.Session
	a, err = conn.Exchange([]byte(c.post("notifications/initialized", "", `{"jsonrpc":"2.0","method":"notifications/initialized"}`, "")))
	if err != nil {
		return fmt.Errorf("initialized: %w", err)
	}
	if a.Status != 202 {
		return fmt.Errorf("initialized: status %d: %.300s", a.Status, a.Body)
	}
	return nil
}

// toolCall is a call of the tool with that number as its id and its only argument.
func (c *client) toolCall(tool, number string) string {
	return c.request("tools/call", tool, number, `"name":"`+tool+`","arguments":{"id":`+number+`}`, "")
}

// toolList is a request for the list of tools; encoding is the value of Accept-Encoding, or "".
func (c *client) toolList(encoding string) string {
	return c.request("tools/list", "", "1", "", encoding)
}

func (c *client) request(method, name, id, params, encoding string) string {
	if c.era.modern {
		meta := `"_meta":{"io.modelcontextprotocol/protocolVersion":"` + c.era.revision +
			`","io.modelcontextprotocol/clientInfo":{"name":"bench","version":"1"},"io.modelcontextprotocol/clientCapabilities":{}}`
		if params != "" {
			params += ","
		}
		params += meta
	}
	return c.post(method, name, `{"jsonrpc":"2.0","id":`+id+`,"method":"`+method+`","params":{`+params+`}}`, encoding)
}

func (c *client) post(method, name, body, encoding string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "POST /mcp HTTP/1.1\r\nHost: %s\r\nAuthorization: Bearer %s\r\nContent-Type: application/json\r\n"+
		"Accept: application/json, text/event-stream\r\nContent-Length: %d\r\n", c.host, c.token, len(body))
	if c.era.modern || c.session != "" {
		fmt.Fprintf(&b, "MCP-Protocol-Version: %s\r\n", c.era.revision)
	}
	if c.era.modern {
		fmt.Fprintf(&b, "Mcp-Method: %s\r\n", method)
		if name != "" {
			fmt.Fprintf(&b, "Mcp-Name: %s\r\n", name)
		}
	}
	if c.session != "" {
		fmt.Fprintf(&b, "Mcp-Session-Id: %s\r\n", c.session)
	}
	if encoding != "" {
		fmt.Fprintf(&b, "Accept-Encoding: %s\r\n", encoding)
	}
	b.WriteString("\r\n")
	b.WriteString(body)
	return b.String()
}
