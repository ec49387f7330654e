package main

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"drawbridge/config"
	"drawbridge/gateway/catalog"
	"drawbridge/gateway/embedding"
	"drawbridge/gateway/finder"
)

// vectors says how tools are ranked.
type vectors struct {
	url, model, by, cache string

	embedder *embedding.Embedder
	settings *config.Embeddings
	metrics  *prometheus.Registry
}

// patience is how long a query waits for its vector here, where only the ranks matter.
const patience = 10 * time.Second

// newSearched makes what ranks tools.
func (v *vectors) newSearched(tools []*catalog.Tool) (*searched, error) {
	if v.url == "" || v.by == "words" {
		index := finder.OfTools(tools, nil)
		return &searched{find: index.Search, byName: index.Search, tools: tools}, nil
	}
	if v.by != "both" && v.by != "vectors" {
		return nil, fmt.Errorf("-by is words, vectors or both, not %q", v.by)
	}
	if v.embedder == nil {
		u, err := config.ParseURL(v.url)
		if err != nil {
			return nil, fmt.Errorf("-embeddings %q %w", v.url, err)
		}
		v.metrics = prometheus.NewRegistry()
		v.settings = &config.Embeddings{URL: u, Model: v.model}
		v.embedder = embedding.New(embedding.Options{
			StateDir: v.cache, Logger: slog.New(slog.NewTextHandler(os.Stderr, nil)), Metrics: v.metrics, UserAgent: "drawbridge-finding",
			QueryTimeout: patience, Recover: func(_ string, step func()) bool { step(); return false },
		})
	}
	f := v.embedder.NewFinder(v.settings, tools)
	if err := v.embedder.Fill(context.Background(), f); err != nil {
		return nil, err
	}
	if f.Embedded() < len(tools) {
		return nil, fmt.Errorf("%d of %d tools have no vector", len(tools)-f.Embedded(), len(tools))
	}
	f.Index()
	if v.by == "both" {
		return &searched{find: func(q finder.Query) finder.Result { return f.Find(context.Background(), q) }, byName: f.Index().Search, tools: tools}, nil
	}
	return &searched{find: func(q finder.Query) finder.Result {
		return finder.Result{Hits: f.FindByVectors(context.Background(), q)}
	}, tools: tools}, nil
}

// check returns an error if queries had no vectors: the ranks are not those that were asked for then.
func (v *vectors) check(queries int) error {
	if v.metrics == nil {
		return nil
	}
	families, err := v.metrics.Gather()
	if err != nil {
		return err
	}
	for _, family := range families {
		if family.GetName() != "drawbridge_embedding_queries_total" {
			continue
		}
		for _, m := range family.GetMetric() {
			if outcome := m.GetLabel()[0].GetValue(); outcome != "ok" && m.GetCounter().GetValue() > 0 {
				return fmt.Errorf("%v of %d queries have no vector: %s", m.GetCounter().GetValue(), queries, outcome)
			}
		}
	}
	return nil
}
