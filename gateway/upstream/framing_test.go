package upstream

import (
	"bufio"
	"context"
	"io"
	"net"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"drawbridge/test/timebox"
)

// TestBrokenFraming: the connection of an answer whose framing is broken is not used again, and the answer is an error where its end is
// not certain.
func TestBrokenFraming(t *testing.T) {
	const chunked = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n"
	for name, c := range map[string]struct {
		answer string
		whole  bool // the answer is delivered
		kept   bool // the connection is used again
	}{
		"good":                       {chunked + "2\r\nok\r\n0\r\n\r\n", true, true},
		"good trailer":               {chunked + "2\r\nok\r\n0\r\nA: b\r\n\r\n", true, true},
		"extension":                  {chunked + "2;a=b\r\nok\r\n0\r\n\r\n", true, true},
		"trailer without colon":      {chunked + "2\r\nok\r\n0\r\nbroken\r\n\r\n", false, false},
		"trailer with a space":       {chunked + "2\r\nok\r\n0\r\nA : b\r\n\r\n", false, false},
		"trailer folded":             {chunked + "2\r\nok\r\n0\r\n A: b\r\n\r\n", false, false},
		"trailer with a NUL":         {chunked + "2\r\nok\r\n0\r\nA: b\x00c\r\n\r\n", false, false},
		"trailer with a lone CR":     {chunked + "2\r\nok\r\n0\r\nA: b\rc\r\n\r\n", false, false},
		"trailer with an odd name":   {chunked + "2\r\nok\r\n0\r\nA(b: c\r\n\r\n", false, false},
		"trailer Content-Length":     {chunked + "2\r\nok\r\n0\r\nContent-Length: 5\r\n\r\n", false, false},
		"trailer Transfer-Encoding":  {chunked + "2\r\nok\r\n0\r\nTransfer-Encoding: chunked\r\n\r\n", false, false},
		"trailer Trailer":            {chunked + "2\r\nok\r\n0\r\nTrailer: A\r\n\r\n", false, false},
		"trailer by LF":              {chunked + "2\r\nok\r\n0\r\nA: b\n\n", false, false},
		"trailer too long":           {chunked + "2\r\nok\r\n0\r\n" + strings.Repeat("A: b\r\n", 1<<18) + "\r\n", false, false},
		"trailer of many bytes":      {chunked + "2\r\nok\r\n0\r\nA: " + strings.Repeat("b", 1<<20) + "\r\n\r\n", false, false},
		"trailer Content-Encoding":   {chunked + "2\r\nok\r\n0\r\nContent-Encoding: gzip\r\n\r\n", false, false},
		"trailer in small letters":   {chunked + "2\r\nok\r\n0\r\ncontent-length: 5\r\n\r\n", false, false},
		"trailer for something else": {chunked + "2\r\nok\r\n0\r\nContent-Type: text/plain\r\nSet-Cookie: a=b\r\n\r\n", true, true},
		"no end of the chunk":        {chunked + "2\r\nokX\r\n0\r\n\r\n", false, false},
		"text after the last size":   {chunked + "2\r\nok\r\n0 x\r\n\r\n", false, false},
		"text for the last line":     {chunked + "2\r\nok\r\n0\r\nXX", false, false},
		"size with a sign":           {chunked + "+2\r\nok\r\n0\r\n\r\n", false, false},
		"size with 0x":               {chunked + "0x2\r\nok\r\n0\r\n\r\n", false, false},
		"size beyond 64 bits":        {chunked + "10000000000000002\r\nok\r\n0\r\n\r\n", false, false},
		"size by LF":                 {chunked + "2\nok\n0\n\n", false, false},
		"extension with a lone CR":   {chunked + "2;a\rb\r\nok\r\n0\r\n\r\n", false, false},
		"extension by LF":            {chunked + "2;a\nok\r\n0\r\n\r\n", false, false},
		"extension too long":         {chunked + "2;" + strings.Repeat("a", 1<<20) + "\r\nok\r\n0\r\n\r\n", false, false},
		"more after the end":         {chunked + "2\r\nok\r\n0\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nother", true, false},
		"more after the length":      {"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nokHTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nother", true, false},
		"length and chunks":          {"HTTP/1.1 200 OK\r\nContent-Length: 20\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n", true, true}, // the chunks decide (RFC 9112 section 6.3)
		"two lengths":                {"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Length: 3\r\n\r\nok", false, false},
		"length with a sign":         {"HTTP/1.1 200 OK\r\nContent-Length: +2\r\n\r\nok", false, false},
		"chunked twice":              {"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n", false, false},
		"chunked under gzip":         {"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked, gzip\r\n\r\n2\r\nok\r\n0\r\n\r\n", false, false},
		"HTTP/1.0 without a length":  {"HTTP/1.0 200 OK\r\nConnection: keep-alive\r\n\r\nok", true, false},
		"HTTP/1.0 with keep-alive":   {"HTTP/1.0 200 OK\r\nConnection: keep-alive\r\nContent-Length: 2\r\n\r\nok", true, true},
		"HTTP/1.0 with a length":     {"HTTP/1.0 200 OK\r\nContent-Length: 2\r\n\r\nok", true, false},
		"body of 204":                {"HTTP/1.1 204 No Content\r\nContent-Length: 2\r\n\r\nok", true, false},
	} {
		for transport, maker := range framingTransports {
			t.Run(transport+"/"+name, func(t *testing.T) {
				t.Parallel()
				s := newRawService(t, c.answer)
				rt := maker(t)
				body, err := s.call(t, rt)
				if c.whole != (err == nil) {
					t.Errorf("%q, %v", body, err)
				}
				// net/http puts a connection back before it looks for bytes that nobody asked for, and closes it then.
				if !c.kept {
					timebox.Receive(t, s.closed)
				}
				before := s.connections.Load()
				_, _ = s.call(t, rt)
				if kept := s.connections.Load() == before; kept != c.kept {
					t.Errorf("connection used again: %v", kept)
				}
			})
		}
	}
}

// framingTransports are the two ways by which calls over HTTP/1.1 are made.
var framingTransports = map[string]func(*testing.T) http.RoundTripper{
	"cleartext": func(t *testing.T) http.RoundTripper {
		over := newCleartext((&net.Dialer{}).DialContext, 10*time.Second, 10)
		t.Cleanup(over.close)
		return over
	},
	"net/http": func(t *testing.T) http.RoundTripper {
		over := &http.Transport{}
		t.Cleanup(over.CloseIdleConnections)
		return trailerGuard{over, &protocols{}}
	},
}

// rawService gives the same bytes in answer to each request, on connections that it keeps open.
type rawService struct {
	url         string
	connections atomic.Int64
	closed      chan struct{} // one for each connection that has ended
}

func newRawService(t *testing.T, answer string) *rawService {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := &rawService{url: "http://" + l.Addr().String() + "/", closed: make(chan struct{}, 10)}
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() {
		defer close(done)
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			s.connections.Add(1)
			context.AfterFunc(ctx, func() { conn.Close() })
			go func() {
				defer func() { s.closed <- struct{}{} }()
				r := bufio.NewReader(conn)
				for {
					if _, err := http.ReadRequest(r); err != nil {
						return
					}
					if _, err := io.WriteString(conn, answer); err != nil {
						return
					}
					if strings.HasPrefix(answer, "HTTP/1.0") && !strings.Contains(answer, "Content-Length") {
						conn.Close()
					}
				}
			}()
		}
	}()
	t.Cleanup(func() { l.Close(); cancel(); timebox.Receive(t, done) })
	return s
}

func (s *rawService) call(t *testing.T, over http.RoundTripper) (string, error) {
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Second)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, s.url, nil)
	if err != nil {
		t.Fatal(err)
	}
	resp, err := over.RoundTrip(req)
	if err != nil {
		return "", err
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	return string(body), err
}
