package gatewaytest

import (
	"bufio"
	"io"
	"net/http"
	"testing"
)

// ListRequest is a request for tools/list as bytes; its length, further headers and its body are filled in.
const ListRequest = "POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nAccept: application/json\r\nMCP-Protocol-Version: 2026-07-28\r\nMcp-Method: tools/list\r\nContent-Length: %d\r\n%s\r\n%s"

// WholeList reads one answer.
func WholeList(t testing.TB, r *bufio.Reader) string {
	t.Helper()
	resp, err := http.ReadResponse(r, nil)
	if err != nil {
		t.Fatal(err)
	}
	body, err := io.ReadAll(resp.Body)
	if err != nil || resp.StatusCode != http.StatusOK {
		t.Fatalf("%v: %.200s", err, body)
	}
	return string(body)
}
