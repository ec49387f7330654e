package filter

import (
	"encoding/json"
	"errors"
	"math/big"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"drawbridge/openapi/wire"
)

// FuzzStyleRoundTrip holds that in every row of the table of styles what the encoders write is decoded to the value that
// went in, by the decoder that is written from the standard's tables, or refused for a reason in the list of reasons.
func FuzzStyleRoundTrip(f *testing.F) {
	for i := range styles {
		f.Add(uint8(i), uint8(0), "n", "a", "b", int64(-7))
		f.Add(uint8(i), uint8(1), "n x", "a,b;c=d", " %2F&", int64(1)<<62)
		f.Add(uint8(i), uint8(2), "é", "", "|.", int64(0))
		f.Add(uint8(i), uint8(3), "n[]", "+#?", "日", int64(1))
	}
	f.Fuzz(func(t *testing.T, row, shape uint8, name, a, b string, n int64) {
		s := styles[int(row)%len(styles)]
		p := param{name: name, in: s.in, style: s.style, explode: s.explode, content: s.style == "content"}
		if p.content {
			p.style = map[string]string{"path": "simple", "header": "simple", "query": "form", "cookie": "form"}[p.in]
		}
		text := map[string]any{"type": "string"}
		number := json.Number(big.NewInt(n).String())
		var value any
		switch of := s.types[int(shape)%len(s.types)]; {
		case of == 'a':
			p.schema, value = map[string]any{"type": "array", "items": text}, []any{a, b, a}
		case of == 'o', of == 'd':
			p.schema = map[string]any{"type": "object", "properties": map[string]any{"x": text, "y": map[string]any{"type": "integer"}}}
			value = map[string]any{"x": a, "y": number}
		case shape&64 != 0:
			p.schema, value = map[string]any{"type": "integer"}, number
		default:
			p.schema, value = text, a
		}
		for _, s := range []string{name, a, b} {
			if !utf8.ValidString(s) {
				return // JSON does not carry it
			}
		}
		if strings.Contains(name, "[") && p.style == "deepObject" {
			return // the name of another parameter, or of a member
		}
		location, _ := wire.ParseLocation(p.in)
		style, ok := wire.ParseStyle(p.style)
		if !ok {
			t.Fatalf("there is no style %q", p.style)
		}
		parameter := wire.Parameter{Name: name, In: location, Style: style, Explode: p.explode}
		if p.content {
			parameter.ContentType = "application/json"
		}
		encoder, err := wire.NewEncoder(parameter)
		if err != nil {
			return // a name that can't stand there
		}
		given, err := json.Marshal(value)
		if err != nil {
			t.Fatal(err)
		}
		in, err := encoded(encoder, &p, given)
		if refusal := (*wire.ValueError)(nil); errors.As(err, &refusal) {
			if p.refusable(value) == "" {
				t.Fatalf("%s in %s %q is refused: %v", given, p.in, p.style, err)
			}
			return
		}
		if err != nil {
			t.Fatal(err)
		}
		if p.undecidable(value) != "" {
			return
		}
		got, found, err := p.decode(in)
		if err != nil || !found {
			t.Fatalf("%s in %s %q explode %v: found %v: %v: %+v", given, p.in, p.style, p.explode, found, err, in)
		}
		if diff := cmp.Diff(value, got); diff != "" {
			t.Fatalf("%s in %s %q explode %v: %+v\n%s", given, p.in, p.style, p.explode, in, diff)
		}
	})
}

// encoded writes a value, with another parameter before it and one after it where they share a place.
func encoded(e *wire.Encoder, p *param, value []byte) (in received, err error) {
	other, err := wire.NewEncoder(wire.Parameter{Name: "other parameter", In: wire.Query, Style: wire.Form})
	if err != nil {
		return in, err
	}
	switch p.in {
	case "path":
		out, err := e.AppendPath(nil, value)
		return received{segments: map[string]string{p.name: string(out)}}, err
	case "header":
		out, err := e.HeaderValue(value)
		return received{header: func(string) (string, bool) { return out, true }}, err
	case "cookie":
		out, err := e.CookiePairs([]byte("first=1"), value)
		return received{cookies: string(out)}, err
	}
	out, err := other.AppendQuery(nil, []byte(`"1"`))
	if err != nil {
		return in, err
	}
	if out, err = e.AppendQuery(out, value); err != nil {
		return in, err
	}
	out, err = other.AppendQuery(out, []byte(`"2"`))
	return received{query: string(out)}, err
}
