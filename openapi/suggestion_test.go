package openapi

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestSuggestions checks which values of a document are offered for an argument.
func TestSuggestions(t *testing.T) {
	o := &Operation{Input: []byte(`{"type":"object","properties":{
		"enum":{"type":"string","enum":["b","a","b",7,null,{"x":1}],"default":"a"},
		"const":{"const":1.50},
		"flag":{"type":["boolean","null"]},
		"either":{"type":["boolean","string"]},
		"examples":{"type":"string","default":"d","examples":["x","d","` + strings.Repeat("l", 201) + `"]},
		"ref":{"$ref":"#/$defs/Kind","default":"two"},
		"escaped":{"$ref":"#/$defs/a\"b"},
		"loop":{"$ref":"#/$defs/Loop"},
		"list":{"type":"array","items":{"enum":["i","j"]}},
		"parts":{"oneOf":[{"const":"p"},{"enum":["q"]},{"type":"null"}]},
		"free":{"type":"string"},
		"any":true},
		"$defs":{"Kind":{"enum":["one","two"]},"a\"b":{"enum":["e"]},"Loop":{"anyOf":[{"$ref":"#/$defs/Loop"},{"const":"l"}]}}}`)}
	for name, want := range map[string][]string{
		"enum": {"b", "a", "7"}, "const": {"1.50"}, "flag": {"true", "false"}, "either": nil, "examples": {"d", "x"},
		"ref": {"one", "two"}, "escaped": {"e"}, "loop": {"l"}, "list": {"i", "j"}, "parts": {"p", "q"}, "free": nil, "any": nil, "none": nil,
	} {
		if diff := cmp.Diff(want, o.Suggestions(name)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}
