package schema

import (
	"encoding/json"
	"testing"

	"drawbridge/openapi/jsonscan"
)

// benchmarkSchema is the input of an operation as most are: a few arguments and a small body.
const benchmarkSchema = `{"type":"object","properties":{
	"orderId":{"type":"string","minLength":1,"maxLength":40,"pattern":"^[a-z0-9-]+$"},"limit":{"type":"integer","format":"int32","minimum":1,"maximum":100},
	"status":{"type":"string","enum":["open","shipped","done"]},"express":{"type":"boolean"},
	"body":{"type":"object","required":["items"],"properties":{"items":{"type":"array","minItems":1,"items":{"$ref":"#/$defs/Item"}},"note":{"type":["string","null"]}}}},
	"required":["orderId","body"],"additionalProperties":false,
	"$defs":{"Item":{"type":"object","required":["sku"],"properties":{"sku":{"type":"string"},"quantity":{"type":"integer","format":"int64"},"price":{"type":"number"}},"additionalProperties":false}}}`

const benchmarkValue = `{"orderId":"a-1","limit":10,"status":"open","express":true,"body":{"items":[{"sku":"x","quantity":1,"price":12.50},{"sku":"y","quantity":2}],"note":null}}`

func BenchmarkValidate(b *testing.B) {
	v, err := Compile([]byte(benchmarkSchema))
	if err != nil {
		b.Fatal(err)
	}
	value := decoded(b, []byte(benchmarkValue))
	b.Run("valid", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if v.Validate(value) != nil {
				b.Fatal("faults")
			}
		}
	})
	b.Run("library", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if v.explain(value, MaxFaults) != nil {
				b.Fatal("faults")
			}
		}
	})
	wrong := decoded(b, []byte(`{"orderId":"a-1","limit":1000,"statuss":"open","body":{"items":[]}}`))
	b.Run("faults", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if len(v.Validate(wrong)) != 3 {
				b.Fatal("faults")
			}
		}
	})
}

func BenchmarkCompile(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		if _, err := Compile([]byte(benchmarkSchema)); err != nil {
			b.Fatal(err)
		}
	}
}

// TestValidateAllocates: a valid call costs no allocation.
func TestValidateAllocates(t *testing.T) {
	v, err := Compile([]byte(benchmarkSchema))
	if err != nil {
		t.Fatal(err)
	}
	value := decoded(t, []byte(benchmarkValue))
	if n := testing.AllocsPerRun(100, func() {
		if v.Validate(value) != nil {
			t.Error("faults")
		}
	}); n > 0 && !raceDetector {
		t.Errorf("%v allocations", n)
	}
}

func BenchmarkShape(b *testing.B) {
	c, n := document(b, `{"openapi":"3.1.0","info":{"title":"t","version":"1"},"paths":{},"components":{"schemas":{"Case":`+benchmarkSchema+`}}}`, Limits{}, nil)
	out := c.Output(n)
	data := json.RawMessage(benchmarkValue)
	b.ReportAllocs()
	for b.Loop() {
		if info, err := jsonscan.Scan(data, jsonscan.Options{Shape: out.Shape}); err != nil || info.Mismatch != nil {
			b.Fatal(err, info)
		}
	}
}
