package mcp

import (
	"bytes"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"

	"drawbridge/openapi/jsonscan"
)

// FuzzLineReader holds that the reader gives what stands between line feeds, however the input arrives, and nothing of
// what is longer than the limit but its size.
func FuzzLineReader(f *testing.F) {
	f.Add([]byte("one\ntwo\r\n\n three"), uint8(5))
	f.Add([]byte(`{"id":1,"a":"xxxxxxxxxxxxxxxxxxxxxxxxxxx"}`+"\n{}\n"), uint8(8))
	f.Add([]byte("\n\n\n"), uint8(0))
	f.Add([]byte("\v\n\u00a0"), uint8(1)) // no white space of JSON, so no blank lines
	f.Fuzz(func(t *testing.T, input []byte, limit uint8) {
		// The reader's buffer is 64 KiB: lines that don't fit into it are the interesting ones.
		input = bytes.Replace(input, []byte("x"), bytes.Repeat([]byte("x"), 30_000), 4)
		size := int(limit) * 500
		r := newStdioReader(&chunked{input, int(limit)*97 + 1}, int64(size))
		for _, want := range bytes.Split(input, []byte("\n")) {
			if len(want) <= size && len(bytes.Trim(want, " \t\r")) == 0 { // the white space of JSON
				continue
			}
			got, err := r.next()
			if err != nil {
				t.Fatalf("%v in the place of %.100q", err, want)
			}
			if got.size != int64(len(want)) {
				t.Fatalf("size %d, want %d", got.size, len(want))
			}
			if len(want) > size {
				if got.text != nil {
					t.Fatalf("a line of %d bytes is held, limit %d", len(want), size)
				}
			} else if !bytes.Equal(got.text, want) {
				t.Fatalf("got %.100q, want %.100q", got.text, want)
			}
		}
		if got, err := r.next(); !errors.Is(err, io.EOF) {
			t.Fatalf("%.100q, %v after the last line", got.text, err)
		}
	})
}

// chunked gives its bytes in pieces of one size.
type chunked struct {
	rest []byte
	size int
}

func (c *chunked) Read(b []byte) (int, error) {
	if len(c.rest) == 0 {
		return 0, io.EOF
	}
	n := copy(b[:min(len(b), c.size)], c.rest)
	c.rest = c.rest[n:]
	return n, nil
}

// FuzzIDFinder holds that of a message that is JSON the finder tells the id that a parser finds, wherever it is cut.
func FuzzIDFinder(f *testing.F) {
	f.Add([]byte(`{"jsonrpc":"2.0","id":1,"method":"m"}`), uint(20))
	f.Add([]byte(`{ "a" : [ {"id":2} , "}\\" ] , "id" : "x\"y" }`), uint(3))
	f.Add([]byte(`{"id":{"id":1},"idx":[1,2]}`), uint(9))
	f.Add([]byte(`[{"id":1}]`), uint(1))
	f.Add([]byte(`{"id":[1]}{"id":2}`), uint(1))
	f.Add([]byte(`{"id":"]}"}`), uint(8))
	f.Fuzz(func(t *testing.T, message []byte, cut uint) {
		var finder idFinder
		at := int(cut % uint(len(message)+1))
		finder.feed(message[:at])
		finder.feed(message[at:])
		got := finder.id()
		if got != nil && !validID(got) {
			t.Fatalf("%q is no id", got)
		}
		info, err := jsonscan.Scan(message, jsonscan.Options{Unique: true})
		if err != nil || bytes.Contains(message, []byte(`\u`)) { // names that are written otherwise are not recognized
			return
		}
		var want []byte
		if info.Kind == jsonscan.Object {
			want = jsonscan.Lookup(message, "id")
		}
		if !validID(want) {
			want = nil
		}
		if !bytes.Equal(got, want) {
			t.Fatalf("found %q, the id is %q", got, want)
		}
	})
}

// FuzzLineAnswer holds that an event stream becomes lines, each the data of one event, wherever its writes are cut.
func FuzzLineAnswer(f *testing.F) {
	f.Add("one", "two", uint(4), true)
	f.Add("", "data: x", uint(1), true)
	f.Add("{}\r\n", " ", uint(2), false)
	f.Fuzz(func(t *testing.T, first, second string, cut uint, events bool) {
		var out bytes.Buffer
		a := &stdioResponse{out: &stdioWriter{w: &out}, header: make(http.Header)}
		text, want := first+second, ""
		if events {
			first, second = unbroken.Replace(first), unbroken.Replace(second)
			text = keepAliveComment + "event: message\ndata: " + first + eventEnd + "id: 7\nretry: 1\n" + keepAliveComment + eventStart + second + eventEnd
			for _, data := range []string{first, second} {
				if data != "" {
					want += data + "\n"
				}
			}
			a.header.Set("Content-Type", "text/event-stream")
		} else if want = unbroken.Replace(text); want != "" {
			want += "\n"
		}
		a.WriteHeader(http.StatusOK)
		at := int(cut % uint(len(text)+1))
		for _, piece := range []string{text[:at], text[at:]} {
			if n, err := a.Write([]byte(piece)); n != len(piece) || err != nil {
				t.Fatal(n, err)
			}
		}
		a.endLine()
		if out.String() != want {
			t.Fatalf("%q became %q, want %q", text, out.String(), want)
		}
		if !a.out.mu.TryLock() {
			t.Fatal("the output is still held")
		}
	})
}

var unbroken = strings.NewReplacer("\n", "", "\r", "")
