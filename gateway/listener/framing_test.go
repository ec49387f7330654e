package listener

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"
)

// TestBrokenBody: after a request whose chunks or trailer are broken, no other request is served on the connection.
func TestBrokenBody(t *testing.T) {
	s := httptest.NewServer(DefaultBodyPace(nil).Handler(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if _, err := io.ReadAll(r.Body); err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
		}
	})))
	defer s.Close()
	for body, kept := range map[string]bool{
		"2\r\n{}\r\n0\r\n\r\n":                                      true,
		"2\r\n{}\r\n0\r\nA: b\r\n\r\n":                              true,
		"2;a=b\r\n{}\r\n0\r\n\r\n":                                  true,
		"2\r\n{}\r\n0\r\nbroken\r\n\r\n":                            false,
		"2\r\n{}\r\n0\r\nA : b\r\n\r\n":                             false,
		"2\r\n{}\r\n0\r\n A: b\r\n\r\n":                             false,
		"2\r\n{}\r\n0\r\nA: b\x00c\r\n\r\n":                         false,
		"2\r\n{}\r\n0\r\nContent-Length: 5\r\n\r\n":                 false,
		"2\r\n{}\r\n0\r\nTransfer-Encoding: chunked\r\n\r\n":        false,
		"2\r\n{}X\r\n0\r\n\r\n":                                     false,
		"+2\r\n{}\r\n0\r\n\r\n":                                     false,
		"2\r\n{}\r\nx\r\n\r\n":                                      false,
		"2\r\n{}\r\n0\r\nHost: evil\r\nConnection: close\r\n\r\n":   false,
		"2\r\n{}\r\n0\r\nTrailer: Content-Length\r\nA: b\r\n\r\n\r": false,
	} {
		conn, err := net.Dial("tcp", s.Listener.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		_ = conn.SetDeadline(time.Now().Add(10 * time.Second))
		fmt.Fprintf(conn, "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n%s", body)
		r := bufio.NewReader(conn)
		resp, err := http.ReadResponse(r, nil)
		if err != nil {
			t.Fatalf("%q: %v", body, err)
		}
		if _, err := io.Copy(io.Discard, resp.Body); err != nil {
			t.Fatal(err)
		}
		resp.Body.Close()
		if (resp.StatusCode == http.StatusOK) != kept || resp.Close == kept {
			t.Errorf("%q: %s, closed: %v", body, resp.Status, resp.Close)
		}
		fmt.Fprint(conn, "GET / HTTP/1.1\r\nHost: a\r\n\r\n")
		if _, err := http.ReadResponse(r, nil); (err == nil) != kept {
			t.Errorf("%q: another request: %v", body, err)
		}
		conn.Close()
	}
}
