package gateway

import (
	"bufio"
	"bytes"
	"io"
	"net/http"
	"strings"
	"testing"
)

// TestArrival: how many bytes of a request are waited for when so many are there.
func TestArrival(t *testing.T) {
	const unknown = -1
	get, post := "GET / HTTP/1.1\r\nHost: x\r\n", "POST /mcp HTTP/1.1\r\nHost: x\r\n"
	for _, c := range []struct {
		name, first string
		tls         bool
		more        int // bytes that are waited for after these
	}{
		{"nothing", "", false, unknown},
		{"a part of a line", "GET / HT", false, unknown},
		{"a part of a head", get, false, unknown},
		{"a head", get + "\r\n", false, 0},
		{"bare line feeds", "GET / HTTP/1.0\n\n", false, 0},
		{"bare line feeds between", "GET / HTTP/1.0\nContent-Length: 2\n\r\n", false, 2},
		{"a body", post + "Content-Length: 5\r\n\r\nab", false, 3},
		{"a body of a length with zeros and blanks", post + "content-length:\t 005 \r\n\r\nab", false, 3},
		{"a body that is there", post + "Content-Length: 5\r\n\r\nabcde", false, 0},
		{"more than a request", post + "Content-Length: 5\r\n\r\nabcdeGET", false, 0},
		{"a length that stands twice", post + "Content-Length: 5\r\nContent-Length: 5\r\n\r\n", false, 5},
		{"two lengths", post + "Content-Length: 5\r\nContent-Length: 6\r\n\r\n", false, 0},
		{"nothing, and a length", post + "Content-Length: 0\r\nContent-Length: 6\r\n\r\n", false, 0},
		{"a large body", post + "Content-Length: 9999999999\r\n\r\n", false, waitedFor - len(post) - len("Content-Length: 9999999999\r\n\r\n")},
		{"a length below zero", post + "Content-Length: -5\r\n\r\n", false, 0},
		{"a length that is none", post + "Content-Length: 5, 5\r\n\r\n", false, 0},
		{"a length on two lines", post + "Content-Length: 5\r\n 5\r\n\r\n", false, 0},
		{"a body in chunks", post + "Transfer-Encoding: chunked\r\nContent-Length: 5\r\n\r\n", false, 0},
		{"a body that waits to be asked for", post + "Content-Length: 5\r\nEXPECT: 100-continue\r\n\r\n", false, 0},
		{"a body that waits, and a head that is not whole", post + "Content-Length: 5\r\nExpect: 100-continue\r\n", false, unknown},
		{"a line that is no field", post + "what\r\n", false, 0},
		{"no request", "HELP\r\n", false, 0},
		{"no line", "\r\n", false, 0},
		{"HTTP/2 in clear", "PRI * HTTP/2.0\r\n", false, len("\r\nSM\r\n\r\n")},
		{"another HTTP", "GET / HTTP/3.0\r\n", false, 0},
		{"a head that is too large", get + "A: " + strings.Repeat("a", waitedFor), false, 0},
		{"TLS", "\x16\x03\x01\x02\x01ab", true, 0x201 - 2},
		{"the beginning of TLS", "\x16\x03\x01\x02", true, unknown},
		{"TLS in clear", "\x16\x03\x01\x02\x01ab", false, unknown},
		{"clear in TLS", "GET", true, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			for step := 1; step <= 7; step++ {
				a := arrival{tls: c.tls}
				for n := 0; n < len(c.first); n += step {
					if a.wants([]byte(c.first[:n])) <= n && n > 0 && c.more != 0 {
						t.Fatalf("goes on after %d bytes", n)
					}
				}
				got := a.wants([]byte(c.first)) - len(c.first)
				if want := max(c.more, 0); c.more == unknown && (got != 1 || a.size != 0) || c.more != unknown && max(got, 0) != want {
					t.Errorf("waits for %d more bytes, %+v", got, a)
				}
			}
		})
	}
}

// FuzzArrival: whatever the first bytes are, net/http reads all that is waited for as part of the first request, or refuses the request; and it does not
// matter in what pieces they come.
func FuzzArrival(f *testing.F) {
	for _, s := range []string{
		"GET / HTTP/1.1\r\nHost: x\r\n\r\n", "POST / HTTP/1.1\nHost: x\nContent-Length: 7\n\nabc", "POST / HTTP/1.1\r\nContent-Length: 3\r\n 4\r\n\r\n",
		"HEAD / HTTP/1.0\r\nContent-Length: 03\r\nContent-Length: 3\r\n\r\n", "POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nab\r\n",
		"PRI * HTTP/2.0\r\n\r\nSM", "CONNECT x HTTP/1.1\r\nContent-Length: 4\r\n\r\n", "A B HTTP/1.1\r\n: \r\n\t\r\n\r\n",
	} {
		f.Add([]byte(s), uint8(3))
	}
	f.Fuzz(func(t *testing.T, first []byte, step uint8) {
		tls := arrival{tls: true}
		tls.wants(first)
		var whole, pieces arrival
		want := whole.wants(first)
		for n := 0; n < len(first); n += 1 + int(step) {
			if early := pieces.wants(first[:n]); early <= n && n > 0 {
				return // it went on with less
			}
		}
		if got := pieces.wants(first); got != want {
			t.Fatalf("waits for %d bytes, in pieces for %d", want, got)
		}
		if want <= len(first) {
			return
		}
		rest := bytes.Repeat([]byte("a"), want-len(first)-1) // all but the last byte
		if whole.size == 0 {
			rest = nil
		}
		in := bufio.NewReader(io.MultiReader(bytes.NewReader(first), bytes.NewReader(rest)))
		r, err := http.ReadRequest(in)
		if err == nil {
			_, err = io.Copy(io.Discard, r.Body)
		}
		if err == nil && r.Method != "PRI" {
			t.Fatalf("the request is whole, but %d bytes are waited for", want)
		}
	})
}
