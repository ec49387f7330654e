package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"drawbridge/gateway/catalog"
	"drawbridge/gateway/finder"
	"drawbridge/gateway/tokenizer"
	"drawbridge/gateway/toolsearch"
	"drawbridge/openapi"
)

// indexed is the number of tools for which the goals of the index hold.
const indexed = 10_000

// answers prints what answers of search_tools cost, and the index of 10,000 tools.
func (s *settings) answers() error {
	queries, err := readQueries(filepath.Join(s.finding, "queries.jsonl"))
	if err != nil {
		return err
	}
	documents, err := filepath.Glob(filepath.Join(s.finding, "documents", "*.json"))
	if err != nil {
		return err
	}
	var apis []catalog.API
	for _, file := range append(documents, filepath.Join(s.corpus, "big", "github.json")) {
		api, err := compile(file)
		if err != nil {
			return err
		}
		apis = append(apis, api)
	}
	for n := 0; count(apis) < indexed; n++ { // the same documents again, under other names
		again := apis[n%len(apis)]
		again.Name = fmt.Sprintf("%s-%d", again.Name, n)
		apis = append(apis, again)
	}
	c := catalog.Build(apis, catalog.Options{})
	c = c.Only(func() func(*catalog.Tool) bool {
		n := 0
		return func(*catalog.Tool) bool { n++; return n <= indexed }
	}())
	index, took, size := build(c)
	scope := &toolsearch.Scope{Tools: c.All(), Index: func() *finder.Index { return index }, Allowed: func(*catalog.Tool) bool { return true }}
	var tokens []int
	var times, whole []time.Duration
	for range 5 { // each query several times: p99 is not that of a cold cache
		for _, q := range queries {
			args, err := json.Marshal(map[string]any{"query": q})
			if err != nil {
				return err
			}
			began := time.Now()
			index.Search(finder.Query{Text: q, Limit: 8})
			times = append(times, time.Since(began))
			began = time.Now()
			text, found, err := scope.Search(context.Background(), args)
			whole = append(whole, time.Since(began))
			if err != nil {
				return err
			}
			if found == 8 && len(tokens) < len(queries) {
				tokens = append(tokens, tokenizer.Count([]byte(text)))
			}
		}
	}
	slices.Sort(tokens)
	slices.Sort(times)
	slices.Sort(whole)
	fmt.Printf("| search among %d tools, %d queries | | goal | |\n|---|---|---|---|\n", len(c.All()), len(queries))
	s.row("tokens of 8 hits, median", float64(tokens[len(tokens)/2]), 700, "%.0f")
	s.row("tokens of 8 hits, p90", float64(tokens[len(tokens)*9/10]), 900, "%.0f")
	s.row("time of a query, p99 in ms", ms(times[len(times)*99/100]), 1, "%.2f")
	fmt.Printf("| time of a query, median in ms | %.2f | – | |\n", ms(times[len(times)/2]))
	fmt.Printf("| time of a query and its answer, median in ms | %.2f | – | |\n", ms(whole[len(whole)/2]))
	s.row("memory of the index in MiB", size, 40, "%.1f")
	fmt.Printf("| time to build the index in s, once the gateway serves | %.2f | – | |\n", took.Seconds())
	return nil
}

func ms(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }

// build returns the index of a catalog, the median time of three builds and its size in MiB.
func build(c *catalog.Catalog) (index *finder.Index, took time.Duration, size float64) {
	var all []time.Duration
	for range 3 {
		index = nil
		var before, after runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&before)
		began := time.Now()
		index = finder.OfTools(c.All(), nil)
		all = append(all, time.Since(began))
		runtime.GC()
		runtime.ReadMemStats(&after)
		size = float64(int64(after.HeapAlloc)-int64(before.HeapAlloc)) / (1 << 20) //nolint:gosec // far from the limit
	}
	slices.Sort(all)
	return index, all[1], size
}

func count(apis []catalog.API) (n int) {
	for _, api := range apis {
		n += len(api.Operations)
	}
	return n
}

func compile(file string) (api catalog.API, err error) {
	d, err := openapi.Load(context.Background(), file, openapi.LoadOptions{})
	if err != nil {
		return api, err
	}
	compiled, err := d.Compile(context.Background(), openapi.CompileOptions{})
	if err != nil {
		return api, fmt.Errorf("%s: %w", file, err)
	}
	return catalog.API{Name: strings.TrimSuffix(filepath.Base(file), ".json"), Operations: compiled.Operations}, nil
}

func readQueries(file string) (queries []string, err error) {
	f, err := os.Open(file)
	if err != nil {
		return nil, fmt.Errorf("the queries: %w", err)
	}
	defer f.Close()
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var q struct{ Query string }
		if err := json.Unmarshal(lines.Bytes(), &q); err != nil {
			return nil, fmt.Errorf("%s: %w", file, err)
		}
		queries = append(queries, q.Query)
	}
	return queries, lines.Err()
}
