package mcp

import (
	"bytes"
	"compress/flate"
	"compress/gzip"
	"fmt"
	"hash/crc32"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"
)

// TestCRCShift holds the checksum arithmetic against the definition: the sum of two
// texts is the sum of their concatenation, wherever they are cut.
func TestCRCShift(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(1, 2))
	text := make([]byte, 100_000)
	for i := range text {
		text[i] = byte(r.Uint32())
	}
	for range 200 {
		end := r.IntN(len(text) + 1)
		cut := r.IntN(end + 1)
		a, b := text[:cut], text[cut:end]
		got := crcMultiply(crcShift(len(b)), crc32.ChecksumIEEE(a)) ^ crc32.ChecksumIEEE(b)
		if want := crc32.ChecksumIEEE(text[:end]); got != want {
			t.Fatalf("%d+%d bytes: %08x, want %08x", len(a), len(b), got, want)
		}
	}
}

// TestStaticGzip holds that the spliced response is one gzip member, whose text is that of the plain response, for any
// id, the members of any revision, and any list.
func TestStaticGzip(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(3, 4))
	h := NewHandler(nil, Options{Name: "test", Version: "1"})
	for i := range 90 {
		id := fmt.Sprint(r.Uint64())
		if i%2 == 0 {
			id = `"` + strings.Repeat("é", r.IntN(maxID/2-1)) + `"`
		}
		s := NewPrecompressed(toolsList(r.IntN(100) * (i % 3)))
		if len(s.deflated) == 0 {
			t.Fatal("no compressed form")
		}
		family := RevisionFamily(1 + i%2)
		answer := func(encoding string) *http.Response {
			w := httptest.NewRecorder()
			x := newTestExchange(h, w, id, family)
			x.req.HTTP.Header.Set("Accept-Encoding", encoding)
			x.reply.Cache(Cache{TTL: time.Duration(i) * time.Second, Scope: Public})
			if err := x.reply.Precompressed(s); err != nil {
				t.Fatal(err)
			}
			return w.Result()
		}
		plain, packed := answer("identity"), answer("br, gzip")
		want, err := io.ReadAll(plain.Body)
		if err != nil {
			t.Fatal(err)
		}
		raw, err := io.ReadAll(packed.Body)
		if err != nil {
			t.Fatal(err)
		}
		if packed.Header.Get("Content-Encoding") != "gzip" || plain.Header.Get("Content-Encoding") != "" {
			t.Fatalf("headers %v and %v", plain.Header, packed.Header)
		}
		for _, c := range []struct {
			header http.Header
			length int
		}{{plain.Header, len(want)}, {packed.Header, len(raw)}} {
			if got := c.header.Get("Content-Length"); got != fmt.Sprint(c.length) {
				t.Fatalf("Content-Length %s of %d bytes", got, c.length)
			}
		}
		source := bytes.NewReader(raw)
		z, err := gzip.NewReader(source)
		if err != nil {
			t.Fatal(err)
		}
		z.Multistream(false)
		got, err := io.ReadAll(z) // checks sum and length
		if err != nil {
			t.Fatalf("id %s: %v", id, err)
		}
		if !bytes.Equal(got, want) {
			t.Fatalf("id %s: gzip holds %d bytes, the plain answer %d", id, len(got), len(want))
		}
		if source.Len() != 0 {
			t.Fatalf("%d bytes behind the first gzip member", source.Len())
		}
	}
}

// newTestExchange is an exchange that is about to call its method.
func newTestExchange(h *Handler, w http.ResponseWriter, id string, family RevisionFamily) *exchange {
	x := &exchange{h: h}
	x.reply.x = x
	x.req = Request{ID: []byte(id), Family: family, HTTP: &http.Request{Header: http.Header{}}}
	x.out = responseWriter{h: h, rw: w, controller: http.NewResponseController(w), pool: &h.buffers, stallTimeout: h.stallTimeout}
	return x
}

// toolsList makes a list of about 1 kB a tool.
func toolsList(n int) []byte {
	var b bytes.Buffer
	b.WriteString(`"tools":[`)
	for i := range n {
		if i > 0 {
			b.WriteByte(',')
		}
		fmt.Fprintf(&b, `{"name":"tool_%d","description":"Returns number %d. %s","inputSchema":{"type":"object","properties":{"id":{"type":"string"},"n%d":{"type":"integer"}}}}`,
			i, i, strings.Repeat("It does something useful. ", 30), i*7919)
	}
	b.WriteString(`]`)
	return b.Bytes()
}

// TestStaticAllocates holds that an answer costs the same for 1 tool and for 2,000.
func TestStaticAllocates(t *testing.T) {
	h := NewHandler(nil, Options{Name: "test", Version: "1"})
	for _, encoding := range []string{"", "gzip"} {
		var counts [2]float64
		for i, n := range []int{100, 2000} {
			s := NewPrecompressed(toolsList(n))
			w := &nullWriter{header: http.Header{}}
			counts[i] = testing.AllocsPerRun(50, func() {
				clear(w.header)
				x := newTestExchange(h, w, "1", Stateless)
				x.req.HTTP.Header["Accept-Encoding"] = []string{encoding}
				if err := x.reply.Precompressed(s); err != nil {
					t.Fatal(err)
				}
			})
		}
		if counts[1] > counts[0] || counts[1] > 20 {
			t.Errorf("encoding %q: %v allocations for 100 tools, %v for 2,000", encoding, counts[0], counts[1])
		}
	}
}

// nullWriter is a client that reads everything at once.
type nullWriter struct {
	header http.Header
	bytes  int
	writes int
}

func (w *nullWriter) Header() http.Header { return w.header }
func (w *nullWriter) WriteHeader(int)     {}

func (w *nullWriter) SetWriteDeadline(time.Time) error { return nil }

func (w *nullWriter) Write(b []byte) (int, error) {
	w.bytes += len(b)
	w.writes++
	return len(b), nil
}

func BenchmarkStatic(b *testing.B) {
	h := NewHandler(nil, Options{Name: "test", Version: "1"})
	s := NewPrecompressed(toolsList(2000))
	for _, encoding := range []string{"plain", "gzip"} {
		b.Run(encoding, func(b *testing.B) {
			w := &nullWriter{header: http.Header{}}
			b.ReportAllocs()
			for b.Loop() {
				clear(w.header)
				x := newTestExchange(h, w, "1", Stateless)
				x.req.HTTP.Header["Accept-Encoding"] = []string{encoding}
				if err := x.reply.Precompressed(s); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(w.bytes/b.N), "B/answer")
		})
	}
}

func BenchmarkNewStatic(b *testing.B) {
	list := toolsList(2000)
	b.SetBytes(int64(len(list)))
	for b.Loop() {
		NewPrecompressed(list)
	}
}

// TestDeflatePieces holds that what several cores compress is one stream, and that the pieces refer to what stands before them.
func TestDeflatePieces(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	words := make([]byte, deflateWindow/2)
	for i := range words {
		words[i] = 'a' + byte(r.IntN(26))
	}
	text := bytes.Repeat(words, 5*deflatePiece/len(words))
	for _, size := range []int{1, deflatePiece - 1, 2 * deflatePiece, 2*deflatePiece + 1, len(text)} {
		blocks, err := deflate(text[:size])
		if err != nil {
			t.Fatal(err)
		}
		if size > deflatePiece && len(blocks) > 2*deflateWindow {
			t.Errorf("%d bytes of a text that repeats itself take %d", size, len(blocks))
		}
		got, err := io.ReadAll(flate.NewReader(bytes.NewReader(append(blocks, 3, 0)))) // and a final block, which is empty
		if err != nil || !bytes.Equal(got, text[:size]) {
			t.Errorf("%d bytes come back as %d: %v", size, len(got), err)
		}
	}
}
