package mcp

import (
	"bytes"
	"io"
	"net"
	"net/http/httputil"
	"testing"
	"time"
)

// keptConn keeps what is written to it.
type keptConn struct {
	net.Conn
	bytes.Buffer
}

func (c *keptConn) Write(b []byte) (int, error) { return c.Buffer.Write(b) }
func (c *keptConn) Read(b []byte) (int, error)  { return c.Buffer.Read(b) }
func (c *keptConn) Close() error                { return nil }

func (c *keptConn) SetWriteDeadline(time.Time) error { return nil }

// FuzzChunks holds that everything written to a hijacked connection is what a reader of chunks finds there, in however
// many pieces, and that only the end ends it.
func FuzzChunks(f *testing.F) {
	f.Add([]byte("data: {}\n\n"), uint8(3))
	f.Add([]byte("0\r\n\r\n"), uint8(0))
	f.Add(bytes.Repeat([]byte("a"), 5000), uint8(200))
	f.Fuzz(func(t *testing.T, text []byte, at uint8) {
		kept := &keptConn{}
		c := &hijackedConn{Conn: kept}
		first := min(int(at), len(text))
		for _, piece := range [][]byte{text[:first], nil, text[first:]} {
			if n, err := c.Write(piece); n != len(piece) || err != nil {
				t.Fatal(n, err)
			}
		}
		if got, err := io.ReadAll(httputil.NewChunkedReader(bytes.NewReader(kept.Bytes()))); err == nil || !bytes.Equal(got, text) {
			t.Fatalf("before the end: %q, %v", got, err)
		}
		x := &exchange{continuation: &continuation{conn: c}}
		x.closeHijacked()
		if got, err := io.ReadAll(httputil.NewChunkedReader(&kept.Buffer)); err != nil || !bytes.Equal(got, text) {
			t.Fatalf("%q became %q, %v", text, got, err)
		}
	})
}
