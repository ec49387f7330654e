package filetool

import (
	"context"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/prometheus/client_golang/prometheus"

	"drawbridge/gateway/filestore"
)

// file stores a content and opens it.
func file(t testing.TB, name, mediaType, content string) *filestore.Reader {
	t.Helper()
	s, err := filestore.New(filestore.Options{Dir: t.TempDir(), Secrets: [][]byte{[]byte(strings.Repeat("k", 32))}, Logger: slog.New(slog.DiscardHandler), Metrics: prometheus.NewRegistry(),
		Limits: filestore.Limits{TTL: time.Hour, MaxSize: 1 << 30, Quota: 1 << 30, Total: 1 << 30}})
	if err != nil {
		t.Fatal(err)
	}
	w, err := s.Create("ada")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := w.Write([]byte(content)); err != nil {
		t.Fatal(err)
	}
	stored, err := w.Commit(filestore.Metadata{Name: name, MediaType: mediaType})
	if err != nil {
		t.Fatal(err)
	}
	r, err := s.Open("ada", stored.ID)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = r.Close() })
	return r
}

// TestSlice holds which part of a file a call gets, and that it learns how to get the rest.
func TestSlice(t *testing.T) {
	var rows strings.Builder
	rows.WriteString("id,name\n")
	for n := range 5000 {
		fmt.Fprintf(&rows, "%d,Chair %d\r\n", n+1, n+1)
	}
	csv := file(t, "../chairs.csv", "text/csv", rows.String())
	long := file(t, "", "text/plain", strings.Repeat("ä", 5000)+"\nshort")
	binary := file(t, "a.zip", "application/zip", "PK\x03\x04\x00\x01\xff")
	empty := file(t, "", "text/plain", "")
	for _, tt := range []struct {
		f          *filestore.Reader
		args       string
		begin, end string
	}{
		{csv, `"lines":"2-3"`, "../chairs.csv (text/csv, 82794 bytes), lines 2 to 3:\nid,name\n1,Chair 1\n2,Chair 2", "2,Chair 2"},
		{csv, `"lines":5001`, "../chairs.csv (text/csv, 82794 bytes), lines 5001 to 5001:\nid,name\n5000,Chair 5000", "The file ends with line 5001."},
		{csv, `"lines":"9000-"`, "../chairs.csv (text/csv, 82794 bytes) has no such line.", "The file ends with line 5001."},
		{csv, ``, "../chairs.csv (text/csv, 82794 bytes), lines 1 to 1162:\nid,name\n1,Chair 1\n", "More: lines 1163-"},
		{csv, `"contains":"chair 4999"`, "../chairs.csv (text/csv, 82794 bytes), 1 lines contain \"chair 4999\":\nid,name\n5000: 4999,Chair 4999", "The file ends with line 5001."},
		{csv, `"contains":"CHAIR","lines":"4990-"`, "../chairs.csv (text/csv, 82794 bytes), 12 lines contain", "The file ends with line 5001."},
		{csv, `"bytes":"0-6"`, "../chairs.csv (text/csv, 82794 bytes), bytes 0 to 6:\nid,name", "id,name"},
		{csv, `"bytes":"90000-"`, "../chairs.csv (text/csv, 82794 bytes) has no byte 90000.", ""},
		{csv, `"bytes":"0-"`, "../chairs.csv (text/csv, 82794 bytes), bytes 0 to 16383:\nid,name", "More: bytes 16384-"},
		{long, `"lines":"1-"`, "text/plain, 10006 bytes, lines 1 to 2:\nää", "…\nshort\nThe file ends with line 2."},
		{binary, ``, "a.zip (application/zip, 7 bytes) is not text.", "or tell the user of it."},
		{binary, `"bytes":"0-3"`, "a.zip (application/zip, 7 bytes), bytes 0 to 3:\n00000000  50 4b 03 04", "|PK..|\n"},
		{empty, ``, "text/plain, 0 bytes has no such line.", "The file ends with line 0."},
	} {
		args := `{"uri":"` + tt.f.URI() + `"`
		if tt.args != "" {
			args += "," + tt.args
		}
		r, err := ParseRequest([]byte(args + "}"))
		if err != nil {
			t.Error(tt.args, err)
			continue
		}
		got, err := Slice(t.Context(), tt.f, r)
		if err != nil || !strings.HasPrefix(got, tt.begin) || !strings.HasSuffix(got, tt.end) {
			t.Errorf("%s: %v\n%.300s\n…%s", tt.args, err, got, got[max(0, len(got)-80):])
		}
		if len(got) > maxText+maxLine+200 {
			t.Errorf("%s: %d bytes", tt.args, len(got))
		}
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	r, _ := ParseRequest([]byte(`{"uri":"` + csv.URI() + `","contains":"nothing"}`))
	if got, err := Slice(ended, csv, r); err != nil || !strings.HasSuffix(got, "The time is over. More: lines 1-") {
		t.Errorf("%q, %v", got, err)
	}
}

// TestWrongRequest holds that all faults of the arguments are named.
func TestWrongRequest(t *testing.T) {
	for args, want := range map[string]string{
		`{}`: "uri must be that of a file", `{"uri":"file:///etc/passwd"}`: "uri must be that of a file",
		`{"uri":"drawbridge-file:abcdefghijklmnop","lines":"0-3"}`:                "lines must be a range",
		`{"uri":"drawbridge-file:abcdefghijklmnop","lines":"5-3"}`:                "lines must be a range",
		`{"uri":"drawbridge-file:abcdefghijklmnop","bytes":"-3"}`:                 "bytes must be a range",
		`{"uri":"drawbridge-file:abcdefghijklmnop","bytes":"0-3","contains":"x"}`: "bytes excludes lines and contains",
		`{"uri":"drawbridge-file:abcdefghijklmnop","contains":{}}`:                "contains must be a string",
		`{"uri":7,"lines":[]}`: "lines must be a string",
		`{"uri":"drawbridge-file:abcdefghijklmnop","bytes":"0-99999999999999999999999"}`: "bytes must be a range",
	} {
		if _, err := ParseRequest([]byte(args)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", args, err)
		}
	}
	if r, err := ParseRequest([]byte(`{"uri":"drawbridge-file:abcdefghijklmnop?bytes=10-19"}`)); err != nil || r.Bytes == nil || *r.Bytes != (Range{10, 19}) {
		t.Errorf("%+v, %v", r, err)
	}
}

// endlessLine is a text without an end of a line. It ends the time of the call that reads on.
type endlessLine struct {
	cancel func()
	read   int64
}

// ReadAt implements [io.ReaderAt].
func (e *endlessLine) ReadAt(p []byte, _ int64) (int, error) {
	for i := range p {
		p[i] = 'x'
	}
	if e.read += int64(len(p)); e.read > 1<<20 {
		e.cancel()
	}
	return len(p), nil
}

// TestEndlessLine holds that a line is read no longer than the call has time, and that the call says how to go on.
func TestEndlessLine(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	from := &endlessLine{cancel: cancel}
	f := &filestore.Reader{ReaderAt: from, File: filestore.File{Size: 1 << 30, Metadata: filestore.Metadata{MediaType: "text/plain"}}}
	got, err := Slice(ctx, f, Request{ID: "abcdefghijklmnop", Lines: Range{1, 1 << 40}, Contains: "y"})
	if err != nil || from.read > 4<<20 || !strings.Contains(got, "The time is over in line 1, which is too long: use bytes") {
		t.Errorf("%d bytes were read: %.300s, %v", from.read, got, err)
	}
}

// FuzzSlice holds that an answer is small, whatever the file and the range.
func FuzzSlice(f *testing.F) {
	f.Add("a\nb\n", "1-2", "", "")
	f.Add("\xff\x00", "", "", "0-1")
	f.Add(strings.Repeat("x", 20000), "", "X", "")
	f.Add(strings.Repeat("ä,", 2000)+"\n1\n2\n", "3-3", "", "")
	f.Fuzz(func(t *testing.T, content, lines, contains, bytes string) {
		r := Request{ID: "abcdefghijklmnop", Contains: contains}
		var ok bool
		if r.Lines, ok = parseRange(lines); !ok || r.Lines.First < 1 {
			r.Lines = Range{1, 1 << 40}
		}
		if within, ok := parseRange(bytes); ok {
			r.Bytes = &within
		}
		in := &filestore.Reader{ReaderAt: strings.NewReader(content), File: filestore.File{Size: int64(len(content)), Metadata: filestore.Metadata{MediaType: "text/csv"}}}
		got, err := Slice(t.Context(), in, r)
		if err != nil {
			t.Error(err)
		}
		if len(got) > 2*maxText || !utf8.ValidString(got) {
			t.Errorf("%d bytes, UTF-8: %v", len(got), utf8.ValidString(got))
		}
	})
}
