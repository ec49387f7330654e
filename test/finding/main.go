// Command finding measures how well gateway/finder finds the tools that queries of public sets are about. It prints, for
// each set, how often a right tool is among the first 1, 3, 5 and 10, the mean reciprocal rank and the time of a query.
//
//	go run ./test/finding [-all] [-misses SET] [-weak SET] [-half tuned|held] [-document NAME [-overlay FILE]]
//	    [-embeddings URL [-model NAME] [-by words|vectors|both] [-cache DIR]] DIRECTORY
//	go run ./test/finding -across|-people [-specs DIRECTORY] [-misses SET] [-weak SET] [-half tuned|held] DIRECTORY
//
// With -across, one gateway serves eight documents and gets the queries of across.jsonl; with -people, it serves 24 and
// gets requests in everyday words. These also print how many answers say that nothing fits well, and how often the name
// of a tool finds it first. With -half, only the queries are asked by
// which the ranking was tuned, or only the others.
//
// With -document only the queries about one document are asked, and -overlay applies an OpenAPI overlay to it. With
// -embeddings, tools and queries get vectors from a server of POST /v1/embeddings, such as test/embeddings.
//
// DIRECTORY has documents/*.json and queries.jsonl, one {"set", "document", "query", "gold": [[METHOD, PATH], …]} a line.
package main

import (
	"bufio"
	"cmp"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"drawbridge/gateway/catalog"
	"drawbridge/gateway/finder"
	"drawbridge/openapi"
)

func main() {
	all := flag.Bool("all", false, "search all documents at once instead of the one of the query")
	misses := flag.String("misses", "", "print the queries of this set whose tool is not among the first five")
	weak := flag.String("weak", "", "print the queries of this set whose answer says that nothing fits well")
	document := flag.String("document", "", "ask only the queries about this document, such as discord.com--0e2480.json")
	overlay := flag.String("overlay", "", "an OpenAPI overlay that is applied to -document")
	half := flag.String("half", "", "ask only one half of the queries: tuned or held")
	across := flag.Bool("across", false, "ask the queries of across.jsonl, which are about eight documents that are served at once")
	people := flag.Bool("people", false, "ask requests of people to 24 documents that are served at once")
	specs := flag.String("specs", "", "the directory of the documents of -across and -people (default ../specs beside DIRECTORY)")
	var v vectors
	flag.StringVar(&v.url, "embeddings", "", "the URL of a server of embeddings, with which the ranking by words is fused")
	flag.StringVar(&v.model, "model", "minilm", "the model of that server")
	flag.StringVar(&v.by, "by", "both", "rank by words, vectors or both")
	flag.StringVar(&v.cache, "cache", "", "a directory in which the vectors of tools are kept")
	flag.Parse()
	if flag.NArg() != 1 || *overlay != "" && *document == "" || *half != "" && *half != tuned && *half != held {
		flag.Usage()
		os.Exit(2)
	}
	o := options{*all, *misses, *weak, *half, *document, *overlay}
	measure := func() error { return run(flag.Arg(0), o, &v) }
	*specs = cmp.Or(*specs, filepath.Join(flag.Arg(0), "..", "specs"))
	switch {
	case *across:
		measure = func() error { return runAcross(flag.Arg(0), *specs, o, &v) }
	case *people:
		measure = func() error { return runPeople(*specs, o, &v) }
	}
	if err := measure(); err != nil {
		fmt.Fprintln(os.Stderr, "finding:", err)
		os.Exit(1)
	}
}

// query is one line of queries.jsonl or across.jsonl.
type query struct {
	Set, Document, API, Query string
	// Gold are the right operations: method, path and, if it isn't the API of the query, the API.
	Gold [][]string
}

// api returns the name of the API that the query is about.
func (q *query) api() string { return cmp.Or(q.API, strings.TrimSuffix(q.Document, ".json")) }

// searched is an index with the tools that it was made of.
type searched struct {
	find  func(q finder.Query) finder.Result
	tools []*catalog.Tool
	// byName finds by words alone, without the delay of vectors.
	byName func(q finder.Query) finder.Result
}

// options are what the flags say.
type options struct {
	together          bool
	misses, weak      string
	half              string
	document, overlay string
}

// overlays returns the overlays of a document.
func (o options) overlays(document string) []string {
	if o.overlay == "" || document != o.document {
		return nil
	}
	return []string{o.overlay}
}

func run(dir string, o options, v *vectors) error {
	queries, err := readQueries(filepath.Join(dir, "queries.jsonl"))
	if err != nil {
		return err
	}
	queries = o.halved(queries)
	if o.document != "" {
		queries = slices.DeleteFunc(queries, func(q query) bool { return q.Document != o.document })
	}
	indexes, err := build(dir, queries, o, v)
	if err != nil {
		return err
	}
	ask(queries, func(q *query) *searched { return indexes[q.Document] }, o)
	return v.check(len(queries))
}

// ask asks queries and prints how well their tools are found.
func ask(queries []query, of func(*query) *searched, o options) {
	results, order := map[string]*result{}, []string(nil)
	for _, q := range queries {
		r := results[q.Set]
		if r == nil {
			r = &result{}
			results[q.Set], order = r, append(order, q.Set)
		}
		s := of(&q)
		began := time.Now()
		found := s.find(finder.Query{Text: q.Query, Limit: 100})
		hits := found.Hits
		r.times = append(r.times, time.Since(began))
		rank := rankOf(s, found, &q)
		r.add(rank)
		if found.Weak {
			r.weak++
		}
		if q.Set == o.misses && (rank == 0 || rank > 5) || q.Set == o.weak && found.Weak {
			printHits(s, hits, &q, rank)
		}
	}
	fmt.Println("| set | queries | hit@1 | hit@3 | hit@5 | hit@10 | MRR | weak | median time | p99 |")
	fmt.Println("|---|---|---|---|---|---|---|---|---|---|")
	for _, set := range order {
		results[set].print(set)
	}
}

func readQueries(file string) (queries []query, err error) {
	f, err := os.Open(file)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var q query
		if err := json.Unmarshal(lines.Bytes(), &q); err != nil {
			return nil, fmt.Errorf("%s: %w", file, err)
		}
		queries = append(queries, q)
	}
	return queries, lines.Err()
}

// build makes the indexes that the queries ask: one of each document, or one of all of them with 100 operations and more.
func build(dir string, queries []query, o options, v *vectors) (map[string]*searched, error) {
	indexes := map[string]*searched{}
	var tools []*catalog.Tool
	for _, q := range queries {
		if indexes[q.Document] != nil {
			continue
		}
		of, err := toolsOf(filepath.Join(dir, "documents", q.Document), strings.TrimSuffix(q.Document, ".json"), o.overlays(q.Document))
		if err != nil {
			return nil, err
		}
		if indexes[q.Document], err = v.newSearched(of); err != nil {
			return nil, err
		}
		if len(of) >= 100 {
			tools = append(tools, of...)
		}
	}
	if o.together {
		var before, after runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&before)
		began := time.Now()
		whole, err := v.newSearched(tools)
		if err != nil {
			return nil, err
		}
		took := time.Since(began)
		runtime.GC()
		runtime.ReadMemStats(&after)
		fmt.Printf("%d tools at once: indexed in %v, %.1f MiB\n\n", len(tools), took.Round(time.Millisecond), float64(int64(after.HeapAlloc)-int64(before.HeapAlloc))/(1<<20))
		for document, s := range indexes {
			if len(s.tools) >= 100 {
				indexes[document] = whole
			}
		}
	}
	return indexes, nil
}

// toolsOf returns the tools of a document with overlays.
func toolsOf(file, name string, overlays []string) ([]*catalog.Tool, error) {
	api, err := compile(file, name, overlays)
	if err != nil {
		return nil, err
	}
	return catalog.Build([]catalog.API{api}, catalog.Options{MaxName: 64}).All(), nil
}

// compile returns the API of a document with overlays.
func compile(file, name string, overlays []string) (catalog.API, error) {
	d, err := openapi.Load(context.Background(), file, openapi.LoadOptions{Overlays: overlays})
	if err != nil {
		return catalog.API{}, err
	}
	api, err := d.Compile(context.Background(), openapi.CompileOptions{})
	if err != nil {
		return catalog.API{}, fmt.Errorf("%s: %w", file, err)
	}
	return catalog.API{Name: name, Operations: api.Operations}, nil
}

// rankOf returns the rank of the first right tool; 0 if none was found.
func rankOf(s *searched, found finder.Result, q *query) int {
	isRight := func(tool int) bool {
		t := s.tools[tool]
		return slices.ContainsFunc(q.Gold, func(gold []string) bool {
			return slices.Equal(gold, []string{t.Method, t.Path}) && t.API == q.api() || slices.Equal(gold, []string{t.Method, t.Path, t.API})
		})
	}
	for i, hit := range found.Hits {
		if isRight(hit.Tool) || slices.ContainsFunc(found.Twins[hit.Tool], isRight) {
			return i + 1
		}
	}
	return 0
}

func printHits(s *searched, hits []finder.Hit, q *query, rank int) {
	fmt.Printf("%s, rank %d: %s\n  right: %v\n", q.api(), rank, q.Query, q.Gold)
	for i, hit := range hits[:min(5, len(hits))] {
		t := s.tools[hit.Tool]
		fmt.Printf("  %d. %.2f %s %s %s: %s\n", i+1, hit.Score, t.API, t.Method, t.Path, t.Document.Summary)
	}
}

// result counts the ranks of a set.
type result struct {
	queries, first, third, fifth, tenth int
	weak                                int // answers that say that nothing fits well
	reciprocal                          float64
	times                               []time.Duration
}

func (r *result) add(rank int) {
	r.queries++
	if rank == 0 {
		return
	}
	r.reciprocal += 1 / float64(rank)
	for _, within := range []struct {
		most  int
		count *int
	}{{1, &r.first}, {3, &r.third}, {5, &r.fifth}, {10, &r.tenth}} {
		if rank <= within.most {
			*within.count++
		}
	}
}

func (r *result) print(set string) {
	share := func(n int) float64 { return float64(n) / float64(r.queries) }
	slices.Sort(r.times)
	fmt.Printf("| %s | %d | %.3f | %.3f | %.3f | %.3f | %.3f | %.3f | %v | %v |\n", set, r.queries, share(r.first), share(r.third), share(r.fifth), share(r.tenth),
		r.reciprocal/float64(r.queries), share(r.weak), r.times[len(r.times)/2].Round(time.Microsecond), r.times[len(r.times)*99/100].Round(time.Microsecond))
}
