package embedding

import (
	"context"
	"log/slog"
	"strings"
	"sync/atomic"
	"time"

	"drawbridge/config"
)

// model is a server of embeddings with the vectors that it has made. It is used as long as the configuration names it.
type model struct {
	settings config.Embeddings
	client   *client
	log      *slog.Logger
	circuit  circuit
	slots    chan struct{} // has a place for each query that waits
	// dimensions is the number that all vectors have; 0 until one is there.
	dimensions atomic.Int64
	vectors    *vectors // of the goroutine that makes vectors
}

func newModel(e *config.Embeddings, o *Options) *model {
	m := &model{settings: *e, client: newClient(e, o), log: o.Logger, slots: make(chan struct{}, maxQueries), vectors: newVectors()}
	m.dimensions.Store(int64(e.Dimensions))
	return m
}

// query returns the vector of a query, or nil and the reason. There is something to compare it with if any is true.
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

// name returns what is said of the model in logs.
func (m *model) name() string { return strings.ToValidUTF8(m.settings.Model, "") }
