package schema

import (
	"encoding/json"
	"strings"
	"testing"

	"drawbridge/openapi/jsonschema"
)

var compilableCases = map[string]bool{
	`{}`: true,
	`{"type":"object","properties":{"a":{"type":["string","null"]},"b":true},"required":["a"],"additionalProperties":false}`: true,
	`{"$ref":"#/$defs/A","$defs":{"A":{"allOf":[{"$ref":"#"},{"not":{"enum":[{"a":1}]}}],"minimum":1.5}}}`:                   true,
	`{"properties":{"$ref":{"type":"string"},"a\"b":{"pattern":"^["}},"patternProperties":{"(":{}}}`:                         true,
	`{"prefixItems":[{},false],"items":{"contains":{"const":{"$ref":"#/nowhere"}}},"default":{"$id":"x"}}`:                   true,
	`{"$ref":"#/$defs/B","$defs":{"A":{}}}`:              false,
	`{"$ref":"#/$defs/A/properties/a","$defs":{"A":{}}}`: false,
	`{"$ref":"#a","$defs":{"A":{"$anchor":"a"}}}`:        false,
	`{"$ref":"#/$defs/A b","$defs":{"A b":{}}}`:          false,
	`{"$ref":"https://example.com/s"}`:                   false,
	`{"$ref":5}`:                                         false,
	`{"$id":"https://example.com/s"}`:                    false,
	`{"$schema":"https://example.com/s"}`:                false,
	`{"items":[{}]}`:                                     false,
	`{"allOf":{}}`:                                       false,
	`{"properties":[]}`:                                  false,
	`{"properties":{"a":5}}`:                             false,
	`{"$defs":{"A":5}}`:                                  false,
	`{"maximum":1e999999999}`:                            false,
	`{"properties":{"a":{"$defs":{"A":{}}}}}`:            false,
	`{"type": "string"}`:                                 false,
	`{"type":"string"`:                                   false,
	`true`:                                               false,
	``:                                                   false,
	strings.Repeat(`{"not":`, 300) + `{}` + strings.Repeat(`}`, 300): true, strings.Repeat(`{"not":`, 10_001) + `{}` + strings.Repeat(`}`, 10_001): false,
}

// TestCertainlyCompiles: a schema that certainly compiles does so in the library, and common ones are.
func TestCertainlyCompiles(t *testing.T) {
	for text, want := range compilableCases {
		if got := certainlyCompiles(jsonschema.Parse([]byte(text))); got != want {
			t.Errorf("%.100s: %t, want %t", text, got, want)
		}
	}
}

// FuzzCertainlyCompiles checks that the library compiles each schema of which certainlyCompiles reports true.
func FuzzCertainlyCompiles(f *testing.F) {
	for text := range compilableCases {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		if !certainlyCompiles(jsonschema.Parse(text)) {
			return
		}
		if _, err := (&Validator{source: json.RawMessage(text)}).compile(); err != nil {
			t.Errorf("%s: %v", text, err)
		}
	})
}
