package openapi

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"slices"
	"strings"
	"syscall"
	"testing"
	"text/tabwriter"
	"time"

	"go.yaml.in/yaml/v4"

	"drawbridge/test/race"
	"drawbridge/test/timebox"
)

// TestCorpus covers the corpus of real documents: those in testdata, and those of the directory in OPENAPI_CORPUS if it
// is set (its INDEX.md lists the entry files). With TOOLS_DUMP set, all schemas are written to that file as JSON lines,
// for external judges: {"document":…,"operation":…,"kind":"input","schema":{…}}.
func TestCorpus(t *testing.T) {
	documents := corpus(t, "testdata/corpus")
	if dir := os.Getenv("OPENAPI_CORPUS"); dir != "" {
		documents = append(documents, corpus(t, dir)...)
	}
	var dump *bufio.Writer
	if name := os.Getenv("TOOLS_DUMP"); name != "" {
		f, err := os.Create(name)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		dump = bufio.NewWriter(f)
		defer dump.Flush()
	}

	table := tabwriter.NewWriter(t.Output(), 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(table, "document\toperations\texposed\tchanged\tskipped\tproblems\tms\tpeak MB\t")
	var total struct{ operations, exposed, changed, skipped, problems int }
	var details []string
	for _, name := range documents {
		want := countOperations(t, name)
		api, cost, err := compileMeasured(t, name)
		short := filepath.Base(name)
		if err != nil {
			// The one document that no parser can read; it has no operations to lose.
			if !strings.Contains(short, "zohosign") {
				t.Errorf("%s: %v", short, err)
			}
			fmt.Fprintf(table, "%s\t%d\t%s\t\t\t\t%d\t%d\t\n", short, want, "no", cost.time.Milliseconds(), cost.peak>>20)
			continue
		}
		n := len(api.Operations) + len(api.Skipped)
		if n != want {
			t.Errorf("%s: %d operations came to an end, %d are in the document", short, n, want)
		}
		changed, problems := 0, 0
		for _, op := range api.Operations {
			if api.Changed(op) {
				changed++
			}
		}
		for _, n := range api.ProblemCounts() {
			problems += n
		}
		exposed := len(api.Operations) - changed
		total.operations += n
		total.exposed += exposed
		total.changed += changed
		total.skipped += len(api.Skipped)
		total.problems += problems
		fmt.Fprintf(table, "%s\t%d\t%d\t%d\t%d\t%d\t%d\t%d\t\n", short, n, exposed, changed, len(api.Skipped), problems,
			cost.time.Milliseconds(), cost.peak>>20)
		for _, s := range api.Skipped {
			if s.Reason == "" || s.Position.File == "" || s.Position.Line == 0 {
				t.Errorf("%s: skipped without reason or position: %+v", short, s)
			}
			details = append(details, s.String())
		}
		for _, p := range api.Problems {
			if p.Code == "" || p.Message == "" {
				t.Errorf("%s: a problem says nothing: %+v", short, p)
			}
		}
		if cost.processor > 5*time.Second && !race.Enabled {
			t.Errorf("%s: took %v", short, cost.time)
		}
		if cost.peak > 300<<20 && !race.Enabled {
			t.Errorf("%s: took %d MB", short, cost.peak>>20)
		}
		checkOperations(t, short, api)
		if dump != nil {
			dumpSchemas(t, dump, short, api)
		}
	}
	percent := func(n int) float64 { return 100 * float64(n) / float64(max(total.operations, 1)) }
	fmt.Fprintf(table, "all\t%d\t%d\t%d\t%d\t%d\t\t\t\n", total.operations, total.exposed, total.changed, total.skipped, total.problems)
	fmt.Fprintf(table, "\t\t%.2f %%\t%.2f %%\t%.2f %%\t\t\t\t\n", percent(total.exposed), percent(total.changed), percent(total.skipped))
	table.Flush()
	tools := total.exposed + total.changed
	share := percent(tools)
	fmt.Fprintf(t.Output(), "\n%d of %d operations became tools: %.2f %%. Exposed are those that are as the document says; of the\n"+
		"changed ones something was repaired, renamed, left out or reduced. What was skipped:\n", tools, total.operations, share)
	for _, d := range details {
		fmt.Fprintln(t.Output(), d)
	}
	if share < 99.5 {
		t.Errorf("%.2f %% of all operations became tools; 99.5 %% are wanted", share)
	}
}

func corpus(t *testing.T, dir string) []string {
	t.Helper()
	var found []string
	if index, err := os.ReadFile(filepath.Join(dir, "INDEX.md")); err == nil {
		for line := range strings.Lines(string(index)) {
			if cells := strings.Split(line, "|"); len(cells) > 2 {
				name := filepath.Join(dir, filepath.FromSlash(strings.TrimSpace(cells[1])))
				if info, err := os.Stat(name); err == nil && info.Mode().IsRegular() {
					found = append(found, name)
				}
			}
		}
	} else if errors.Is(err, fs.ErrNotExist) {
		for _, pattern := range []string{"*.yaml", "*.yml", "*.json"} {
			names, err := filepath.Glob(filepath.Join(dir, pattern))
			if err != nil {
				t.Fatal(err)
			}
			found = append(found, names...)
		}
	}
	if len(found) == 0 {
		t.Fatalf("no documents in %s", dir)
	}
	return found
}

type cost struct {
	time      time.Duration
	processor time.Duration // processor time of all cores: unlike elapsed time it does not depend on other load
	peak      uint64        // peak heap in bytes while the document was read and compiled
}

// processorTime returns the processor time that the process has used.
func processorTime() time.Duration {
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		return 0
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}

func compileMeasured(t *testing.T, name string) (*API, cost, error) {
	t.Helper()
	debug.FreeOSMemory()
	sample := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}, {Name: "/memory/classes/heap/unused:bytes"}}
	heap := func() uint64 {
		metrics.Read(sample)
		return sample[0].Value.Uint64() + sample[1].Value.Uint64()
	}
	before, peak := heap(), uint64(0)
	done, stopped := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(stopped)
		tick := time.NewTicker(2 * time.Millisecond)
		defer tick.Stop()
		for {
			peak = max(peak, heap())
			select {
			case <-tick.C:
			case <-done:
				return
			}
		}
	}()
	start, used := time.Now(), processorTime()
	var api *API
	doc, err := Load(t.Context(), name, LoadOptions{})
	if err == nil {
		api, err = doc.Compile(t.Context(), CompileOptions{})
	}
	c := cost{time: time.Since(start), processor: processorTime() - used}
	close(done)
	timebox.Wait(t, stopped)
	if peak > before {
		c.peak = peak - before
	}
	return api, c, err
}

// checkOperations checks the properties of every operation of every document.
func checkOperations(t *testing.T, document string, api *API) {
	t.Helper()
	for _, op := range api.Operations {
		at := fmt.Sprintf("%s: %s %s", document, op.Method, op.Path)
		if op.Position.Line == 0 {
			t.Errorf("%s: no position", at)
		}
		if (op.Base == nil) == (op.BaseProblem == "") {
			t.Errorf("%s: base %v, problem %q", at, op.Base, op.BaseProblem)
		}
		for _, s := range []json.RawMessage{op.Input, op.Output} {
			var root struct{ Type string }
			if s != nil && (json.Unmarshal(s, &root) != nil || root.Type != "object") {
				t.Errorf("%s: a schema is not of type object: %.200s", at, s)
			}
		}
		if !testing.Short() {
			if err := op.CheckSchema(); err != nil {
				t.Errorf("%s: %v", at, err)
			}
		}
		for _, a := range op.arguments {
			if argumentName(a.name) != a.name {
				t.Errorf("%s: argument name %q", at, a.name)
			}
		}
	}
}

func dumpSchemas(t *testing.T, w *bufio.Writer, document string, api *API) {
	t.Helper()
	for _, op := range api.Operations {
		for kind, s := range map[string]json.RawMessage{"input": op.Input, "output": op.Output} {
			if s == nil {
				continue
			}
			line, err := json.Marshal(map[string]any{"document": document, "operation": op.Method + " " + op.Path, "kind": kind, "schema": s})
			if err != nil {
				t.Errorf("%s %s: %v", op.Method, op.Path, err)
				continue
			}
			w.Write(line)
			w.WriteByte('\n')
		}
	}
}

// countOperations counts the operations of a document independently of the package, so that missing ones are noticed.
func countOperations(t *testing.T, name string) int {
	t.Helper()
	root := readAny(name)
	paths, _ := root["paths"].(map[string]any)
	n := 0
	for path, item := range paths {
		item, _ := item.(map[string]any)
		if strings.HasPrefix(path, "x-") || item == nil {
			continue
		}
		n += countItem(t, name, root, item, 0)
	}
	return n
}

func countItem(t *testing.T, file string, root, item map[string]any, depth int) int {
	t.Helper()
	if ref, ok := item["$ref"].(string); ok && depth < 10 {
		target, fragment, _ := strings.Cut(ref, "#")
		if target != "" {
			file = filepath.Join(filepath.Dir(file), target)
			root = readAny(file)
		}
		var at any = root
		for _, step := range strings.Split(fragment, "/")[1:] {
			step = strings.NewReplacer("~1", "/", "~0", "~").Replace(step)
			m, _ := at.(map[string]any)
			at = m[step]
		}
		next, _ := at.(map[string]any)
		if next == nil {
			return 1 // a path item that is missing is skipped as one
		}
		return countItem(t, file, root, next, depth+1)
	}
	n := 0
	for key, member := range item {
		switch strings.ToLower(key) {
		case "get", "put", "post", "delete", "options", "head", "patch", "trace", "query":
			if member != nil {
				n++
			}
		case "additionaloperations":
			more, _ := member.(map[string]any)
			n += len(more)
		}
	}
	return n
}

func readAny(name string) map[string]any {
	data, err := os.ReadFile(name)
	if err != nil {
		return nil
	}
	var root map[string]any
	if json.Unmarshal(data, &root) == nil {
		return root
	}
	var node any
	if yaml.Unmarshal(data, &node) != nil {
		return nil
	}
	root, _ = stringKeys(node).(map[string]any)
	return root
}

// stringKeys converts the member names of an object to strings, which YAML keys such as 200 are not.
func stringKeys(v any) any {
	switch v := v.(type) {
	case map[any]any:
		m := make(map[string]any, len(v))
		for k, e := range v {
			m[fmt.Sprint(k)] = stringKeys(e)
		}
		return m
	case map[string]any:
		for k, e := range v {
			v[k] = stringKeys(e)
		}
	case []any:
		for i, e := range v {
			v[i] = stringKeys(e)
		}
	}
	return v
}

// TestCompiledHeap checks that operations keep nothing of a document alive.
func TestCompiledHeap(t *testing.T) {
	dir := os.Getenv("OPENAPI_CORPUS")
	if dir == "" {
		t.Skip("OPENAPI_CORPUS is not set")
	}
	for name, limit := range map[string]uint64{"big/github.json": 25 << 20, "big/stripe.json": 25 << 20} {
		before := liveHeap()
		api, _, err := compileMeasured(t, filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		live := liveHeap() - before
		schemas := 0
		for _, op := range api.Operations {
			schemas += len(op.Input) + len(op.Output)
		}
		t.Logf("%s: %.1f MB live after compilation, of which %.1f MB are schemas", name, float64(live)/(1<<20), float64(schemas)/(1<<20))
		if live > limit {
			t.Errorf("%s: %d MB stay alive", name, live>>20)
		}
		runtime.KeepAlive(api)
	}
}

func liveHeap() uint64 {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

func BenchmarkLoadCompile(b *testing.B) {
	dir := os.Getenv("OPENAPI_CORPUS")
	if dir == "" {
		b.Skip("OPENAPI_CORPUS is not set")
	}
	for _, name := range []string{"big/github.json", "big/stripe.json", "kubernetes.io-main--swagger.yaml"} {
		b.Run(strings.TrimSuffix(filepath.Base(name), filepath.Ext(name)), func(b *testing.B) {
			b.ReportAllocs()
			var load, compile []time.Duration
			for b.Loop() {
				start := time.Now()
				doc, err := Load(b.Context(), filepath.Join(dir, name), LoadOptions{})
				if err != nil {
					b.Fatal(err)
				}
				loaded := time.Now()
				if _, err := doc.Compile(b.Context(), CompileOptions{}); err != nil {
					b.Fatal(err)
				}
				load, compile = append(load, loaded.Sub(start)), append(compile, time.Since(loaded))
			}
			slices.Sort(load)
			slices.Sort(compile)
			b.ReportMetric(float64(load[len(load)/2].Milliseconds()), "load-ms")
			b.ReportMetric(float64(compile[len(compile)/2].Milliseconds()), "compile-ms")
		})
	}
}
