package tree_test

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"math"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"drawbridge/openapi/tree"
	"drawbridge/test/race"
	"drawbridge/test/timebox"
)

// bomb is a hostile document. want is the whole error; "" if it must load.
type bomb struct {
	name string
	data func() []byte
	want string
}

// bombs are generated rather than kept as files because they are large.
func bombs() []bomb {
	text := func(s string) func() []byte { return func() []byte { return []byte(s) } }
	doc := func(rest func(b *bytes.Buffer)) func() []byte {
		return func() []byte {
			var b bytes.Buffer
			b.WriteString("openapi: 3.1.0\n")
			rest(&b)
			return b.Bytes()
		}
	}
	const aliases = "more than 500000 values that come from YAML aliases; split the document, or raise the limit if you trust its author"
	const deep = "nested more than 200 levels deep; no API needs that: check how the document was made"
	return []bomb{
		{"alias 9^9", doc(func(b *bytes.Buffer) {
			b.WriteString("x0: &a0 [lol, lol, lol, lol, lol, lol, lol, lol, lol]\n")
			for i := 1; i < 9; i++ {
				fmt.Fprintf(b, "x%d: &a%d [%s]\n", i, i, strings.TrimSuffix(strings.Repeat(fmt.Sprintf("*a%d, ", i-1), 9), ", "))
			}
		}), "f:2:50: " + aliases},
		{"alias of a long text", doc(func(b *bytes.Buffer) {
			b.WriteString("x: &a " + strings.Repeat("a", 1<<20) + "\ny: [" + strings.TrimSuffix(strings.Repeat("*a,", 100_000), ",") + "]\n")
		}), "f:3:191: more than 67108864 bytes; split the document, or raise the limit if you trust its author"},
		{"merge keys 9^9", doc(func(b *bytes.Buffer) {
			b.WriteString("x0: &a0 {a: 1, b: 2, c: 3, d: 4}\n")
			for i := 1; i < 9; i++ {
				fmt.Fprintf(b, "x%d: &a%d {<<: [%s]}\n", i, i, strings.TrimSuffix(strings.Repeat(fmt.Sprintf("*a%d, ", i-1), 9), ", "))
			}
		}), "f:3:35: " + aliases},
		{"merge of a wide mapping, often", doc(func(b *bytes.Buffer) {
			b.WriteString("x: &a {")
			for i := range 10_000 {
				fmt.Fprintf(b, "k%d: 1, ", i)
			}
			b.WriteString("}\ny: {<<: [" + strings.TrimSuffix(strings.Repeat("*a, ", 10_000), ", ") + "]}\n")
		}), "f:3:202: " + aliases},
		{"JSON depth 100 k", text(`{"openapi": "3.1.0", "x": ` + strings.Repeat("[", 100_000)), "f:1:226: " + deep},
		{"JSON object depth 100 k", text(strings.Repeat(`{"a":`, 100_000)), "f:1:997: " + deep},
		{"YAML flow depth 100 k", text("x: " + strings.Repeat("[", 100_000)), "f:1:205: " + deep},
		{"YAML flow depth 100 k, braces", text("x: " + strings.Repeat("{a: ", 100_000)), "f:1:808: " + deep},
		{"YAML block depth", doc(func(b *bytes.Buffer) {
			for i := range 2_000 {
				b.WriteString(strings.Repeat(" ", i) + "a:\n")
			}
		}), "f:203:203: " + deep},
		{"YAML sequence depth", text("x:\n" + strings.Repeat("- ", 100_000)), "f:2:403: " + deep},
		{"reference chain 5000", doc(func(b *bytes.Buffer) {
			b.WriteString("components:\n  schemas:\n")
			for i := range 5000 {
				fmt.Fprintf(b, "    S%d: {$ref: '#/components/schemas/S%d'}\n", i, i+1)
			}
			b.WriteString("    S5000: {type: string}\n")
		}), `f:4:10: $ref "#/components/schemas/S1" leads from reference to reference for more than 64 steps; point it at what is meant`},
		{"self and mutual references", doc(func(b *bytes.Buffer) {
			b.WriteString("components:\n  schemas:\n    A: {$ref: '#/components/schemas/A'}\n    B: {$ref: '#/components/schemas/C'}\n    C: {$ref: '#/components/schemas/B'}\n" +
				"    D: {properties: {d: {$ref: '#/components/schemas/D'}}}\n    E: {$dynamicRef: '#e', $dynamicAnchor: e}\n")
		}), ""},
		{"pointers through references, doubling", doc(func(b *bytes.Buffer) {
			b.WriteString("components:\n  schemas:\n    S0: {x: {y: {}}}\n")
			for i := 1; i < 60; i++ {
				fmt.Fprintf(b, "    S%d: {$ref: '#/components/schemas/S%d', x: {$ref: '#/components/schemas/S%d/x/y/x/y'}}\n", i, i-1, i-1)
			}
		}), ""},
		{"doubling DAG", doc(func(b *bytes.Buffer) {
			b.WriteString("components:\n  schemas:\n")
			for i := range 28 {
				fmt.Fprintf(b, "    S%d: {properties: {a: {$ref: '#/components/schemas/S%d'}, b: {$ref: '#/components/schemas/S%d'}}}\n", i, i+1, i+1)
			}
			b.WriteString("    S28: {type: string}\n")
		}), ""},
		{"doubling DAG of maps that are taken over", doc(func(b *bytes.Buffer) {
			b.WriteString("components:\n  schemas:\n")
			for i := range 28 {
				fmt.Fprintf(b, "    S%d: {properties: {a: {properties: {$ref: '#/components/schemas/S%d/properties'}}, b: {properties: {$ref: '#/components/schemas/S%d/properties'}}}}\n", i, i+1, i+1)
			}
			b.WriteString("    S28: {properties: {c: {type: string}}}\n")
		}), "f:32:24: maps that refer to maps make more than 1800000 values or 67108864 bytes; split the document, or raise the limit if you trust its author"},
		{"chain of maps that are taken over", doc(func(b *bytes.Buffer) {
			b.WriteString("components:\n  schemas:\n")
			for i := range 1000 {
				fmt.Fprintf(b, "    S%d: {properties: {a: {properties: {$ref: '#/components/schemas/S%d/properties'}}}}\n", i, i+1)
			}
			b.WriteString("    S1000: {properties: {c: {type: string}}}\n")
		}), "f:502:29: more than 500000 values taken over by references; split the document, or raise the limit if you trust its author"},
		{"closed parts, doubling", doc(func(b *bytes.Buffer) {
			b.WriteString("components:\n  schemas:\n")
			for i := range 60 {
				fmt.Fprintf(b, "    S%d: {properties: {a%d: {}}, additionalProperties: false, allOf: [$ref: '#/components/schemas/S%d', $ref: '#/components/schemas/S%d'], "+
					"oneOf: [$ref: '#/components/schemas/S%d', $ref: '#/components/schemas/S%d']}\n", i, i, i+1, i+2, i+1, i+2)
			}
			b.WriteString("    S60: {type: object}\n    S61: {additionalProperties: false}\n")
		}), ""},
		{"chain of 9 000 closed parts", func() []byte {
			b := []byte(`{"openapi":"3.1.0","components":{"schemas":{"S9000":{"required":["a"],"additionalProperties":false}`)
			for i := range 9_000 {
				b = fmt.Appendf(b, `,"S%d":{"properties":{"a%d":{}},"allOf":[{"$ref":"#/components/schemas/S%d"}]}`, i, i, i+1)
			}
			return append(b, "}}}"...)
		}, ""},
		{"enum of 10^6, JSON", func() []byte {
			b := []byte(`{"openapi":"3.1.0","components":{"schemas":{"A":{"enum":["e0"`)
			for i := range 1_000_000 {
				b = fmt.Appendf(b, `,"e%d"`, i)
			}
			return append(b, "]}}}}"...)
		}, ""},
		{"1.8 million values, JSON", text(`{"openapi":"3.1.0","x":[` + strings.Repeat("{},", 1_799_990) + "1]}"), ""},
		{"5 million values, JSON", text(`{"openapi":"3.1.0","x":[` + strings.Repeat("{},", 4_999_990) + "1]}"),
			"f:1:5400016: more than 1800000 values; split the document, or raise the limit if you trust its author"},
		{"enum of 10^6, YAML", doc(func(b *bytes.Buffer) {
			b.WriteString("x:\n")
			for i := range 1_000_000 {
				fmt.Fprintf(b, "- e%d\n", i)
			}
		}), "f:300001:1: more than about 600000 values in YAML, or 150000 in brackets; convert the document to JSON, which may have 1800000"},
		{"290 000 values, YAML", doc(func(b *bytes.Buffer) { b.WriteString("x:\n" + strings.Repeat("- a\n", 290_000)) }), ""},
		{"145 000 values, YAML flow", text("openapi: 3.1.0\nx: [[" + strings.Repeat("a,", 145_000) + "]]"), ""},
		{"600 000 values, YAML flow", text("openapi: 3.1.0\nx: [[" + strings.Repeat("a,", 600_000) + "]]"),
			"f:2:300003: more than about 600000 values in YAML, or 150000 in brackets; convert the document to JSON, which may have 1800000"},
		{"600 000 values, YAML flow in lines", text("openapi: 3.1.0\nx: [[" + strings.Repeat("a,b,c\n,", 150_000) + "]]"),
			"f:50001:5: more than about 600000 values in YAML, or 150000 in brackets; convert the document to JSON, which may have 1800000"},
		{"144 000 values, YAML flow in lines", text("openapi: 3.1.0\nx: [[" + strings.Repeat("a,b,c\n,", 48_000) + "]]"), ""},
		{"broken JSON of 600 000 values", text(`{"openapi": "3.1.0", "x": [` + strings.Repeat("1,", 600_000) + "}"),
			"f:1:1200028: broken JSON: expected a value, found '}'"},
		{"10^6 nulls where objects belong", func() []byte {
			return []byte(`{"openapi":"3.1.0","components":{"schemas":{"A":{"allOf":[null` + strings.Repeat(",null", 1_000_000) + "]}}}}")
		}, ""},
		{"10^6 duplicate keys", func() []byte {
			return []byte(`{"openapi":"3.1.0"` + strings.Repeat(`,"a":1`, 1_000_000) + "}")
		}, ""},
		{"200 000 duplicate keys, YAML", doc(func(b *bytes.Buffer) { b.WriteString(strings.Repeat("a: 1\n", 200_000)) }), ""},
		{"10^5 properties that require themselves", func() []byte {
			b := []byte(`{"openapi":"3.1.0","components":{"schemas":{"A":{"properties":{"p":{}`)
			for i := range 100_000 {
				b = fmt.Appendf(b, `,"p%d":{"required":true}`, i)
			}
			return append(b, "}}}}}"...)
		}, ""},
		{"NUL keys", text(`{"openapi":"3.1.0","paths":{"\u0000":{"\u0000":null,"get":{"\u0000":1}}}}`), ""},
		{"NUL bytes", text("{\"openapi\":\"3.1.0\",\"\x00\":1}"), `f:1:21: broken JSON: a string holds a control character '\x00'; write it as an escape`},
		{"paths: null", text("openapi: 3.0.0\npaths: null\n"), ""},
		{"UTF-16 mark alone", text("\xff\xfe"), "f:1:1: the file is empty; give the path or URL of a JSON or YAML OpenAPI document"},
		{"half a UTF-16 character", text("\xff\xfe{\x00\""), `f:1:2: broken JSON: expected a member name in double quotes, found '�'`},
		{"references 300 000", func() []byte {
			return []byte(`{"openapi":"3.1.0","x":[0` + strings.Repeat(`,{"$ref":"#"}`, 300_000) + "]}")
		}, "f:1:2600028: more than 200000 references; split the document, or raise the limit if you trust its author"},
		{"20 000 operations", func() []byte {
			b := []byte(`{"openapi":"3.1.0","paths":{"/":{}`)
			for i := range 20_000 {
				b = fmt.Appendf(b, `,"/%d":{"get":{}}`, i)
			}
			return append(b, "}}"...)
		}, "f:1:188936: more than 10000 operations; split the document, or raise the limit if you trust its author"},
		{"many comments", doc(func(b *bytes.Buffer) {
			for range 50_000 {
				b.WriteString("# a comment\n\n")
			}
			for i := range 20_000 {
				fmt.Fprintf(b, "a%d: 1 # x\n# y\n", i)
			}
		}), ""},
		{"a long line", text("openapi: 3.1.0\nx: " + strings.Repeat("word ", 1_000_000)), ""},
		{"a long key", text("openapi: 3.1.0\n" + strings.Repeat("k", 1_000_000) + ": 1\n"), ""},
		{"a block of 10 MB", doc(func(b *bytes.Buffer) {
			b.WriteString("x: |\n" + strings.Repeat("  some text in a block\n", 400_000))
		}), ""},
		{"quotes 10 MB", text("openapi: 3.1.0\nx: \"" + strings.Repeat("\\\"", 5_000_000) + "\"\n"), ""},
		{"65 MiB", func() []byte { return bytes.Repeat([]byte(" "), 65<<20) },
			"f:1:1: more than 67108864 bytes; split the document, or raise the limit if you trust its author"},
	}
}

// The limits of S3 hold on an idle machine; elsewhere a test must not fail because of other load.
var hardCaps = flag.Bool("bombs", false, "hold the caps of S3: 2 s and 256 MiB")

// TestBombs loads each hostile document within the limits of S3 with -bombs, and otherwise within much higher ones.
func TestBombs(t *testing.T) {
	if race.Enabled {
		t.Skip("one goroutine, and far too slow and large under the race detector")
	}
	most := loadCost{time: 30 * time.Second, memory: 512 << 20}
	if *hardCaps {
		most = loadCost{time: 2 * time.Second, memory: 256 << 20}
	}
	for _, b := range bombs() {
		t.Run(b.name, func(t *testing.T) {
			got := explode(t, b)
			if got.exceeds(most) {
				// The machine may have been busy: once more.
				got = explode(t, b)
			}
			if err := got.err; err == nil && b.want != "" || err != nil && err.Error() != b.want {
				t.Errorf("got  %v\nwant %s", err, b.want)
			}
			if got.exceeds(most) {
				t.Errorf("took %v and %d MiB", got.time, got.memory>>20)
			}
			t.Logf("%v, %d MiB, %d warnings", got.time.Round(time.Millisecond), got.memory>>20, got.warnings)
		})
	}
}

// loadCost is the cost of loading a bomb.
type loadCost struct {
	time     time.Duration
	memory   uint64 // in bytes
	warnings int
	err      error
}

func (b loadCost) exceeds(most loadCost) bool { return b.time > most.time || b.memory > most.memory }

func explode(t testing.TB, b bomb) loadCost {
	data := b.data()
	peak := watchHeap(t)
	start, used := time.Now(), processorTime()
	set, warnings, err := tree.Load(context.Background(), "f", data, nil, tree.Limits{})
	// On a busy machine the processor time is the better estimate.
	took := min(time.Since(start), processorTime()-used)
	got := loadCost{time: took, memory: peak(), warnings: len(warnings), err: err}
	runtime.KeepAlive(set)
	return got
}

// processorTime returns the processor time that this process has used.
func processorTime() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		return math.MaxInt64 // only the clock counts then
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// watchHeap samples the memory in use until the returned function is called, which returns the maximum above the start.
func watchHeap(t testing.TB) func() uint64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	base, most := m.HeapInuse+m.StackInuse, uint64(0)
	stop, done := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		tick := time.NewTicker(5 * time.Millisecond)
		defer tick.Stop()
		for {
			var m runtime.MemStats
			runtime.ReadMemStats(&m)
			if now := m.HeapInuse + m.StackInuse; now > base {
				most = max(most, now-base)
			}
			select {
			case <-stop:
				return
			case <-tick.C:
			}
		}
	}()
	return func() uint64 { close(stop); timebox.Wait(t, done); return most }
}
