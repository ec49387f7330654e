package gatewaytest

import (
	"fmt"
	"net/http/httptest"
)

// Read sends resources/read.
func (c *Client) Read(uri string) *httptest.ResponseRecorder {
	c.T.Helper()
	header := c.Header.Clone()
	header.Set("Content-Type", "application/json")
	header.Set("Accept", "application/json, text/event-stream")
	header.Set("MCP-Protocol-Version", c.Revision)
	params := fmt.Sprintf(`"uri":%q`, uri)
	if c.Revision >= "2026" {
		header.Set("Mcp-Method", "resources/read")
		header.Set("Mcp-Name", uri)
		params += `,"_meta":{"io.modelcontextprotocol/protocolVersion":"` + c.Revision + `","io.modelcontextprotocol/clientCapabilities":{}}`
	} else {
		if c.Session == "" {
			c.Send("tools/list", "", "")
		}
		header.Set("Mcp-Session-Id", c.Session)
	}
	return Post(c.H, header, `{"jsonrpc":"2.0","id":1,"method":"resources/read","params":{`+params+`}}`)
}
