package openapi

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"text/tabwriter"
	"time"

	"golang.org/x/tools/txtar"

	"drawbridge/test/race"
)

// The limits of S3 hold on an idle machine; elsewhere a test must not fail because of other load.
var hardCaps = flag.Bool("bombs", false, "hold the caps of S3, 2 s and 256 MiB, and print the table of bombs")

var bombsTo = flag.String("bombs-to", "", "a `folder` that TestWriteBombs writes the bombs into")

func timeCap() time.Duration {
	if *hardCaps {
		return 2 * time.Second
	}
	return 30 * time.Second
}

const memoryCap = 256 << 20

// made are the bombs of testdata/bombs that are too large to be kept, by name. They have one operation unless their
// name states otherwise.
func made() map[string]func() string {
	const head = `{"openapi":"3.1.0","info":{"title":"B","version":"1"},"paths":{"/a":{"post":{"operationId":"a","requestBody":{"content":{"application/json":{"schema":`
	// body is a document whose operation takes a body; components follow.
	body := func(schema, schemas string) string {
		return head + schema + `}}},"responses":{"200":{"description":"OK","content":{"application/json":{"schema":` + schema + `}}}}}}},"components":{"schemas":{` + schemas + `}}}`
	}
	list := func(count int, format string, a func(i int) []any) string {
		var b strings.Builder
		for i := range count {
			if i > 0 {
				b.WriteByte(',')
			}
			fmt.Fprintf(&b, format, a(i)...)
		}
		return b.String()
	}
	const yamlHead = "openapi: 3.1.0\ninfo: {title: B, version: '1'}\npaths: {/a: {get: {operationId: a, responses: {}}}}\n"
	doubling := func(first, format string) string {
		var b strings.Builder
		b.WriteString(yamlHead + first)
		for i := 1; i < 9; i++ {
			fmt.Fprintf(&b, format, i, i, strings.TrimSuffix(strings.Repeat(fmt.Sprintf("*a%d, ", i-1), 9), ", "))
		}
		return b.String()
	}
	return map[string]func() string{
		"aliases": func() string {
			return doubling("x0: &a0 [lol, lol, lol, lol, lol, lol, lol, lol, lol]\n", "x%d: &a%d [%s]\n")
		},
		"merge-keys": func() string { return doubling("x0: &a0 {a: 1, b: 2, c: 3, d: 4}\n", "x%d: &a%d {<<: [%s]}\n") },
		"depth-flow": func() string { return yamlHead + "x: " + strings.Repeat("[", 100_000) },
		"depth-json": func() string { return body(strings.Repeat(`{"items":`, 100_000), "") },
		"depth-block": func() string {
			var b strings.Builder
			b.WriteString(yamlHead)
			for i := range 2_000 {
				b.WriteString(strings.Repeat(" ", i) + "x:\n")
			}
			return b.String()
		},
		"depth-schema": func() string {
			return body(strings.Repeat(`{"properties":{"a":`, 90)+`{"type":"string"}`+strings.Repeat("}}", 90), "")
		},
		"ref-chain": func() string {
			return body(`{"$ref":"#/components/schemas/S0"}`, list(5000, `"S%d":{"$ref":"#/components/schemas/S%d"}`, func(i int) []any { return []any{i, i + 1} }))
		},
		"doubling": func() string {
			return body(`{"$ref":"#/components/schemas/S0"}`, list(28, `"S%d":{"type":"object","properties":{"a":{"$ref":"#/components/schemas/S%d"},"b":{"$ref":"#/components/schemas/S%[2]d"}}}`,
				func(i int) []any { return []any{i, i + 1} })+`,"S28":{"type":"string"}`)
		},
		"doubling-allof": func() string {
			return body(`{"$ref":"#/components/schemas/S0"}`, list(28, `"S%d":{"allOf":[{"$ref":"#/components/schemas/S%d"},{"$ref":"#/components/schemas/S%[2]d"}]}`,
				func(i int) []any { return []any{i, i + 1} })+`,"S28":{"type":"object","properties":{"n":{"type":"integer"}}}`)
		},
		"doubling-oneof": func() string {
			return body(`{"$ref":"#/components/schemas/S0"}`, list(28, `"S%d":{"oneOf":[{"$ref":"#/components/schemas/S%d"},{"type":"object","properties":{"p":{"$ref":"#/components/schemas/S%[2]d"}}}]}`,
				func(i int) []any { return []any{i, i + 1} })+`,"S28":{"type":"string"}`)
		},
		"enum": func() string {
			return body(`{"type":"object","properties":{"e":{"enum":[`+list(1_000_000, `"e%d"`, func(i int) []any { return []any{i} })+`]}}}`, "")
		},
		"pattern-long": func() string { return body(`{"type":"string","pattern":"`+strings.Repeat("a?", 1<<19)+`"}`, "") },
		"keys-twice":   func() string { return body(`{"type":"object"`+strings.Repeat(`,"title":"t"`, 500_000)+`}`, "") },
		"required": func() string {
			return body(`{"required":[`+list(200_000, `"r%d"`, func(i int) []any { return []any{i} })+`]}`, "")
		},
		"utf-16": func() string {
			return "\xff\xfe" + wide(body(`{"type":"object","properties":{"n":{"type":"integer"}}}`, ""))
		},
		"utf-16-broken": func() string { return "\xff\xfe{\x00\"" },
		"servers": func() string {
			return `{"openapi":"3.0.3","servers":[` + list(100_000, `{"url":"https://{v%d}.example"}`, func(i int) []any { return []any{i} }) + `],"paths":{"/a":{"get":{"responses":{}}}}}`
		},
		"tags": func() string {
			return `{"openapi":"3.0.3","paths":{"/a":{"get":{"operationId":"a","tags":[` + list(500_000, `"t%d"`, func(i int) []any { return []any{i} }) + `],"responses":{}}}}}`
		},
		"responses": func() string {
			return `{"openapi":"3.0.3","paths":{"/a":{"get":{"operationId":"a","responses":{` + list(200_000, `"x%d":{"description":"d"}`, func(i int) []any { return []any{i} }) + `}}}}}`
		},
		"security-shared": func() string {
			return `{"openapi":"3.0.3","security":[` + list(10_000, `{"s%d":["a","b"]}`, func(i int) []any { return []any{i} }) + `],"paths":{` +
				list(9_000, `"/p%d":{"get":{"responses":{}}}`, func(i int) []any { return []any{i} }) + `}}`
		},
		"security-names": func() string {
			names := list(150_000, `"s%d":{}`, func(i int) []any { return []any{i} })
			return `{"openapi":"3.0.3","components":{"securitySchemes":{` + names + `}},"security":[{` + strings.ReplaceAll(names, "{}", "[]") + `}],"paths":{` +
				list(9_000, `"/p%d":{"get":{"responses":{}}}`, func(i int) []any { return []any{i} }) + `}}`
		},
		"scopes-shared": func() string {
			return `{"openapi":"3.0.3","security":[{"s":["` + strings.Repeat("a", 400_000) + `"]}],"paths":{` +
				list(9_000, `"/p%d":{"get":{"responses":{}}}`, func(i int) []any { return []any{i} }) + `}}`
		},
		"schemes": func() string {
			return `{"swagger":"2.0","info":{"title":"B","version":"1"},"host":"b.example","schemes":[` + strings.Repeat(`"https",`, 400_000) + `"http"],"paths":{"/a":{"get":{"operationId":"a","responses":{}}}}}`
		},
		"ids-shared": func() string {
			return `{"openapi":"3.0.3","paths":{"/p":{"get":{"operationId":"` + strings.Repeat("a", 400_000) + `","responses":{}}},` +
				list(9_000, `"/p%d":{"$ref":"#/paths/~1p"}`, func(i int) []any { return []any{i} }) + `}}`
		},
		"tags-long-shared": func() string {
			return `{"openapi":"3.0.3","paths":{"/p":{"get":{"tags":["` + strings.Repeat("a", 400_000) + `"],"responses":{}}},` +
				list(9_000, `"/p%d":{"$ref":"#/paths/~1p"}`, func(i int) []any { return []any{i} }) + `}}`
		},
		"links-shared": func() string {
			return `{"openapi":"3.0.3","paths":{"/p":{"get":{"operationId":"a","responses":{"200":{"description":"d","links":{"l":{"operationId":"a","requestBody":["` + strings.Repeat("a", 400_000) + `"]}}}}}},` +
				list(9_000, `"/p%d":{"$ref":"#/paths/~1p"}`, func(i int) []any { return []any{i} }) + `}}`
		},
		"tags-shared": func() string {
			return `{"openapi":"3.0.3","x-tags":["` + strings.Repeat(`t","`, 50_000) + `t"],"paths":{` +
				list(9_000, `"/p%d":{"get":{"tags":{"$ref":"#/x-tags"},"responses":{}}}`, func(i int) []any { return []any{i} }) + `}}`
		},
		"responses-shared": func() string {
			return `{"openapi":"3.0.3","paths":{"/p":{"get":{"responses":{` + list(900, `"%d":{"description":"d","content":{"a/b%[1]d":{}}}`, func(i int) []any { return []any{i} }) + `}}},` +
				list(9_000, `"/p%d":{"$ref":"#/paths/~1p"}`, func(i int) []any { return []any{i} }) + `}}`
		},
		"bodies-shared": func() string {
			return `{"openapi":"3.0.3","paths":{"/p":{"post":{"requestBody":{"content":{` + list(900, `"a/b%d":{"encoding":{"e":{"contentType":"x"}}}`, func(i int) []any { return []any{i} }) + `}},"responses":{}}},` +
				list(9_000, `"/p%d":{"$ref":"#/paths/~1p"}`, func(i int) []any { return []any{i} }) + `}}`
		},
		"texts-shared": func() string {
			return `{"openapi":"3.0.3","paths":{"/p":{"get":{"description":"` + strings.Repeat("word ", 200_000) + `","responses":{}}},` +
				list(9_000, `"/p%d":{"$ref":"#/paths/~1p"}`, func(i int) []any { return []any{i} }) + `}}`
		},
		"answer-text-shared": func() string {
			return `{"openapi":"3.0.3","paths":{"/p":{"get":{"responses":{"400":{"description":"` + strings.Repeat("word ", 200_000) + `"}}}},` +
				list(9_000, `"/p%d":{"$ref":"#/paths/~1p"}`, func(i int) []any { return []any{i} }) + `}}`
		},
		"parameter-text-shared": func() string {
			return `{"openapi":"3.0.3","paths":{"/p":{"get":{"parameters":[{"name":"q","in":"query","description":"` + strings.Repeat("word ", 200_000) + `"}],"responses":{}}},` +
				list(9_000, `"/p%d":{"$ref":"#/paths/~1p"}`, func(i int) []any { return []any{i} }) + `}}`
		},
		"schema-text-shared": func() string {
			return `{"openapi":"3.0.3","paths":{"/p":{"get":{"parameters":[{"name":"q","in":"query","schema":{"type":"string","description":"` + strings.Repeat("word ", 200_000) + `"}}],"responses":{}}},` +
				list(9_000, `"/p%d":{"$ref":"#/paths/~1p"}`, func(i int) []any { return []any{i} }) + `}}`
		},
		"examples-shared": func() string {
			return `{"openapi":"3.0.3","paths":{"/p":{"post":{"requestBody":{"content":{"application/json":{"schema":{"type":"object","properties":{"a":{"type":"string"}}},"examples":{` +
				list(20_000, `"e%d":{"value":{"b":"c"}}`, func(i int) []any { return []any{i} }) + `}}}},"responses":{}}},` +
				list(9_000, `"/p%d":{"$ref":"#/paths/~1p"}`, func(i int) []any { return []any{i} }) + `}}`
		},
		"enum-shared": func() string {
			return `{"openapi":"3.0.3","paths":{"/p":{"get":{"parameters":[{"name":"q","in":"query","schema":{"enum":[` + list(100_000, `"e%d"`, func(i int) []any { return []any{i} }) + `]}}],"responses":{}}},` +
				list(9_000, `"/p%d":{"$ref":"#/paths/~1p"}`, func(i int) []any { return []any{i} }) + `}}`
		},
		"enum-shared-small": func() string {
			return `{"openapi":"3.0.3","paths":{"/p":{"get":{"parameters":[{"name":"q","in":"query","schema":{"enum":[` + list(9_000, `"e%d"`, func(i int) []any { return []any{i} }) + `]}}],"responses":{}}},` +
				list(9_000, `"/p%d":{"$ref":"#/paths/~1p"}`, func(i int) []any { return []any{i} }) + `}}`
		},
		"body-shared": func() string {
			return `{"openapi":"3.0.3","paths":{"/p":{"post":{"requestBody":{"content":{"application/json":{"schema":{"type":"object","properties":{` +
				list(3_000, `"property%d":{"type":"string","maxLength":%[1]d}`, func(i int) []any { return []any{i} }) + `}}}}},"responses":{}}},` +
				list(9_000, `"/p%d":{"$ref":"#/paths/~1p"}`, func(i int) []any { return []any{i} }) + `}}`
		},
		"body-shared-reduced": func() string {
			return `{"openapi":"3.0.3","paths":{"/p":{"post":{"requestBody":{"content":{"application/json":{"schema":{"type":"object","properties":{` +
				list(900, `"p%d":{"type":"object","description":"Some text that takes its place here","properties":{"a":{"type":"string"},"b":{"type":"integer"}}}`, func(i int) []any { return []any{i} }) + `}}}}},"responses":{}}},` +
				list(9_000, `"/p%d":{"$ref":"#/paths/~1p"}`, func(i int) []any { return []any{i} }) + `}}`
		},
		"servers-shared": func() string {
			return `{"openapi":"3.0.3","paths":{"/p":{"servers":[` + list(20_000, `{"url":"https://{v%d}.example"}`, func(i int) []any { return []any{i} }) + `],"get":{"responses":{}}},` +
				list(9_000, `"/p%d":{"$ref":"#/paths/~1p"}`, func(i int) []any { return []any{i} }) + `}}`
		},
		"callbacks-shared": func() string {
			return `{"openapi":"3.0.3","paths":{"/p":{"get":{"callbacks":{` + list(2_000, `"c%d":{"x":{"post":{}}}`, func(i int) []any { return []any{i} }) + `},"responses":{}}},` +
				list(9_000, `"/p%d":{"$ref":"#/paths/~1p"}`, func(i int) []any { return []any{i} }) + `}}`
		},
		"security": func() string {
			return `{"openapi":"3.0.3","paths":{"/a":{"get":{"operationId":"a","security":[` + list(200_000, `{"s%d":[]}`, func(i int) []any { return []any{i} }) + `],"responses":{}}}}}`
		},
	}
}

func wide(text string) string {
	var b strings.Builder
	for _, c := range []byte(text) {
		b.WriteByte(c)
		b.WriteByte(0)
	}
	return b.String()
}

// exploded is the cost of loading a bomb.
type exploded struct {
	Outcome string
	Time    time.Duration // of Load, Compile and CheckSchema
	Memory  int64         // peak resident memory of the process, in bytes
	cpu     time.Duration // of the process
}

// slow reports whether a bomb took too long. On a busy machine, as for tests without -bombs, the processor time is the
// better estimate.
func (e exploded) slow() bool {
	if *hardCaps {
		return e.Time > timeCap()
	}
	return min(e.Time, e.cpu) > timeCap()
}

// TestBombCorpus covers the bombs of requirement S3: small or ordinary documents that expand to much. Each is loaded,
// compiled and its schemas checked in a process of its own, so that its cost can be measured. A case of testdata/bombs
// contains the document, or none if made generates it, and in want the expected outcome.
func TestBombCorpus(t *testing.T) {
	if race.Enabled {
		t.Skip("far too slow and large under the race detector")
	}
	var b strings.Builder
	table := tabwriter.NewWriter(&b, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(table, "bomb\tKiB\tms\tCPU ms\tMiB\t")
	eachCase(t, "bombs", func(t *testing.T, a *txtar.Archive) map[string]string {
		name := strings.TrimPrefix(t.Name(), "TestBombCorpus/")
		text, file := bombText(a, name), "spec.json"
		if index(a, "spec.yaml") >= 0 {
			file = "spec.yaml"
		}
		path := write(t, t.TempDir(), file, text)
		e := explode(t, path)
		if e.slow() || e.Memory > memoryCap {
			e = explode(t, path) // the machine may have been busy: once more
		}
		if e.slow() || e.Memory > memoryCap && *hardCaps || e.Memory > 2*memoryCap {
			t.Errorf("took %v and %d MiB", e.Time, e.Memory>>20)
		}
		fmt.Fprintf(table, "%s\t%d\t%d\t%d\t%d\t\n", name, len(text)>>10, e.Time.Milliseconds(), e.cpu.Milliseconds(), e.Memory>>20)
		return map[string]string{"want": e.Outcome}
	})
	for name := range made() {
		if _, err := os.Stat(filepath.Join("testdata", "bombs", name+".txtar")); err != nil {
			t.Errorf("a bomb without a case: %v", err)
		}
	}
	if *hardCaps {
		table.Flush()
		t.Log("\n" + b.String())
	}
}

// TestWriteBombs writes the bombs into a folder, to try them on a whole gateway.
func TestWriteBombs(t *testing.T) {
	if *bombsTo == "" {
		t.Skip("without -bombs-to nobody wants them")
	}
	archives, err := filepath.Glob(filepath.Join("testdata", "bombs", "*.txtar"))
	if err != nil || len(archives) == 0 {
		t.Fatalf("%d archives, %v", len(archives), err)
	}
	for _, path := range archives {
		a, err := txtar.ParseFile(path)
		if err != nil {
			t.Fatal(err)
		}
		name := strings.TrimSuffix(filepath.Base(path), ".txtar")
		text := bombText(a, name)
		if err := os.WriteFile(filepath.Join(*bombsTo, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// bombText is the document of a bomb's case.
func bombText(a *txtar.Archive, name string) string {
	if f := made()[name]; f != nil {
		return f()
	}
	if i := index(a, "spec.yaml"); i >= 0 {
		return string(a.Files[i].Data)
	}
	return file(a, "spec.json")
}

// explode loads a document in another process.
func explode(t *testing.T, path string) exploded {
	t.Helper()
	return explodeIn(t, "TestBombChild", "BOMB="+path)
}

// explodeIn runs a test in another process, with the location in an environment variable.
func explodeIn(t *testing.T, child, variable string) exploded {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^"+child+"$", "-test.count=1")
	cmd.Env = append(os.Environ(), variable)
	var errs bytes.Buffer
	cmd.Stderr = &errs
	out, err := cmd.Output()
	first, _, _ := bytes.Cut(out, []byte("\n"))
	var e exploded
	if err != nil || json.Unmarshal(first, &e) != nil {
		t.Fatalf("%v: %.2000s %.2000s", err, out, errs.Bytes())
	}
	if u, ok := cmd.ProcessState.SysUsage().(*syscall.Rusage); ok {
		e.cpu = time.Duration(u.Utime.Nano() + u.Stime.Nano())
	}
	return e
}

// TestBombChild is the other process of TestBombCorpus.
func TestBombChild(t *testing.T) {
	path := os.Getenv("BOMB")
	if path == "" {
		t.Skip("it is run by TestBombCorpus")
	}
	start := time.Now()
	outcome := outcomeOf(t, path)
	e := exploded{Time: time.Since(start), Memory: peakMemory(), Outcome: outcome}
	if err := json.NewEncoder(os.Stdout).Encode(e); err != nil {
		t.Fatal(err)
	}
}

// peakMemory returns the peak resident memory of this process; 0 if the system doesn't report it. getrusage includes
// that of the parent.
func peakMemory() int64 {
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return 0
	}
	_, text, _ := strings.Cut(string(status), "VmHWM:")
	var kib int64
	_, _ = fmt.Sscan(text, &kib)
	return kib << 10
}

// outcomeOf describes the result for a document: its operations with the size of their schemas, the skipped ones, and
// the problems, the first three of each kind.
func outcomeOf(t *testing.T, path string) string {
	// The folder has another length in each run, so it is removed before a text is cut.
	short := func(v any) string { return strings.ReplaceAll(fmt.Sprint(v), filepath.Dir(path)+"/", "") }
	doc, err := Load(t.Context(), path, LoadOptions{})
	if err != nil {
		return "error: " + short(err) + "\n"
	}
	api, err := doc.Compile(t.Context(), CompileOptions{})
	if err != nil {
		return "error: " + short(err) + "\n"
	}
	var b strings.Builder
	for i, op := range api.Operations {
		if i < 3 {
			fmt.Fprintf(&b, "%s %s: %d bytes in, %d out\n", op.Method, op.Path, len(op.Input), len(op.Output))
		}
		if err := op.CheckSchema(); err != nil {
			fmt.Fprintf(&b, "  schema: %s\n", short(err))
		}
	}
	fmt.Fprintf(&b, "%d operations, %d skipped\n", len(api.Operations), len(api.Skipped))
	for _, s := range api.Skipped[:min(len(api.Skipped), 3)] {
		fmt.Fprintf(&b, "%.300s\n", short(s))
	}
	count := make(map[string]int)
	for _, p := range api.Problems {
		if count[p.Code]++; count[p.Code] <= 3 {
			fmt.Fprintf(&b, "%s %.300s\n", p.Code, short(p))
		}
	}
	return strings.ReplaceAll(b.String(), "\x00", `\x00`)
}
