package paths

import (
	"context"
	"fmt"
	"io"
	"net"
	"strings"
	"testing"
	"time"
)

// bare counts the payloads that reach a foreign route when a client writes them into the path as they are: what the gateway
// keeps from happening. A stack where none does would prove nothing.
func bare(ctx context.Context, t *testing.T, s stack) (n int) {
	t.Helper()
	for _, payload := range payloads {
		conn, err := (&net.Dialer{Timeout: 5 * time.Second}).DialContext(ctx, "tcp", s.address)
		if err != nil {
			t.Fatal(err)
		}
		_ = conn.SetDeadline(time.Now().Add(5 * time.Second))
		fmt.Fprintf(conn, "GET /v1/orders/%s HTTP/1.1\r\nHost: %s\r\nConnection: close\r\n\r\n", written(payload), s.address)
		answer, _ := io.ReadAll(conn) // what a server says before it closes is enough
		conn.Close()
		head, body, _ := strings.Cut(string(answer), "\r\n\r\n")
		if strings.Contains(body, "route=foreign") && strings.HasPrefix(head, "HTTP/1.1 200") || strings.HasPrefix(head, "HTTP/1.0 200") && strings.Contains(body, "route=foreign") {
			n++
		}
	}
	return n
}

// written is a value with those bytes encoded that would end the line of a request.
func written(value string) string {
	var b strings.Builder
	for _, c := range []byte(value) {
		if c <= ' ' || c >= 0x7f {
			fmt.Fprintf(&b, "%%%02X", c)
		} else {
			b.WriteByte(c)
		}
	}
	return b.String()
}

// TestWritten: the control sends one request.
func TestWritten(t *testing.T) {
	if got := written("a/../b c\r\n%2e"); got != "a/../b%20c%0D%0A%2e" {
		t.Error(got)
	}
	if strings.ContainsAny(written(strings.Join(payloads, "")), " \r\n\x00") {
		t.Error("a payload ends the line")
	}
}
