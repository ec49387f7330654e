package schema

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"drawbridge/test/timebox"
)

// longNumbers are numbers that exact arithmetic would be busy with, or would need gigabytes for.
func longNumbers() []string {
	long := strings.Repeat("7", 1_900_000)
	return []string{long, "-" + long, "0." + long, long + "e5", "1e1000000000", "1e999999", "1E-400000000", "-1e99999999"}
}

// TestLongNumbersInDocuments: the values of an enum are compared within a bounded time.
func TestLongNumbersInDocuments(t *testing.T) {
	for _, number := range longNumbers() {
		timebox.Processor(t, time.Second, func() {
			if got := canonical([]byte(number)); got != number {
				t.Errorf("%.20s: %.20s", number, got)
			}
		})
	}
}

// TestLongNumbersInArguments: a value is held against a schema within a bounded time.
func TestLongNumbersInArguments(t *testing.T) {
	for _, text := range []string{
		`{"type":"integer"}`, `{"type":"number","multipleOf":0.01}`, `{"minimum":1,"maximum":5}`, `{"enum":[1,2]}`, `{"const":1}`, `{"type":"integer","format":"int64"}`,
		`{"type":"array","uniqueItems":true}`, `{"type":"string"}`, `{"anyOf":[{"type":"string"},{"multipleOf":3}]}`,
	} {
		v, err := Compile(json.RawMessage(text))
		if err != nil {
			t.Fatal(err)
		}
		for _, number := range longNumbers() {
			timebox.Processor(t, 2*time.Second, func() {
				v.Validate(json.Number(number))
				v.Validate([]any{json.Number(number), json.Number(number)})
			})
		}
	}
}
