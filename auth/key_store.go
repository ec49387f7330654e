package auth

import (
	"context"
	"fmt"
	"sync/atomic"

	"drawbridge/gateway/signal"
)

// KeyStore keeps the data that was fetched from one issuer, for a start while the issuer is down. Its methods return within a few
// seconds, and are safe for concurrent use. Nobody but the operator may be able to write to the store: its keys decide
// which tokens are valid.
type KeyStore interface {
	// Load returns the text that was stored last. The error wraps [fs.ErrNotExist] if there is none.
	Load(ctx context.Context) ([]byte, error)
	// Store replaces the text as a whole.
	Store(ctx context.Context, text []byte) error
}

// keptRecord has the newest record of an issuer stored. It is safe for concurrent use; run is called once.
type keptRecord struct {
	store   KeyStore
	unsaved atomic.Pointer[keyRecord] // nil if there is nothing to store
	wake    chan struct{}             // signals a record in unsaved
}

func newKeptRecord(store KeyStore) *keptRecord {
	return &keptRecord{store: store, wake: make(chan struct{}, 1)}
}

// put has a record stored by run.
func (k *keptRecord) put(r *keyRecord) {
	k.unsaved.Store(r)
	signal.Raise(k.wake)
}

// run stores records until ctx ends, in a goroutine of its own: a disk that hangs must not delay a fetch. warn is called with the
// first error of several; the next record is stored again.
func (k *keptRecord) run(ctx context.Context, issuer string, warn func(error)) {
	var saved *keyRecord
	failing := false
	for ctx.Err() == nil {
		select {
		case <-ctx.Done():
		case <-k.wake:
		}
		r := k.unsaved.Swap(nil)
		if r == nil || saved != nil && saved.keys == r.keys && saved.jwksURL == r.jwksURL && saved.introspection == r.introspection &&
			r.fetched.Sub(saved.fetched) < refreshEvery/2 { // tokens with unknown keys cause fetches
			continue
		}
		err := k.save(ctx, r, issuer)
		if err == nil {
			saved = r
		} else if !failing {
			warn(err)
		}
		failing = err != nil
	}
}

// save stores a record. A panic is an error, as it would end the process.
func (k *keptRecord) save(ctx context.Context, r *keyRecord, issuer string) (err error) {
	defer func() {
		if v := recover(); v != nil {
			err = fmt.Errorf("panic: %v", v)
		}
	}()
	text, err := r.text(issuer)
	if err != nil {
		return err
	}
	return k.store.Store(context.WithoutCancel(ctx), text)
}
