package tree_test

import (
	"context"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"drawbridge/openapi/tree"
	"drawbridge/test/race"
)

// corpus returns the entry files of the documents in the folder that OPENAPI_CORPUS names: the first column of the
// tables in its INDEX.md.
func corpus(t testing.TB) (dir string, entries []string) {
	dir = os.Getenv("OPENAPI_CORPUS")
	if dir == "" {
		t.Skip("OPENAPI_CORPUS is not set")
	}
	index, err := os.ReadFile(filepath.Join(dir, "INDEX.md"))
	if err != nil {
		t.Skip(err)
	}
	for line := range strings.Lines(string(index)) {
		cells := strings.Split(line, "|")
		if len(cells) < 3 {
			continue
		}
		name := strings.TrimSpace(cells[1])
		if _, err := os.Stat(filepath.Join(dir, name)); err == nil && filepath.Ext(name) != "" {
			entries = append(entries, name)
		}
	}
	return dir, entries
}

// openBelow reads files in the document's own folder of the corpus, by names
// relative to the corpus.
func openBelow(dir, entry string) tree.Opener {
	top, _, _ := strings.Cut(entry, "/")
	return func(_ context.Context, location, _ string, _ int) ([]byte, error) {
		if !strings.HasPrefix(location, top+"/") {
			return nil, fmt.Errorf("outside of %q", top)
		}
		return os.ReadFile(filepath.Join(dir, location))
	}
}

// TestCorpus loads every document of the corpus: one is broken, each of the others takes less than five seconds, and
// the kinds of warnings are those in testdata/corpus.golden.
func TestCorpus(t *testing.T) {
	dir, entries := corpus(t)
	var summary strings.Builder
	for _, entry := range entries {
		data, err := os.ReadFile(filepath.Join(dir, entry))
		if err != nil {
			t.Fatal(err)
		}
		size := len(data)
		peak := watchHeap(t)
		start := time.Now()
		set, warnings, err := tree.Load(context.Background(), entry, data, openBelow(dir, entry), tree.Limits{})
		took, most := time.Since(start), peak()
		if took > 5*time.Second && !race.Enabled {
			t.Errorf("%s took %v", entry, took)
		}
		if err != nil {
			fmt.Fprintf(&summary, "%s\n\terror %v\n", entry, err)
			continue
		}
		fmt.Fprintf(&summary, "%s\n", entry)
		counts := map[string]int{}
		for _, w := range warnings {
			counts[w.Code]++
		}
		for _, code := range slices.Sorted(maps.Keys(counts)) {
			fmt.Fprintf(&summary, "\t%s %d\n", code, counts[code])
		}
		t.Logf("%-70s %7d KB %5d files %8v %4d MiB at most", entry, size>>10, len(set.Files()), took.Round(time.Millisecond), most>>20)
		runtime.KeepAlive(set)
	}
	const golden = "testdata/corpus.golden"
	if *update {
		if err := os.WriteFile(golden, []byte(summary.String()), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), summary.String()); diff != "" {
		t.Error("-want +got:\n" + diff)
	}
}

// BenchmarkLoad measures the largest documents; "live" is the memory that a Set keeps alive, including its source.
func BenchmarkLoad(b *testing.B) {
	dir, _ := corpus(b)
	for _, entry := range []string{"big/github.json", "big/stripe.json", "kubernetes.io-main--swagger.yaml"} {
		data, err := os.ReadFile(filepath.Join(dir, entry))
		if err != nil {
			b.Skip(err)
		}
		b.Run("parse/"+entry, func(b *testing.B) {
			b.SetBytes(int64(len(data)))
			b.ReportAllocs()
			for b.Loop() {
				if _, err := tree.Parse(entry, data, tree.Limits{}); err != nil {
					b.Fatal(err)
				}
			}
		})
		b.Run("load/"+entry, func(b *testing.B) {
			b.SetBytes(int64(len(data)))
			b.ReportAllocs()
			var set *tree.Set
			var before, after runtime.MemStats
			runtime.GC()
			runtime.ReadMemStats(&before)
			for b.Loop() {
				if set, _, err = tree.Load(context.Background(), entry, data, nil, tree.Limits{}); err != nil {
					b.Fatal(err)
				}
			}
			runtime.GC()
			runtime.ReadMemStats(&after)
			b.ReportMetric((float64(after.HeapAlloc)-float64(before.HeapAlloc)+float64(len(data)))/(1<<20), "live-MiB")
			runtime.KeepAlive(set)
		})
	}
}
