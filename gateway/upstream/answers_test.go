package upstream

import (
	"bytes"
	"compress/flate"
	"compress/gzip"
	"compress/zlib"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/tools/txtar"

	"drawbridge/test/cases"
	"drawbridge/test/timebox"
)

// TestAnswers sends what each file in testdata/answers says and compares what
// the client makes of it: status and body, or kind and ToolMessage.
//
// Sections: head (a line ends in CR LF, an empty one is added), cut (the same
// without the empty line), body, chunks (lines end in CR LF), gzip, zlib and
// flate (compressed), repeat (that many bytes). Texts lose their last line
// feed. drop removes bytes from the end, flip inverts the n-th byte from there.
func TestAnswers(t *testing.T) {
	cases.Run(t, "testdata/answers/*.txtar", func(t *testing.T, _ string, archive *txtar.Archive) {
		answer, want := compose(t, archive)
		address := listen(t, func(conn net.Conn) {
			readRequest(conn)
			conn.Write(answer)
		})
		c := newClient(Options{Name: "orders", BaseURL: address, MaxBytes: 512})
		defer c.Close()
		if diff := cmp.Diff(want, outcome(c, get(t, address))); diff != "" {
			t.Error(diff)
		}
	})
}

// outcome makes a call and says what came of it.
func outcome(c *Client, req *http.Request) string {
	return told(c.Do(req))
}

func told(resp *http.Response, err error) string {
	var data []byte
	if err == nil {
		data, err = io.ReadAll(resp.Body)
		resp.Body.Close()
	}
	if err != nil {
		e := (*Error)(nil)
		if !errors.As(err, &e) {
			return "not an *Error: " + err.Error()
		}
		return fmt.Sprintf("%s\n%s\n", e.Kind, e.ToolMessage())
	}
	if len(data) > 100 {
		return fmt.Sprintf("%d %d bytes\n", resp.StatusCode, len(data))
	}
	return fmt.Sprintf("%d %q\n", resp.StatusCode, data)
}

func compose(t *testing.T, archive *txtar.Archive) (answer []byte, want string) {
	t.Helper()
	for _, f := range archive.Files {
		text := strings.TrimSuffix(string(f.Data), "\n")
		number, _ := strconv.Atoi(text)
		crlf := strings.ReplaceAll(text, "\n", "\r\n")
		switch f.Name {
		case "head":
			answer = append(answer, crlf+"\r\n\r\n"...)
		case "cut":
			answer = append(answer, crlf...)
		case "chunks":
			answer = append(answer, crlf+"\r\n"...)
		case "body":
			answer = append(answer, text...)
		case "gzip", "zlib", "flate":
			answer = append(answer, compress(t, f.Name, []byte(text))...)
		case "repeat":
			answer = append(answer, strings.Repeat("x", number)...)
		case "drop":
			answer = answer[:len(answer)-number]
		case "flip":
			answer[len(answer)-number] ^= 0xff
		case "want":
			want = string(f.Data)
		default:
			t.Fatalf("unknown section %q", f.Name)
		}
	}
	return answer, want
}

func compress(t testing.TB, format string, data []byte) []byte {
	t.Helper()
	var b bytes.Buffer
	var w io.WriteCloser
	switch format {
	case "gzip":
		w = gzip.NewWriter(&b)
	case "zlib":
		w = zlib.NewWriter(&b)
	case "flate":
		w, _ = flate.NewWriter(&b, flate.BestCompression)
	}
	if _, err := w.Write(data); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// listen serves raw connections on loopback until the test ends.
func listen(t testing.TB, serve func(net.Conn)) *url.URL {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		served := make(chan struct{})
		n := 0
		for {
			conn, err := l.Accept()
			if err != nil {
				break
			}
			n++
			go func() {
				serve(conn)
				conn.Close()
				served <- struct{}{}
			}()
		}
		for range n {
			<-served
		}
	}()
	t.Cleanup(func() {
		l.Close()
		timebox.Wait(t, done)
	})
	return &url.URL{Scheme: "http", Host: l.Addr().String(), Path: "/"}
}

// readRequest reads the head of a request without a body.
func readRequest(conn io.Reader) string {
	var head []byte
	b := make([]byte, 1)
	for !bytes.HasSuffix(head, []byte("\r\n\r\n")) {
		if _, err := conn.Read(b); err != nil {
			break
		}
		head = append(head, b...)
	}
	return string(head)
}

func get(t testing.TB, u *url.URL) *http.Request {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	t.Cleanup(cancel)
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, u.String(), nil)
	if err != nil {
		t.Fatal(err)
	}
	return req
}
