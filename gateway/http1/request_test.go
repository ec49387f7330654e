package http1

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
)

// TestPlain: what is served here, and what is left to net/http.
func TestPlain(t *testing.T) {
	for _, c := range []struct {
		request string
		size    int // 0: it is not plain
	}{
		{"POST /mcp HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\nab", 52},
		{"POST /mcp HTTP/1.1\r\nhost:x\r\ncontent-length:\t0 \r\nConnection: Keep-Alive\r\n\r\n", 74},
		{"POST /mcp HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\nabPOST", 52},
		{"POST /mcp HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\na", 0},
		{"POST /mcp HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n", 0},
		{"GET /mcp HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\n\r\n", 0},
		{"POST /mcp HTTP/1.0\r\nHost: x\r\nContent-Length: 0\r\n\r\n", 0},
		{"POST http://x/mcp HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\n\r\n", 0},
		{"POST * HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\n\r\n", 0},
		{"POST /%zz HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\n\r\n", 0},
		{"POST /mcp  HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\n\r\n", 0},
		{"POST /mcp HTTP/1.1\nHost: x\r\nContent-Length: 0\r\n\r\n", 0},
		{"POST /mcp HTTP/1.1\r\nHost: x\nContent-Length: 0\r\n\r\n", 0},
		{"POST /mcp HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\n\n", 0},
		{"POST /mcp HTTP/1.1\r\nHost: x\r\rContent-Length: 0\r\n\r\n", 0},
		{"POST /mcp HTTP/1.1\r\nContent-Length: 0\r\n\r\n", 0},
		{"POST /mcp HTTP/1.1\r\nHost: x\r\nHost: x\r\nContent-Length: 0\r\n\r\n", 0},
		{"POST /mcp HTTP/1.1\r\nHost: x y\r\nContent-Length: 0\r\n\r\n", 0},
		{"POST /mcp HTTP/1.1\r\nHost: x\r\n\r\n", 0},
		{"POST /mcp HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nContent-Length: 1\r\n\r\na", 0},
		{"POST /mcp HTTP/1.1\r\nHost: x\r\nContent-Length: +1\r\n\r\na", 0},
		{"POST /mcp HTTP/1.1\r\nHost: x\r\nContent-Length: 0x1\r\n\r\na", 0},
		{"POST /mcp HTTP/1.1\r\nHost: x\r\nContent-Length: 1, 1\r\n\r\na", 0},
		{"POST /mcp HTTP/1.1\r\nHost: x\r\nContent-Length: 1_0\r\n\r\naaaaaaaaaa", 0},
		{"POST /mcp HTTP/1.1\r\nHost: x\r\nContent-Length: \r\n\r\n", 0},
		{"POST /mcp HTTP/1.1\r\nHost: x\r\nContent-Length : 0\r\n\r\n", 0},
		{"POST /mcp HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\nA : b\r\n\r\n", 0},
		{"POST /mcp HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\n A: b\r\n\r\n", 0},
		{"POST /mcp HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\nA\r\n\r\n", 0},
		{"POST /mcp HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\n: b\r\n\r\n", 0},
		{"POST /mcp HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\nA: b\x00\r\n\r\n", 0},
		{"POST /mcp HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\nTransfer-Encoding: chunked\r\n\r\n", 0},
		{"POST /mcp HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\ntransfer-encoding: identity\r\n\r\n", 0},
		{"POST /mcp HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\nExpect: 100-continue\r\n\r\n", 0},
		{"POST /mcp HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\nConnection: close\r\n\r\n", 0},
		{"POST /mcp HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\nConnection: keep-alive, Upgrade\r\n\r\n", 0},
		{"POST /mcp HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\nUpgrade: h2c\r\n\r\n", 0},
		{"POST /mcp HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\nHTTP2-Settings: a\r\n\r\n", 0},
		{"POST /mcp HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\nTrailer: A\r\n\r\n", 0},
		{"POST /mcp HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\nTE: trailers\r\n\r\n", 0},
		{"", 0},
	} {
		if r, size := Request([]byte(c.request)); size != c.size || (r == nil) != (c.size == 0) {
			t.Errorf("%q: %d bytes, not %d", c.request, size, c.size)
		}
	}
}

// FuzzRequest: what is plain, net/http takes for the same request, and what follows it for the next.
func FuzzRequest(f *testing.F) {
	for _, s := range []string{
		asked, asked + asked,
		"POST /a?b=c HTTP/1.1\r\nHost: x:1\r\nA: b\r\nA: c\r\ncontent-length: 2\r\nConnection: keep-alive\r\n\r\n{}",
		"POST / HTTP/1.1\r\nHost: \r\nContent-Length: 0\r\nPragma: no-cache\r\n\r\n",
		"POST //a HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\nCookie: a=b\r\n\r\nGET",
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		r, size := Request(b)
		if r == nil {
			return
		}
		want := []string{described(r), described(must(Request([]byte(asked))))}
		var got []string
		answer := theirs(t, http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { got = append(got, described(r)) }), string(b[:size])+asked)
		if fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("%q: net/http reads %q, not %q, and answers %q", b, got, want, answer)
		}
	})
}

func must(r *http.Request, _ int) *http.Request { return r }

// described is what a handler can know of a request.
func described(r *http.Request) string {
	body, err := io.ReadAll(r.Body)
	return fmt.Sprintf("%q %q %q %q %q %q %d %q %v %v %v %v", r.Method, r.URL, r.RequestURI, r.Proto, r.Host, r.Header, r.ContentLength, body, err, r.Close, r.TransferEncoding, r.Trailer)
}

// TestBodyEnds: the bytes of a body are the connection's once its request was served.
func TestBodyEnds(t *testing.T) {
	r, _ := Request([]byte(asked))
	if err := r.Body.Close(); err != nil {
		t.Error(err)
	}
	if n, err := r.Body.Read(make([]byte, 5)); n != 0 || !errors.Is(err, http.ErrBodyReadAfterClose) {
		t.Errorf("%d bytes, %v", n, err)
	}
}

// BenchmarkRequest is what it takes to read a usual request.
func BenchmarkRequest(b *testing.B) {
	request := []byte("POST /mcp HTTP/1.1\r\nHost: mcp.example.com\r\nUser-Agent: client/1.0\r\nAccept: application/json, text/event-stream\r\nContent-Type: application/json\r\n" +
		"Authorization: Bearer " + strings.Repeat("t", 700) + "\r\nMCP-Protocol-Version: 2025-11-25\r\nMcp-Session-Id: " + strings.Repeat("s", 120) + "\r\nContent-Length: 200\r\n\r\n" + strings.Repeat("b", 200))
	b.ReportAllocs()
	for b.Loop() {
		if r, size := Request(request); r == nil || size != len(request) {
			b.Fatal(size)
		}
	}
	if !bytes.HasSuffix(request, []byte("b")) {
		b.Fatal("it was changed")
	}
}
