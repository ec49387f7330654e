package openapi

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"drawbridge/test/race"
)

// TestBombs loads and compiles small documents that expand to much, with -bombs each in two seconds of two processors
// and 256 MiB (S3), and otherwise within much higher limits. They are generated rather than kept as files. want is the
// number of operations that are served, reason that of the last one skipped.
func TestBombs(t *testing.T) {
	if race.Enabled {
		t.Skip("far too slow and large under the race detector")
	}
	// document makes one path item that many paths refer to.
	document := func(item, components string, count int) string {
		var b strings.Builder
		b.WriteString(`{"openapi":"3.0.3","info":{"title":"B","version":"1"},"paths":{"/0":` + item)
		for i := 1; i < count; i++ {
			fmt.Fprintf(&b, `,"/%d":{"$ref":"#/paths/~10"}`, i)
		}
		b.WriteString(`},"components":{` + components + `}}`)
		return b.String()
	}
	parameters := func(count int, schema string) string {
		var b strings.Builder
		b.WriteString(`{"parameters":[`)
		for i := range count {
			if i > 0 {
				b.WriteByte(',')
			}
			fmt.Fprintf(&b, `{"name":"p%d","in":"query","schema":%s}`, i, schema)
		}
		b.WriteString(`],"get":{"responses":{}}}`)
		return b.String()
	}
	variables := func(count int) string {
		var b strings.Builder
		for i := range count {
			fmt.Fprintf(&b, "{%x}", i)
		}
		return b.String()
	}
	properties := func(count int) string {
		var b strings.Builder
		b.WriteString(`"schemas":{"Big":{"type":"object","properties":{`)
		for i := range count {
			if i > 0 {
				b.WriteByte(',')
			}
			fmt.Fprintf(&b, `"property%d":{"type":"string","maxLength":%d}`, i, i)
		}
		b.WriteString(`}}}`)
		return b.String()
	}
	const body = `"requestBody":{"content":{"application/json":{"schema":{"$ref":"#/components/schemas/Big"}}}}`
	const schemas = "the operations up to this one, with their schemas and texts, take more than %d MiB together, the limit for a document of its size; split the document"
	for _, tt := range []struct {
		name, data string
		want       int
		reason     string
	}{
		{"200 parameters, 1,000 times", document(parameters(200, `{"type":"string"}`), "", 1_000), 498, schemas},
		{"200 objects, 1,000 times", document(parameters(200, `{"type":"object"}`), "", 1_000), 456, schemas},
		{"1,000 parameters, 9,000 times", document(parameters(1_000, `{}`), "", 9_000), 136, schemas},
		{"100,000 parameters", document(parameters(100_000, `{}`), "", 10), 0, "it has 100000 parameters; at most 1000 are allowed"},
		{"100,000 variables", `{"openapi":"3.0.3","info":{"title":"B","version":"1"},"paths":{"` +
			strings.Repeat("/{a}", 100_000) + `":{"get":{"responses":{}}}}}`, 0,
			"its path has 400000 bytes; at most 8192 are allowed"},
		{"1,600 variables", `{"openapi":"3.0.3","info":{"title":"B","version":"1"},"paths":{"` + variables(1_600) + `":{"get":{"responses":{}}}}}`, 0,
			"it has 1600 parameters and variables in its path; at most 1000 are allowed"},
		{"a body of 55 KB, 9,000 times", document(`{"post":{`+body+`,"responses":{}}}`, properties(1_100), 9_000), 417, schemas},
		{"a body of 55 KB and a parameter, 9,000 times", document(`{"post":{"parameters":[{"name":"q","in":"query"}],`+body+`,"responses":{}}}`, properties(1_100), 9_000), 101, schemas},
		{"a body that is too large, 2,000 times", document(`{"post":{`+body+`,"responses":{}}}`, properties(3_000), 2_000), 0, schemas},
		{"parts of files, 9,000 times", document(`{"post":{`+strings.Replace(body, "application/json", "multipart/form-data", 1)+`,"responses":{}}}`,
			strings.ReplaceAll(properties(250), `"maxLength"`, `"format":"binary","maxLength"`), 9_000), 226, schemas},
		{"elements, 9,000 times", document(`{"post":{`+strings.Replace(body, "application/json", "application/xml", 1)+`,"responses":{}}}`, properties(1_100), 9_000), 417, schemas},
	} {
		t.Run(tt.name, func(t *testing.T) {
			name := write(t, t.TempDir(), "spec.json", tt.data)
			api, cost, err := compileMeasured(t, name)
			if err != nil {
				t.Fatal(err)
			}
			reason := ""
			if n := len(api.Skipped); n > 0 {
				reason = api.Skipped[n-1].Reason
			}
			if tt.reason == schemas {
				tt.reason = fmt.Sprintf(schemas, (minOperationBytes+expansion*len(tt.data))>>20)
			}
			if len(api.Operations) != tt.want || reason != tt.reason {
				t.Errorf("got %d operations, %q\nwant %d, %q", len(api.Operations), reason, tt.want, tt.reason)
			}
			if cost.processor > 2*timeCap() || cost.peak > memoryCap && *hardCaps || cost.peak > 2*memoryCap {
				t.Errorf("took %v of processor time and %d MiB", cost.processor, cost.peak>>20)
			}
			t.Logf("%s: %d KiB: %v, processor %v, %d MiB", filepath.Base(name), len(tt.data)>>10, cost.time.Round(time.Millisecond), cost.processor.Round(time.Millisecond), cost.peak>>20)
		})
	}
}
