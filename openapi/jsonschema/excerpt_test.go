package jsonschema

import (
	"encoding/json"
	"testing"
)

// TestExcerpt: an excerpt is JSON, has the definitions that it refers to, and the pointers of what is left out lead to it.
func TestExcerpt(t *testing.T) {
	source := `{"type":"object","description":"A pod","properties":{"a":{"$ref":"#/$defs/x~1y"},"b":{"type":"array","items":{"anyOf":[{"type":"object","properties":{"c":{"enum":[1,2]}}},{"type":"null"}]}}},"$defs":{"x/y":{"type":"object","properties":{"next":{"$ref":"#/$defs/z"}}},"z":{"type":"object","properties":{"d":{}}},"unused":{"properties":{"e":{}}}}}`
	s := Parse([]byte(source))
	for _, c := range []struct {
		options ExcerptOptions
		want    string
	}{
		{ExcerptOptions{Description: 100, Depth: 9, Definitions: 9, MaxBytes: 9999}, `{"type":"object","description":"A pod","properties":{"a":{"$ref":"#/$defs/x~1y"},"b":{"type":"array","items":{"anyOf":[{"type":"object","properties":{"c":{"enum":[1,2]}}},{"type":"null"}]}}},"$defs":{"x/y":{"type":"object","properties":{"next":{"$ref":"#/$defs/z"}}},"z":{"type":"object","properties":{"d":{}}}}}`},
		{ExcerptOptions{Depth: 3, Definitions: 1, MaxBytes: 9999}, `{"type":"object","properties":{"a":{"$ref":"#/$defs/x~1y"},"b":{"type":"array","items":{"anyOf":[{"$comment":"left out"},{"type":"null"}]}}},"$defs":{"x/y":{"type":"object","properties":{"next":{"$ref":"#/$defs/z"}}},"z":{"$comment":"left out"}}}`},
		{ExcerptOptions{Depth: 1, MaxBytes: 9999}, `{"type":"object","properties":{"a":{"$ref":"#/$defs/x~1y"},"b":{"$comment":"left out"}},"$defs":{"x/y":{"$comment":"left out"}}}`},
	} {
		e, ok := s.Excerpt(c.options)
		if !ok || string(e.Text) != c.want {
			t.Errorf("%+v: got %s, want %s", c.options, e.Text, c.want)
		}
		if !json.Valid(e.Text) {
			t.Errorf("not JSON: %s", e.Text)
		}
		for _, pointer := range e.Left {
			if s.At(pointer) == nil {
				t.Errorf("%s leads to nothing", pointer)
			}
		}
	}
	if _, ok := s.Excerpt(ExcerptOptions{Depth: 9, MaxBytes: 50}); ok {
		t.Error("an excerpt longer than its limit")
	}
}
