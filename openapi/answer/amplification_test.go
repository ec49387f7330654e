package answer

import (
	"bytes"
	"io"
	"net/http"
	"runtime"
	"strings"
	"testing"
	"time"

	"drawbridge/test/race"
	"drawbridge/test/timebox"
)

// TestHostileAnswers checks that the time for responses that are made to be slow to read is proportional to their size.
func TestHostileAnswers(t *testing.T) {
	size := race.Fewer(4<<20, 1<<18)
	p := NewCompiler(false).Compile(Declaration{Method: http.MethodGet})
	for media, texts := range map[string][]string{
		"text/html":                   {"<a b c ", "<!--", "<", "<a>", "</", "<script><!--", "<title>", "&amp", "<ol><li>a", "<pre>a\n", "<svg>", "<![CDATA[", "<?", "<h6>a", "\x00"},
		"multipart/mixed; boundary=-": {"-", "--a\r\n", "---\r\n", "\n--- \t"}, "multipart/mixed": {"--", "--a\r\n\r\n"}, "text/event-stream": {"data:\n", "\r", "id:1\ndata:a\n\n", "data: {}\n\n", "data: " + strings.Repeat("\x01", 1<<10) + "\n\n"},
		"application/json-seq": {"\x1e", "\x1e[]\n", "\x1e["}, "application/x-ndjson": {"1\n", "[\n", " \n"}, "text/plain; charset=iso-2022-jp": {"\x1b$B!!\x1b(B", "\x1b"},
	} {
		for _, text := range texts {
			body := []byte(strings.Repeat(text, size/len(text)))
			timebox.Processor(t, 3*time.Second, func() {
				n := 0
				resp := &http.Response{StatusCode: 500, Header: http.Header{"Content-Type": {media}}, ContentLength: -1, Body: io.NopCloser(bytes.NewReader(body))}
				err := readParts(p, resp, func(part Part) error { n += len(part.Data); return nil })
				if n > 4*size {
					t.Errorf("%s of %q became %d bytes", media, text, n)
				}
				_ = err // some are malformed, and yield an error
			})
		}
	}
}

// TestMadeIsBounded checks that the memory for any response is limited by its size.
func TestMadeIsBounded(t *testing.T) {
	const size = 4 << 20
	p := NewCompiler(false).Compile(Declaration{Method: http.MethodGet})
	for _, c := range []struct {
		media, text string
		times       float64 // multiple of its size, in addition to the memory of the response itself
		refused     bool
	}{
		{"text/event-stream", "\x01", 0, true}, {"text/event-stream event", "\x01", 0, true}, {"text/event-stream id", "\x01", 0, true}, {"text/event-stream", "\x1b[0m text", 2.5, false}, {"text/event-stream", `"`, 2.5, false},
		{"text/plain; charset=utf-16", "\x20\xac", 1.6, false}, {"text/plain; charset=windows-1252", "\x80", 3.1, false}, {"text/plain; charset=latin1", "\xe9", 2.1, false},
	} {
		field, rest := "data: ", ""
		if name, named := strings.CutPrefix(c.media, "text/event-stream "); named { // the field that contains it, in an event whose data are JSON
			c.media, field, rest = "text/event-stream", name+": ", "\ndata: 1"
		}
		body := []byte(field + strings.Repeat(c.text, size/len(c.text)) + rest + "\n\n")
		resp := &http.Response{StatusCode: 200, Header: http.Header{"Content-Type": {c.media}}, ContentLength: int64(len(body)), Body: io.NopCloser(bytes.NewReader(body))}
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		n := 0
		err := readParts(p, resp, func(part Part) error { n += len(part.Data); return nil })
		runtime.ReadMemStats(&after)
		const held = size + 2<<20 // including the buffer before the declared length is trusted
		if took := after.TotalAlloc - before.TotalAlloc; float64(took) > held+c.times*size && !race.Enabled {
			t.Errorf("%s of %q took %.1f MiB", c.media, c.text, float64(took)/(1<<20))
		}
		if refused := err != nil; refused != c.refused || !refused && n == 0 {
			t.Errorf("%s of %q: %d bytes, %v", c.media, c.text, n, err)
		}
	}
}
