package answer

import (
	"bytes"
	"errors"
	"io"
	"net/http"
	"reflect"
	"slices"
	"strings"
	"testing"
	"testing/iotest"
	"unicode/utf8"

	"drawbridge/openapi/mediatype"
)

// watched returns the events that are reported for a response that arrives in these pieces.
func watched(t testing.TB, media string, most int, pieces ...[]byte) (seen []string) {
	t.Helper()
	var readers []io.Reader
	for _, p := range pieces {
		readers = append(readers, bytes.NewReader(p))
	}
	resp := &http.Response{Header: http.Header{"Content-Type": {media}}, Body: io.NopCloser(io.MultiReader(readers...))}
	if !(&Plan{}).OnEvent(resp, func(event []byte) bool {
		if event == nil {
			seen = append(seen, "(long)")
		} else {
			seen = append(seen, string(event))
		}
		return true
	}) {
		t.Fatalf("%s is not watched", media)
	}
	resp.Body.(scannedBody).scanner.limit = most
	all, err := io.ReadAll(resp.Body)
	if err != nil || !bytes.Equal(all, bytes.Join(pieces, nil)) {
		t.Fatalf("read %q, %v", all, err)
	}
	return seen
}

// TestOnEvent checks the events of each media type.
func TestOnEvent(t *testing.T) {
	for _, c := range []struct {
		media, stream string
		want          []string
	}{
		{"application/x-ndjson", "{\"a\":1}\n\n \r\n[2]\r\nno JSON\n3", []string{`{"a":1}`, "[2]", "no JSON", "3"}},
		{"application/jsonl; charset=UTF-8", "\xef\xbb\xbf1\n2\n", []string{"1", "2"}},
		{"application/jsonl", "\xef\xbb1\n", []string{"\xef\xbb1"}},
		{"application/json-seq", "\x1e{\"a\":\n\"\\\"}\n\"}\n\x1e\n\x1e1\n 2 \x1e[3]\x1e4", []string{"{\"a\":\n\"\\\"}\n\"}", "1", "[3]", "4"}},
		{"text/event-stream", "event: x\ndata: {\"a\":\ndata: 1}\n\n:comment\n\nid: 7\n\ndata:two\r\n\r\ndata: three\rdata\r\rdata\ndata: 4\n\ndata: [DONE]\n\ndata: last",
			[]string{"{\"a\":\n1}", "two", "three\n", "4", "last"}},
		{"text/event-stream", "data: " + strings.Repeat("x", 200) + "\n\ndata: 1\ndata: " + strings.Repeat("y", 95) + "\ndata: z\n\n: " + strings.Repeat("z", 200) + "\ndata: 2\n\n",
			[]string{"(long)", "(long)", "2"}},
		{"application/x-ndjson", strings.Repeat("x", 101) + "\n" + strings.Repeat("y", 100) + "\nz", []string{"(long)", strings.Repeat("y", 100), "z"}},
		{"application/json-seq", "\x1e\"" + strings.Repeat("x", 200) + "\"\n\x1e1\n", []string{"(long)", "1"}},
	} {
		for name, got := range map[string][]string{
			"at once": watched(t, c.media, 100, []byte(c.stream)),
			"bytes":   watched(t, c.media, 100, slices.Collect(slices.Chunk([]byte(c.stream), 1))...),
		} {
			if !slices.Equal(got, c.want) {
				t.Errorf("%s %.60q %s: %q, want %q", c.media, c.stream, name, got, c.want)
			}
		}
	}
}

// TestOnEventLeavesAlone checks that only streams of events are reported, that false ends the reports, and that an
// interrupted response has no last event.
func TestOnEventLeavesAlone(t *testing.T) {
	body := io.NopCloser(strings.NewReader("1\n2\n3"))
	p := &Plan{}
	for _, media := range []string{"", "application/json", "application/octet-stream", "text/plain", "application/jsonl; charset=utf-16le"} {
		resp := &http.Response{Header: http.Header{"Content-Type": {media}}, Body: body}
		if p.OnEvent(resp, func([]byte) bool { t.Error("an event"); return true }) || resp.Body != body {
			t.Errorf("%q is watched", media)
		}
	}
	p.success.media = "application/jsonl"
	for _, more := range []bool{true, false} {
		seen := 0
		resp := &http.Response{Header: http.Header{}, Body: io.NopCloser(io.MultiReader(strings.NewReader("1\n2\n3"), iotest.ErrReader(errors.New("broken"))))}
		if !p.OnEvent(resp, func([]byte) bool { seen++; return more }) {
			t.Fatal("what the document promises is not watched")
		}
		_, _ = io.ReadAll(resp.Body)
		if want := map[bool]int{true: 2, false: 1}[more]; seen != want {
			t.Errorf("%d events, want %d", seen, want)
		}
	}
}

// FuzzOnEvent checks that the events are the same for any split of the stream into pieces, and that they are those of
// the whole response.
func FuzzOnEvent(f *testing.F) {
	medias := [...]string{mediatype.EventStream, "application/x-ndjson", "application/json-seq"}
	f.Add(uint8(0), []byte("\xef\xbb\xbfdata: {\"a\":1}\r\n\r\nid: 1\ndata:\ndata: 2\r\rdata: [DONE]\n\ndata:x"), uint16(3), uint16(7))
	f.Add(uint8(1), []byte("{\"a\":1}\n\r\n2\n3"), uint16(2), uint16(9))
	f.Add(uint8(2), []byte("\x1e{\"a\":\n\"\\\"\"}\n\x1e2\n"), uint16(2), uint16(5))
	f.Fuzz(func(t *testing.T, kind uint8, stream []byte, first, second uint16) {
		media := medias[int(kind)%len(medias)]
		one, two := min(int(first), len(stream)), min(int(first)+int(second), len(stream))
		whole := watched(t, media, maxEvent, stream)
		for _, limit := range []int{maxEvent, 8} {
			at := watched(t, media, limit, stream)
			if parted := watched(t, media, limit, stream[:one], stream[one:two], stream[two:]); !slices.Equal(at, parted) {
				t.Fatalf("limit %d: %q\nin pieces: %q", limit, at, parted)
			}
			if bytewise := watched(t, media, limit, slices.Collect(slices.Chunk(stream, 1))...); !slices.Equal(at, bytewise) {
				t.Fatalf("limit %d: %q\nin bytes: %q", limit, at, bytewise)
			}
		}
		if !utf8.Valid(stream) || len(stream) > maxEvent {
			return
		}
		var want []string
		data := bytes.TrimPrefix(stream, []byte(byteOrderMark))
		switch {
		case media == mediatype.EventStream:
			for ev := range events(data, true) {
				if string(ev.data) != endOfEvents {
					want = append(want, string(ev.data))
				}
			}
		case mediatype.IsJSONLines(media):
			for text := range lines(data) {
				want = append(want, string(text))
			}
		default:
			return // a text of a sequence that is not JSON may differ
		}
		if !reflect.DeepEqual(whole, want) {
			t.Fatalf("seen %q\nread %q", whole, want)
		}
	})
}
