package wire

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// Modern is the revision without sessions, in which each request says all of itself in _meta.
const Modern = "2026-07-28"

// Client makes the requests of a client of MCP. Its fields are set before it is used, and Connect writes Session; requests may
// then be made concurrently.
type Client struct {
	Host     string // host:port of the gateway
	Revision string // of the protocol
	Token    string // the access token; "": none
	Session  string // written by Connect
	// Accept is the value of that header. "": what clients send, which is both media types.
	Accept string
	// Header is written into each request as it is, lines with their ends. It may be empty.
	Header string
}

// Connect gives the client of a revision that has them its session; the modern one needs none.
func (c *Client) Connect() error {
	if c.Revision == Modern {
		return nil
	}
	conn, err := Dial(c.Host)
	if err != nil {
		return err
	}
	defer conn.Close()
	a, err := conn.Exchange([]byte(c.post("initialize", "", `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"`+
		c.Revision+`","capabilities":{},"clientInfo":{"name":"bench","version":"1"}}}`, "")))
	if err != nil {
		return fmt.Errorf("initialize: %w", err)
	}
	if a.Status != 200 || !strings.Contains(string(a.Body), c.Revision) {
		return fmt.Errorf("initialize: status %d: %.300s", a.Status, a.Body)
	}
	c.Session = a.Session
	a, err = conn.Exchange([]byte(c.post("notifications/initialized", "", `{"jsonrpc":"2.0","method":"notifications/initialized"}`, "")))
	if err != nil {
		return fmt.Errorf("initialized: %w", err)
	}
	if a.Status != 202 {
		return fmt.Errorf("initialized: status %d: %.300s", a.Status, a.Body)
	}
	if c.Session == "" {
		return errors.New("initialize: no session")
	}
	return nil
}

// Call is a call of a tool; arguments are JSON.
func (c *Client) Call(tool, id, arguments string) string {
	return c.request("tools/call", tool, id, `"name":`+strconv.Quote(tool)+`,"arguments":`+arguments, "")
}

// List is a request for the list of tools; encoding is the value of Accept-Encoding, or "".
func (c *Client) List(encoding string) string {
	return c.request("tools/list", "", "1", "", encoding)
}

// Listen is a request for a stream of changes of the list of tools, in the modern revision.
func (c *Client) Listen() string {
	return c.request("subscriptions/listen", "", "1", `"notifications":{"toolsListChanged":true}`, "")
}

// Cancel tells that the answer to the request of that id is no longer wanted, in a revision that has sessions.
func (c *Client) Cancel(id string) string {
	return c.post("notifications/cancelled", "", `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":`+id+`}}`, "")
}

func (c *Client) request(method, name, id, params, encoding string) string {
	if c.Revision == Modern {
		meta := `"_meta":{"io.modelcontextprotocol/protocolVersion":"` + c.Revision +
			`","io.modelcontextprotocol/clientInfo":{"name":"bench","version":"1"},"io.modelcontextprotocol/clientCapabilities":{}}`
		if params != "" {
			params += ","
		}
		params += meta
	}
	return c.post(method, name, `{"jsonrpc":"2.0","id":`+id+`,"method":"`+method+`","params":{`+params+`}}`, encoding)
}

func (c *Client) post(method, name, body, encoding string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "POST /mcp HTTP/1.1\r\nHost: %s\r\nContent-Type: application/json\r\n", c.Host)
	if c.Token != "" {
		fmt.Fprintf(&b, "Authorization: Bearer %s\r\n", c.Token)
	}
	accept := c.Accept
	if accept == "" {
		accept = "application/json, text/event-stream"
	}
	fmt.Fprintf(&b, "Accept: %s\r\nContent-Length: %d\r\n%s", accept, len(body), c.Header)
	if c.Revision == Modern || c.Session != "" {
		fmt.Fprintf(&b, "MCP-Protocol-Version: %s\r\n", c.Revision)
	}
	if c.Revision == Modern {
		fmt.Fprintf(&b, "Mcp-Method: %s\r\n", method)
		if name != "" {
			fmt.Fprintf(&b, "Mcp-Name: %s\r\n", name)
		}
	}
	if c.Session != "" {
		fmt.Fprintf(&b, "Mcp-Session-Id: %s\r\n", c.Session)
	}
	if encoding != "" {
		fmt.Fprintf(&b, "Accept-Encoding: %s\r\n", encoding)
	}
	b.WriteString("\r\n")
	b.WriteString(body)
	return b.String()
}
