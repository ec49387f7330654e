package upstream

import (
	"io"
	"net"
	"strings"
	"testing"
)

// TestCutHead: wherever within its head an answer is cut, it was broken off, and is not one that can't be read.
func TestCutHead(t *testing.T) {
	const head = "HTTP/1.1 103 Early Hints\r\nLink: <a>\r\n\r\nHTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n"
	cases := map[string]string{
		"220 mail.example.com ready": "protocol", "<html>": "protocol", "HTTQ": "protocol", "HTTQ/1.1 200 OK\r\n": "protocol",
		"HTTP/1.1 two": "truncated", "HTTP/1.1 two\r\n\r\n": "protocol", "HTTP/1.1 200 OK\r\nA\r\n\r\n": "protocol", "HTTP/1.1 200 OK\r\n\r\n": "200 \"\"",
		head + "o": "truncated", head + "ok": "200 \"ok\"",
	}
	for n := range head {
		cases[head[:n]] = "truncated"
	}
	for answer, want := range cases {
		address := listen(t, func(conn net.Conn) {
			readRequest(conn)
			_, _ = io.WriteString(conn, answer)
		})
		client := newClient(Options{Name: "orders", BaseURL: address})
		if got, _, _ := strings.Cut(outcome(client, get(t, address)), "\n"); got != want {
			t.Errorf("%q: %s, want %s", answer, got, want)
		}
		client.Close()
	}
}
