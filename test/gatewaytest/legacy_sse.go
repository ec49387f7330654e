package gatewaytest

import (
	"bufio"
	"net/http"
	"strings"
	"testing"
)

// OldClient is a client of the transport of 2024-11-05.
type OldClient struct {
	T        *testing.T
	Base     string // of the server
	Token    string
	Messages string // where the stream says that messages are sent
	Events   *bufio.Scanner
}

// Request sends a request to the gateway, which is known as mcp.example.com.
func (c *OldClient) Request(method, path, body string, header http.Header) *http.Response {
	c.T.Helper()
	req, err := http.NewRequestWithContext(c.T.Context(), method, c.Base+path, strings.NewReader(body))
	if err != nil {
		c.T.Fatal(err)
	}
	req.Host = "mcp.example.com"
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "text/event-stream")
	if c.Token != "" {
		req.Header.Set("Authorization", "Bearer "+c.Token)
	}
	for name, values := range header {
		req.Header[name] = values
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		c.T.Fatal(err)
	}
	c.T.Cleanup(func() { _ = resp.Body.Close() })
	return resp
}

// OpenOld opens a stream and reads where messages go.
func OpenOld(t *testing.T, base, path, token string) *OldClient {
	t.Helper()
	c := &OldClient{T: t, Base: base, Token: token}
	resp := c.Request(http.MethodGet, path, "", nil)
	if resp.StatusCode != http.StatusOK || resp.Header.Get("Content-Type") != "text/event-stream" {
		t.Fatalf("GET %s = %d %v", path, resp.StatusCode, resp.Header)
	}
	c.Events = bufio.NewScanner(resp.Body)
	c.Events.Buffer(nil, 4<<20)
	c.Messages = c.Next()
	return c
}

// Next returns the data of the next event, "" at the end of the stream.
func (c *OldClient) Next() string {
	c.T.Helper()
	for c.Events.Scan() {
		if data, ok := strings.CutPrefix(c.Events.Text(), "data: "); ok {
			return data
		}
	}
	return ""
}

// Send posts a message and returns the status.
func (c *OldClient) Send(body string) int {
	c.T.Helper()
	resp := c.Request(http.MethodPost, c.Messages, body, nil)
	defer resp.Body.Close()
	return resp.StatusCode
}

// Ask posts a request and returns its answer.
func (c *OldClient) Ask(body string) string {
	c.T.Helper()
	if status := c.Send(body); status != http.StatusAccepted {
		c.T.Fatalf("%s = %d", body, status)
	}
	return c.Next()
}

// OldInitialize is the first message of a client of HTTP+SSE.
const OldInitialize = `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2024-11-05","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}`
