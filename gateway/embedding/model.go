package embedding

import (
	"context"
	"log/slog"
	"strings"
	"sync/atomic"
	"time"

	"drawbridge/config"
)

// model is an embeddings server with the vectors that it has made. It is kept while the configuration names it.
type model struct {
	settings config.Embeddings
	client   *client
	log      *slog.Logger
	circuit  circuit
	slots    chan struct{} // has a slot for each query that waits
	// dimensions is the number of dimensions of all vectors; 0 until there is one.
	dimensions atomic.Int64
	vectors    *vectors // belongs to the goroutine that makes vectors
}

func newModel(e *config.Embeddings, o *Options) *model {
	m := &model{settings: *e, client: newClient(e, o), log: o.Logger, slots: make(chan struct{}, maxQueries), vectors: newVectors()}
	m.dimensions.Store(int64(e.Dimensions))
	return m
}

// query returns the vector of a query, or nil and the reason. any reports whether there are vectors to compare it with.
func (m *model) query(ctx context.Context, text string, any bool, timeout time.Duration) (*vector, outcome) {
	if text = cut(text); !any || text == "" {
		return nil, outcomeNone
	}
	select {
	case m.slots <- struct{}{}:
		defer func() { <-m.slots }()
	default:
		return nil, outcomeBusy
	}
	if !m.circuit.admit() {
		return nil, outcomePaused
	}
	within, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	found, err := m.client.embed(within, []string{text}, int(m.dimensions.Load()))
	o := outcomeOf(err)
	if ctx.Err() != nil {
		o = outcomeCanceled
	}
	if m.circuit.report(o) {
		if err == nil {
			m.log.Info("embeddings of queries are used again")
		} else {
			m.log.Warn("queries are answered by words alone for a while: their embeddings failed", "outcome", o, "error", err, "pause", pauseLength)
		}
	}
	if o != outcomeOK {
		return nil, o
	}
	return &found[0], o
}

// name returns the name of the model for logs.
func (m *model) name() string { return strings.ToValidUTF8(m.settings.Model, "") }
