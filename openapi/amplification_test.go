package openapi

import (
	"bytes"
	"io"
	"net/http"
	"runtime"
	"strings"
	"testing"
	"time"

	"drawbridge/test/race"
)

// within runs f, which may take so much processor time.
func within(t *testing.T, limit time.Duration, f func()) {
	t.Helper()
	start := processorTime()
	f()
	if used := processorTime() - start; used > limit && !race.Enabled {
		t.Errorf("took %v of processor time, at most %v are right", used, limit)
	}
}

// Healing goes through a megabyte of arguments a few times at most, wherever in it the faults are (R8).
func TestHealingIsBounded(t *testing.T) {
	name := write(t, t.TempDir(), "spec.json", `{"openapi":"3.1.0","info":{"title":"a","version":"1"},"servers":[{"url":"http://h.test/"}],
		"components":{"schemas":{"D":{"type":"object","properties":{"d":{"$ref":"#/components/schemas/D"},"l":{"type":"array","items":{"type":"integer"}}}}}},
		"paths":{"/p":{"post":{"requestBody":{"content":{"application/json":{"schema":{"$ref":"#/components/schemas/D"}}}},"responses":{}}}}}`)
	doc, err := Load(t.Context(), name, LoadOptions{})
	if err != nil {
		t.Fatal(err)
	}
	api, err := doc.Compile(t.Context(), CompileOptions{})
	if err != nil {
		t.Fatal(err)
	}
	ones := strings.Repeat("1,", race.Fewer(500_000, 50_000))
	for _, tt := range []struct {
		name, args string
		accepted   bool
	}{
		{"faults among many values", `{"l":[` + strings.Repeat(`"1",`, 20) + ones + `1]}`, true},
		{"more faults than are healed", `{"l":[` + strings.Repeat(`"1",`, maxHealing*maxHealedFaults+1) + ones + `1]}`, false},
		{"the same in little", `{"l":[` + strings.Repeat(`"1",`, 100) + `1]}`, true},
		{"faults among many values, deep", strings.Repeat(`{"d":`, 59) + `{"l":[` + strings.Repeat(`"1",`, 20) + ones + `1]}` + strings.Repeat("}", 59), true},
		{"deep in a string", `{"d":"` + strings.ReplaceAll(strings.Repeat(`{"d":`, 150)+`{"l":[1]}`+strings.Repeat("}", 150), `"`, `\"`) + `"}`, true},
		{"too deep in a string", `{"d":"` + strings.Repeat("[", 1<<20) + `"}`, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			within(t, 4*time.Second, func() {
				if _, err := api.Operations[0].NewRequest(t.Context(), nil, []byte(tt.args)); (err == nil) != tt.accepted {
					t.Errorf("got %.200v", err)
				}
			})
		})
	}
}

// Pages and answers that are made to be slow to read are read in time that grows with their size alone. Of a page that
// repeats what viewers have, megabytes of patterns took six seconds.
func TestHostileMarkup(t *testing.T) {
	repeat := func(text string, size int) string { return strings.Repeat(text, size/len(text)) }
	most, script, size := race.Fewer(maxPage, maxPage>>4), race.Fewer(16<<20, 1<<20), race.Fewer(4<<20, 1<<18)
	for name, page := range map[string]string{
		"lists": "<script>redoc " + repeat("urls:[", most), "names": "<script>redoc " + repeat("a", most-1000) + repeat("url:'a',", 400),
		"documents": "<script>redoc " + repeat("url:'a',", most), "attributes": "<a " + repeat("b ", most), "scripts": repeat("<script>redoc url:'a'</script>", most),
		"spaces": "<script>redoc " + repeat(`"     `, most), "configurations": "<script>redoc " + repeat("configUrl='c';", most), "not closed": "<script>redoc " + repeat("url: '", most),
	} {
		t.Run("page of "+name, func(t *testing.T) {
			within(t, 3*time.Second, func() {
				var m mentions
				m.page([]byte(page))
				if len(m.documents) > maxNamed {
					t.Errorf("%d documents", len(m.documents))
				}
			})
		})
	}
	t.Run("script of embedded documents", func(t *testing.T) {
		within(t, 3*time.Second, func() { embedded([]byte(repeat("swaggerDoc ", script)), nil) })
		within(t, 3*time.Second, func() { embedded([]byte(repeat("swaggerDoc:{", script)), nil) })
	})
	o := &Operation{Method: http.MethodGet}
	o.buffers = &buffers{}
	for media, texts := range map[string][]string{
		"text/html":                   {"<a b c ", "<!--", "<", "<a>", "</", "<script><!--", "<title>", "&amp", "<ol><li>a", "<pre>a\n", "<svg>", "<![CDATA[", "<?", "<h6>a", "\x00"},
		"multipart/mixed; boundary=-": {"-", "--a\r\n", "---\r\n", "\n--- \t"}, "multipart/mixed": {"--", "--a\r\n\r\n"}, "text/event-stream": {"data:\n", "\r", "id:1\ndata:a\n\n", "data: {}\n\n", "data: " + strings.Repeat("\x01", 1<<10) + "\n\n"},
		"application/json-seq": {"\x1e", "\x1e[]\n", "\x1e["}, "application/x-ndjson": {"1\n", "[\n", " \n"}, "text/plain; charset=iso-2022-jp": {"\x1b$B!!\x1b(B", "\x1b"},
	} {
		for _, text := range texts {
			answer := []byte(repeat(text, size))
			within(t, 3*time.Second, func() {
				n := 0
				resp := &http.Response{StatusCode: 500, Header: http.Header{"Content-Type": {media}}, ContentLength: -1, Body: io.NopCloser(bytes.NewReader(answer))}
				err := o.ReadResponse(t.Context(), resp, func(p Part) error { n += len(p.Data); return nil })
				if n > 4*size {
					t.Errorf("%s of %q became %d bytes", media, text, n)
				}
				_ = err // some are malformed, and are told so
			})
		}
	}
}

// What is made of an answer takes memory as its size says, whatever stands in it.
func TestMadeIsBounded(t *testing.T) {
	const size = 4 << 20
	o := &Operation{Method: http.MethodGet}
	o.buffers = &buffers{}
	for _, c := range []struct {
		media, text string
		times       float64 // its size, above what it takes to hold it
		refused     bool
	}{
		{"text/event-stream", "\x01", 0, true}, {"text/event-stream event", "\x01", 0, true}, {"text/event-stream id", "\x01", 0, true}, {"text/event-stream", "\x1b[0m text", 2.5, false}, {"text/event-stream", `"`, 2.5, false},
		{"text/plain; charset=utf-16", "\x20\xac", 1.6, false}, {"text/plain; charset=windows-1252", "\x80", 3.1, false}, {"text/plain; charset=latin1", "\xe9", 2.1, false},
	} {
		field, rest := "data: ", ""
		if name, named := strings.CutPrefix(c.media, "text/event-stream "); named { // the field that holds it, of an event whose data are JSON
			c.media, field, rest = "text/event-stream", name+": ", "\ndata: 1"
		}
		answer := []byte(field + strings.Repeat(c.text, size/len(c.text)) + rest + "\n\n")
		resp := &http.Response{StatusCode: 200, Header: http.Header{"Content-Type": {c.media}}, ContentLength: int64(len(answer)), Body: io.NopCloser(bytes.NewReader(answer))}
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		n := 0
		err := o.ReadResponse(t.Context(), resp, func(p Part) error { n += len(p.Data); return nil })
		runtime.ReadMemStats(&after)
		const held = size + 2<<20 // with what it takes until the promise of its length is believed
		if took := after.TotalAlloc - before.TotalAlloc; float64(took) > held+c.times*size && !race.Enabled {
			t.Errorf("%s of %q took %.1f MiB", c.media, c.text, float64(took)/(1<<20))
		}
		if refused := err != nil; refused != c.refused || !refused && n == 0 {
			t.Errorf("%s of %q: %d bytes, %v", c.media, c.text, n, err)
		}
	}
}
