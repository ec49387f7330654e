package mcp

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"drawbridge/test/race"
)

// TestResultIsExact holds that a result of any size and any text arrives as
// encoding/json would have written it, in JSON and as an event.
func TestResultIsExact(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(5, 6))
	h := NewHandler(nil, Options{Name: "test", Version: "1"})
	alphabet := []rune("abc \"\\/\n\r\t\x00\x1f\u2028é😀<&>")
	for i := range race.Fewer(60, 15) {
		size := r.IntN(100)
		if i%3 == 0 {
			size = r.IntN(200_000)
		}
		var b strings.Builder
		for b.Len() < size {
			b.WriteRune(alphabet[r.IntN(len(alphabet))])
		}
		text := b.String()
		structured, err := json.Marshal(map[string]string{"text": text})
		if err != nil {
			t.Fatal(err)
		}
		for _, event := range []bool{false, true} {
			w := httptest.NewRecorder()
			x := newTestExchange(h, w, "1", Legacy)
			x.out.event = event
			err := x.reply.Result(
				Chunk{Bytes: []byte("\"text\":\"")}, Chunk{Bytes: []byte(text), Escape: true},
				Chunk{Bytes: []byte("\",\r\n\"structuredContent\":")}, Chunk{Bytes: structured})
			if err != nil {
				t.Fatal(err)
			}
			body := w.Body.Bytes()
			if event {
				data, starts := bytes.CutPrefix(body, []byte(eventStart))
				data, ends := bytes.CutSuffix(data, []byte(eventEnd))
				if !starts || !ends || bytes.ContainsAny(data, "\r\n") {
					t.Fatalf("not one event: %.100q", body)
				}
				body = data
			}
			var got struct {
				Result struct {
					Text              string
					StructuredContent struct{ Text string }
				}
			}
			if err := json.Unmarshal(body, &got); err != nil {
				t.Fatal(err)
			}
			if got.Result.Text != text || got.Result.StructuredContent.Text != text {
				t.Fatalf("%d bytes of text changed on the way", len(text))
			}
			if length := w.Result().Header.Get("Content-Length"); length != "" && length != fmt.Sprint(w.Body.Len()) {
				t.Fatalf("Content-Length %s of %d bytes", length, w.Body.Len())
			}
		}
	}
}

// TestResultOnce holds that a request is answered once.
func TestResultOnce(t *testing.T) {
	t.Parallel()
	h := NewHandler(nil, Options{})
	w := httptest.NewRecorder()
	x := newTestExchange(h, w, "1", Legacy)
	if err := x.reply.Result(); err != nil {
		t.Fatal(err)
	}
	if err := x.reply.Result(); !errors.Is(err, errAnswered) {
		t.Errorf("second Result: %v", err)
	}
	if err := x.reply.Precompressed(NewPrecompressed([]byte(`"a":1`))); !errors.Is(err, errAnswered) {
		t.Errorf("Static after Result: %v", err)
	}
	if got := w.Body.String(); got != `{"jsonrpc":"2.0","id":1,"result":{}}` {
		t.Errorf("body %s", got)
	}
}

// failingWriter is a connection that breaks after some bytes.
type failingWriter struct {
	nullWriter
	left int
}

func (w *failingWriter) Write(b []byte) (int, error) {
	if w.left -= len(b); w.left < 0 {
		return 0, io.ErrClosedPipe
	}
	return len(b), nil
}

// TestResultReportsBrokenConnections holds that a method learns that its answer did
// not arrive, and that nothing is written after that.
func TestResultReportsBrokenConnections(t *testing.T) {
	t.Parallel()
	h := NewHandler(nil, Options{})
	w := &failingWriter{nullWriter: nullWriter{header: map[string][]string{}}, left: 100_000}
	x := newTestExchange(h, w, "1", Legacy)
	if err := x.reply.Result(Chunk{Bytes: bytes.Repeat([]byte("x"), 1<<20), Escape: true}); !errors.Is(err, io.ErrClosedPipe) {
		t.Errorf("error %v", err)
	}
	if x.out.pooled != nil {
		t.Error("the buffer was not given back")
	}
}

func BenchmarkResult(b *testing.B) {
	for _, size := range []int{1 << 10, 256 << 10} {
		document := []byte(`{"items":[`)
		for len(document) < size {
			document = append(document, `{"id":"a-1234567890","name":"A customer \"quoted\"","total":12.50,"open":true},`...)
		}
		document = append(document[:len(document)-1], `]}`...)
		b.Run(fmt.Sprintf("%dKiB", size>>10), func(b *testing.B) {
			h := NewHandler(nil, Options{Name: "test", Version: "1"})
			w := &nullWriter{header: map[string][]string{}}
			b.SetBytes(int64(len(document)))
			b.ReportAllocs()
			for b.Loop() {
				x := newTestExchange(h, w, "1", Stateless)
				err := x.reply.Result(
					Chunk{Bytes: []byte(`"content":[{"type":"text","text":"`)}, Chunk{Bytes: document, Escape: true},
					Chunk{Bytes: []byte(`"}],"structuredContent":`)}, Chunk{Bytes: document})
				if err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(w.writes)/float64(b.N), "writes/op")
		})
	}
}

// TestPanicInsideAnAnswer: an answer that broke off half-way must not look whole.
func TestPanicInsideAnAnswer(t *testing.T) {
	t.Parallel()
	h := NewHandler(Methods{"x": func(_ context.Context, _ *Request, reply *Reply) error {
		w := &reply.x.out
		w.begin(http.StatusOK)
		w.writeEscaped(bytes.Repeat([]byte("x"), 2*maxHeld))
		panic("half-way")
	}}, Options{})
	w := httptest.NewRecorder()
	x := newTestExchange(h, w, "1", Stateless)
	defer func() {
		if v := recover(); v != any(http.ErrAbortHandler) {
			t.Errorf("the connection is not broken off: %v", v)
		}
	}()
	x.call(t.Context(), h.methods["x"])
}
