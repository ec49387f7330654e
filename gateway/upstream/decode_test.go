package upstream

import (
	"bytes"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"

	"drawbridge/test/timebox"
)

// TestEndlessNothing: a compressed stream that goes on and holds nothing is cut at the limit of the answer, as one that holds something is.
func TestEndlessNothing(t *testing.T) {
	for _, c := range []struct {
		name, coding string
		head, piece  []byte
	}{
		{"members", "gzip", nil, compress(t, "gzip", nil)},
		{"blocks", "deflate", nil, []byte{0, 0, 0, 0xff, 0xff}},
		{"blocks of zlib", "deflate", []byte{0x78, 0x9c}, []byte{0, 0, 0, 0xff, 0xff}},
	} {
		t.Run(c.name, func(t *testing.T) {
			gone := make(chan int64)
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Content-Encoding", c.coding)
				_, _ = w.Write(c.head)
				sent := int64(0)
				for piece := bytes.Repeat(c.piece, 1000); sent < 64<<20; sent += int64(len(piece)) {
					if _, err := w.Write(piece); err != nil {
						break
					}
				}
				gone <- sent
			}))
			defer server.Close()
			client := newClient(Options{Name: "orders", BaseURL: parse(t, server.URL), MaxBytes: 64 << 10})
			defer client.Close()
			done := make(chan string)
			go func() { done <- outcome(client, get(t, parse(t, server.URL))) }()
			if sent := timebox.Receive(t, gone); sent >= 64<<20 {
				t.Errorf("%d bytes were taken", sent)
			}
			if diff := cmp.Diff("too_large\n"+largeMessage+"\n", timebox.Receive(t, done)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// TestContentEncodingsThatAreNone holds that a word which names no content coding is ignored and counted, in answers and errors, and that one
// which names a coding that is not read is refused. (pains row 123)
func TestContentEncodingsThatAreNone(t *testing.T) {
	plain, packed := []byte(`{"a":1}`), compress(t, "gzip", []byte(`{"a":1}`))
	for encoding, tt := range map[string]struct {
		body []byte
		odd  int
		want string // the start of the outcome
	}{
		"UTF-8":                {plain, 1, `%d "{\"a\":1}"`},
		"none":                 {plain, 1, `%d "{\"a\":1}"`},
		"binary":               {plain, 1, `%d "{\"a\":1}"`},
		"7bit":                 {plain, 1, `%d "{\"a\":1}"`},
		"iso-8859-1":           {plain, 1, `%d "{\"a\":1}"`},
		"aws-chunked":          {plain, 1, `%d "{\"a\":1}"`},
		"aws-chunked,gzip":     {packed, 1, `%d "{\"a\":1}"`},
		"gzip, UTF-8":          {packed, 1, `%d "{\"a\":1}"`},
		"identity, , Identity": {plain, 0, `%d "{\"a\":1}"`},
		"br":                   {plain, 0, "protocol\n"},
		"utf-8, zstd":          {plain, 0, "protocol\n"},
		"gzip, utf-8, deflate": {packed, 0, "protocol\n"},
	} {
		for _, status := range []int{http.StatusOK, http.StatusBadRequest} {
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Content-Encoding", encoding)
				w.WriteHeader(status)
				_, _ = w.Write(tt.body)
			}))
			odd := 0
			client := newClient(Options{Name: "orders", BaseURL: parse(t, server.URL), OnUnknownCoding: func() { odd++ }})
			want := strings.ReplaceAll(tt.want, "%d", strconv.Itoa(status))
			if got := outcome(client, get(t, parse(t, server.URL))); !strings.HasPrefix(got, want) || odd != tt.odd {
				t.Errorf("%s with %d: %s, counted %d, want %s, %d", encoding, status, got, odd, want, tt.odd)
			}
			client.Close()
			server.Close()
		}
	}
}

// FuzzDecode: whatever comes in, the decoder ends, with the whole of what a
// compressor wrote or with an error of a known kind; and one that was used for
// something else before gives the same.
func FuzzDecode(f *testing.F) {
	for _, format := range []string{"gzip", "zlib", "flate"} {
		data := compress(f, format, []byte(`{"id":1,"name":"a name, a name, a name"}`))
		f.Add(data, uint8(len(data)))
		f.Add(data[:len(data)-3], uint8(3))
		f.Add(append(data, 'x'), uint8(1))
		f.Add(append(data, data...), uint8(0))
	}
	f.Add([]byte("plain"), uint8(2))
	f.Add([]byte{}, uint8(0))
	var pool decoderPool
	decode := func(t *testing.T, c coding, source io.Reader) ([]byte, error) {
		d := pool.get(c, source, 1<<20)
		defer pool.put(d)
		data, err := io.ReadAll(io.LimitReader(d, 1<<20))
		var broken *corruptError
		if err != nil && !errors.Is(err, io.ErrUnexpectedEOF) && !errors.As(err, &broken) {
			t.Fatalf("%d: %v", c, err)
		}
		return data, err
	}
	f.Fuzz(func(t *testing.T, data []byte, n uint8) {
		for _, c := range []coding{gzipped, deflated} {
			once, err1 := decode(t, c, bytes.NewReader(data))
			again, err2 := decode(t, c, iotest.OneByteReader(bytes.NewReader(data)))
			if !bytes.Equal(once, again) || (err1 == nil) != (err2 == nil) {
				t.Fatalf("%d: %q (%v), then %q (%v)", c, once, err1, again, err2)
			}
			decode(t, c, bytes.NewReader(data[:min(int(n), len(data))]))
		}
		for _, format := range []string{"gzip", "zlib", "flate"} {
			packed := compress(t, format, data)
			c := deflated
			if format == "gzip" {
				c = gzipped
			}
			back, err := decode(t, c, bytes.NewReader(packed))
			if err != nil || !bytes.Equal(back, data) {
				t.Fatalf("%s: %q became %q (%v)", format, data, back, err)
			}
			if cut := 1 + int(n)%len(packed); cut < len(packed) {
				if _, err := decode(t, c, bytes.NewReader(packed[:len(packed)-cut])); err == nil {
					t.Fatalf("%s: accepted without its last %d bytes", format, cut)
				}
			}
		}
	})
}
