package answer

import (
	"net/http"
	"testing"
)

// TestPartClean checks that invisible characters are removed from each kind of part, and that a part without them keeps
// its bytes.
func TestPartClean(t *testing.T) {
	for _, c := range []struct {
		kind     Kind
		in, want string
	}{
		{JSON, `{"a\u200b":"\u001b[1mx\ud83d\udc69"}`, `{"a":"x👩"}`},
		{JSON, `{"a":"x\"y"}`, `{"a":"x\"y"}`},
		{Text, ` {"a":"\u202ex"}`, ` {"a":"x"}`},
		{Text, `{"a":"\u202ex"`, `{"a":"\u202ex"`}, // not JSON: a reader sees the escape
		{Text, "a\u200bb\r\n\x1b[31mc", "ab\r\nc"},
		{Text, "plain\n", "plain\n"},
		{Binary, "\x00\x1b[1m\xff", "\x00\x1b[1m\xff"},
		{Image, "\x7f\u200b", "\x7f\u200b"},
	} {
		data := []byte(c.in)
		p := Part{Kind: c.kind, Data: data, Drift: "/a\u200b: expected", Field: "f\u202e"}
		p.Clean()
		if string(p.Data) != c.want || p.Drift != "/a: expected" || p.Field != "f" {
			t.Errorf("%q → %q, %q, %q", c.in, p.Data, p.Drift, p.Field)
		}
		if c.in == c.want && &p.Data[0] != &data[0] {
			t.Errorf("%q was copied", c.in)
		}
	}
}

// readParts reads an answer and passes its parts to each, which may refuse one.
func readParts(p *Plan, resp *http.Response, each func(Part) error) error {
	var parts Parts
	defer parts.Release()
	if err := p.Read(resp, &parts); err != nil {
		return err
	}
	for _, part := range parts.List {
		if err := each(part); err != nil {
			return err
		}
	}
	return nil
}
