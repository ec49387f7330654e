package main

import (
	_ "embed"
	"fmt"
	"hash/fnv"
	"path/filepath"
	"slices"
	"strings"

	"drawbridge/gateway/catalog"
	"drawbridge/gateway/finder"
)

// Halves of the queries, by a hash of their text.
const (
	tuned = "tuned" // the ranking was tuned by these
	held  = "held"  // these were looked at when the tuning was over
)

// halved returns the queries of the half that the options ask for.
func (o options) halved(queries []query) []query {
	if o.half == "" {
		return queries
	}
	return slices.DeleteFunc(queries, func(q query) bool {
		h := fnv.New32a()
		_, _ = h.Write([]byte(q.Query))
		return (h.Sum32()>>16&1 == 0) != (o.half == tuned)
	})
}

// everyday has requests that no API of acrossDocuments answers, one a line.
//
//go:embed testdata/unanswerable.txt
var everyday string

// served is a document that a gateway serves as an API. Its file is relative to the directory of documents.
type served struct{ api, file string }

// acrossDocuments are the documents of across.jsonl by the names of their APIs.
var acrossDocuments = []served{
	{"github", "big/github.json"},
	{"stripe", "big/stripe.json"},
	{"kubernetes", "kubernetes.io-main--swagger.yaml"},
	{"slack", "slack-api-specs--slack_web_openapi_v2.json"},
	{"digitalocean", "openapi--digitalocean-public.v2/DigitalOcean-public.v2.yaml"},
	{"docker", "moby--swagger.yaml"},
	{"zendesk", "zendesk.com-main--oas.yaml"},
	{"spotify", "spotify-web-api--official-spotify-open-api.yml"},
}

// runAcross asks the queries of across.jsonl.
func runAcross(dir, specs string, o options, v *vectors) error {
	queries, err := readQueries(filepath.Join(dir, "across.jsonl"))
	if err != nil {
		return err
	}
	return askTogether(specs, acrossDocuments, append(queries, unanswerable("everyday", everyday)...), o, v)
}

// unanswerable returns the queries of a text, one a line, which no tool answers.
func unanswerable(set, text string) (queries []query) {
	for line := range strings.Lines(text) {
		queries = append(queries, query{Set: set, Query: strings.TrimSpace(line)})
	}
	return queries
}

// askTogether asks queries of a gateway that serves several documents.
func askTogether(specs string, documents []served, queries []query, o options, v *vectors) (err error) {
	queries = o.halved(queries)
	apis := make([]catalog.API, len(documents))
	for i, d := range documents {
		if apis[i], err = compile(filepath.Join(specs, filepath.FromSlash(d.file)), d.api, nil); err != nil {
			return err
		}
	}
	tools := catalog.Build(apis, catalog.Options{}).All()
	s, err := v.newSearched(tools)
	if err != nil {
		return err
	}
	fmt.Printf("%d tools of %d APIs\n\n", len(tools), len(documents))
	ask(queries, func(*query) *searched { return s }, o)
	printNames(s)
	return v.check(len(queries))
}

// printNames prints how often the name of a tool finds it first.
func printNames(s *searched) {
	if s.byName == nil {
		return
	}
	first := 0
	for i, t := range s.tools {
		if r := s.byName(finder.Query{Text: t.Name, Limit: 1}); len(r.Hits) > 0 && (r.Hits[0].Tool == i || slices.Contains(r.Twins[r.Hits[0].Tool], i)) {
			first++
		}
	}
	fmt.Printf("\n%d of %d names find their tool first\n", first, len(s.tools))
}
