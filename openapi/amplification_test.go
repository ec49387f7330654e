package openapi

import (
	"strings"
	"testing"
	"time"

	"drawbridge/test/race"
	"drawbridge/test/timebox"
)

// TestCoercionIsBounded checks that a megabyte of arguments is validated at most a few times, for faults at any
// position (R8).
func TestCoercionIsBounded(t *testing.T) {
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
		{"more faults than are coerced", `{"l":[` + strings.Repeat(`"1",`, maxCoercions*maxCoercedFaults+1) + ones + `1]}`, false},
		{"the same in little", `{"l":[` + strings.Repeat(`"1",`, 100) + `1]}`, true},
		{"faults among many values, deep", strings.Repeat(`{"d":`, 59) + `{"l":[` + strings.Repeat(`"1",`, 20) + ones + `1]}` + strings.Repeat("}", 59), true},
		{"deep in a string", `{"d":"` + strings.ReplaceAll(strings.Repeat(`{"d":`, 150)+`{"l":[1]}`+strings.Repeat("}", 150), `"`, `\"`) + `"}`, true},
		{"too deep in a string", `{"d":"` + strings.Repeat("[", 1<<20) + `"}`, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			timebox.Processor(t, 4*time.Second, func() {
				if _, err := api.Operations[0].NewRequest(t.Context(), nil, []byte(tt.args)); (err == nil) != tt.accepted {
					t.Errorf("got %.200v", err)
				}
			})
		})
	}
}
