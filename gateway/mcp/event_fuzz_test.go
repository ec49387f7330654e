package mcp

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	"drawbridge/openapi/jsonscan"
)

// readEvents reads an event stream by the rules of the HTML standard (section 9.2.6):
// lines end with CR LF, LF or CR, and one that starts with a colon is a comment.
func readEvents(stream string) (messages []string) {
	var data []string
	stream = strings.ReplaceAll(strings.ReplaceAll(stream, "\r\n", "\n"), "\r", "\n")
	for line := range strings.SplitSeq(stream, "\n") {
		field, value, _ := strings.Cut(line, ":")
		switch {
		case line == "":
			if data != nil {
				messages = append(messages, strings.Join(data, "\n"))
			}
			data = nil
		case field == "data":
			data = append(data, strings.TrimPrefix(value, " "))
		}
	}
	return messages
}

// FuzzEvents holds that what is written into an event stream is what a client reads
// there: each message as a whole, whatever is in it.
func FuzzEvents(f *testing.F) {
	f.Add("a text\n\ndata: x\r\n:", "{\"a\":\r\n[1,\n2]}", uint8(2))
	f.Add("", "null", uint8(0))
	f.Add("\u2028\x00\"\\", `"data: \u000a"`, uint8(3))
	f.Fuzz(func(t *testing.T, text, value string, comments uint8) {
		if _, err := jsonscan.Scan([]byte(value), jsonscan.Options{Unique: true, MaxDepth: 64}); err != nil {
			return
		}
		text = strings.ToValidUTF8(text, "?")
		h := NewHandler(nil, Options{})
		x, w := newLive(h, Legacy)
		params := []Chunk{{Bytes: []byte(`"text":"`)}, {Bytes: []byte(text), Escape: true}, {Bytes: []byte(`","value":`)}, {Bytes: []byte(value)}}
		for range 2 {
			if err := x.reply.Notify("n", params...); err != nil {
				t.Fatal(err)
			}
			for range comments % 4 {
				if err := x.out.sendComment(); err != nil {
					t.Fatal(err)
				}
			}
		}
		if err := x.reply.Result(params...); err != nil {
			t.Fatal(err)
		}
		messages := readEvents(w.body.String())
		if len(messages) != 3 {
			t.Fatalf("%d messages in %q", len(messages), w.body.String())
		}
		var want any
		if err := json.Unmarshal([]byte(value), &want); err != nil {
			return // a number that Go has no room for
		}
		for _, m := range messages {
			type content struct {
				Text  string
				Value any
			}
			var got struct{ Params, Result *content }
			if err := json.Unmarshal([]byte(m), &got); err != nil {
				t.Fatalf("%v in %q", err, m)
			}
			c := got.Params
			if c == nil {
				c = got.Result
			}
			if c == nil || c.Text != text || !reflect.DeepEqual(c.Value, want) {
				t.Fatalf("%q %q became %q", text, value, m)
			}
		}
	})
}
