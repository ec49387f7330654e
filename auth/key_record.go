package auth

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"time"

	"github.com/go-jose/go-jose/v4"

	"drawbridge/gateway/signal"
	"drawbridge/openapi/jsonscan"
)

// KeyStore keeps what was fetched from one issuer for a start while the issuer is down. Its methods return within a few
// seconds, and are safe for concurrent use. Nobody but the operator may be able to write to the store: its keys decide
// which tokens are valid.
type KeyStore interface {
	// Load returns the text that was stored last. The error wraps [fs.ErrNotExist] if there is none.
	Load(ctx context.Context) ([]byte, error)
	// Store replaces the text as a whole.
	Store(ctx context.Context, text []byte) error
}

const (
	keyRecordFormat = 1
	// maxKeyRecord is the maximum size of a record: keys are written shorter than they are fetched.
	maxKeyRecord = 2 * fetchBytes
	// maxClockStep is how far in the future a record may be: clocks are set back.
	maxClockStep = time.Minute
)

// keyRecord is what was fetched from an issuer.
type keyRecord struct {
	jwksURL       string
	introspection string  // endpoint, of an issuer of opaque tokens
	keys          *keySet // nil for an issuer of opaque tokens
	fetched       time.Time
}

// keyRecordText is the form of a [keyRecord]. It holds public keys only.
type keyRecordText struct {
	Format        int                 `json:"format"`
	Issuer        string              `json:"issuer"`
	Fetched       time.Time           `json:"fetched"`
	JWKSURL       string              `json:"jwks_uri,omitempty"`
	Introspection string              `json:"introspection_endpoint,omitempty"`
	Set           *jose.JSONWebKeySet `json:"jwks,omitempty"`
	Withdrawn     []string            `json:"withdrawn,omitempty"` // ids of keys that earlier sets had
}

// text returns the record as it is stored: the SHA-256 of the JSON text, which shows damage, and the text.
func (r *keyRecord) text(issuer string) ([]byte, error) {
	t := keyRecordText{Format: keyRecordFormat, Issuer: issuer, Fetched: r.fetched.UTC(), JWKSURL: r.jwksURL, Introspection: r.introspection}
	if r.keys != nil {
		t.Set, t.Withdrawn = &jose.JSONWebKeySet{Keys: []jose.JSONWebKey{}}, r.keys.withdrawn
		for _, k := range r.keys.keys {
			t.Set.Keys = append(t.Set.Keys, jose.JSONWebKey{Key: k.public, KeyID: k.id, Algorithm: k.algorithm, Use: "sig"})
		}
	}
	text, err := json.Marshal(&t)
	if err != nil {
		return nil, err
	}
	sum := sha256.Sum256(text)
	return append(append([]byte(hex.EncodeToString(sum[:])), '\n'), text...), nil
}

// parseKeyRecord reads a record of an issuer by the rules for what is fetched (T13). A record that is too old to be used
// is an error (T12).
func (i *issuer) parseKeyRecord(data []byte, now time.Time) (*keyRecord, error) {
	if len(data) > maxKeyRecord {
		return nil, fmt.Errorf("it has more than %d bytes", maxKeyRecord)
	}
	digest, text, _ := bytes.Cut(data, []byte{'\n'})
	if sum := sha256.Sum256(text); hex.EncodeToString(sum[:]) != string(digest) {
		return nil, errors.New("it is damaged: its first line is not the SHA-256 of the rest")
	}
	if info, err := jsonscan.Scan(text, jsonscan.Options{MaxDepth: 32, Unique: true}); err != nil {
		return nil, err
	} else if info.Kind != jsonscan.Object {
		return nil, errors.New("it is not an object")
	}
	member := func(name string) string {
		s, _ := stringValue(jsonscan.Lookup(text, name))
		return s
	}
	if format := string(jsonscan.Lookup(text, "format")); format != fmt.Sprint(keyRecordFormat) {
		return nil, fmt.Errorf("it has format %s, not %d", shorten(format), keyRecordFormat)
	}
	if name := member("issuer"); name != i.url {
		return nil, fmt.Errorf("it is of issuer %q", shorten(name))
	}
	fetched, err := time.Parse(time.RFC3339Nano, member("fetched"))
	switch {
	case err != nil:
		return nil, errors.New("it does not say when it was fetched")
	case fetched.After(now.Add(maxClockStep)):
		return nil, fmt.Errorf("it was fetched in the future, at %s", fetched)
	case now.Sub(fetched) > staleAfter:
		return nil, fmt.Errorf("it was fetched more than %s ago, at %s", staleAfter, fetched)
	}
	r := &keyRecord{fetched: fetched, jwksURL: member("jwks_uri"), introspection: member("introspection_endpoint")}
	if i.introspector != nil {
		return r, i.checkEndpoint("introspection_endpoint", r.introspection)
	}
	if err := i.checkEndpoint("jwks_uri", r.jwksURL); err != nil {
		return nil, err
	}
	if r.keys, err = parseKeySet(jsonscan.Lookup(text, "jwks")); err != nil {
		return nil, fmt.Errorf("read key set: %w", err)
	}
	if list := jsonscan.Lookup(text, "withdrawn"); list != nil {
		for raw := range jsonscan.Elements(list) {
			if id, ok := stringValue(raw); ok && len(r.keys.withdrawn) < maxKeys && !r.keys.knows(id) {
				r.keys.withdrawn = append(r.keys.withdrawn, id)
			}
		}
	}
	return r, nil
}

// stored returns the usable record of the store, nil if there is none. It is read once, by the fetch in flight.
func (i *issuer) stored(ctx context.Context) *keyRecord {
	if i.store == nil || i.storeRead {
		return i.fromStore
	}
	text, err := i.store.Load(ctx)
	if ctx.Err() != nil {
		return nil // it is read by the next fetch
	}
	i.storeRead = true
	if err == nil {
		i.fromStore, err = i.parseKeyRecord(text, i.now())
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		i.fromStore = nil
		i.warn(ctx, "stored keys or metadata of issuer not used", err)
	}
	return i.fromStore
}

// restore uses the record of the store after the first fetch has failed. Before that a stored key is not used, since the
// issuer may have withdrawn it (T11).
func (i *issuer) restore(ctx context.Context) {
	if i.introspector != nil && i.introspector.endpoint.Load() != nil || i.introspector == nil && i.keys.Load() != nil {
		return
	}
	r := i.stored(ctx)
	switch {
	case r == nil || i.now().Sub(r.fetched) > staleAfter:
		return
	case i.introspector != nil:
		i.introspector.setEndpoint(i.url, r.introspection)
		i.fetched.Store(r.fetched.UnixNano())
	case len(r.keys.keys) == 0:
		return
	default:
		i.fetched.Store(r.fetched.UnixNano()) // before the keys, as in a fetch
		i.keys.Store(r.keys)
	}
	i.restored.Store(true)
	i.log.LogAttrs(ctx, slog.LevelWarn, "stored keys or metadata of issuer are used until it responds",
		slog.String("issuer", i.url), slog.Time("fetched", r.fetched))
}

// keep has a record stored, if there is a store.
func (i *issuer) keep(r *keyRecord) {
	i.restored.Store(false)
	if i.store != nil {
		i.unsaved.Store(r)
		signal.Raise(i.save)
	}
}

// saveLoop stores what is fetched, in a goroutine of its own: a disk that hangs must not delay a fetch. A failure is logged
// once, and tried again with the next record.
func (i *issuer) saveLoop(ctx context.Context) {
	var saved *keyRecord
	failing := false
	for ctx.Err() == nil {
		select {
		case <-ctx.Done():
		case <-i.save:
		}
		r := i.unsaved.Swap(nil)
		if r == nil || saved != nil && saved.keys == r.keys && saved.jwksURL == r.jwksURL && saved.introspection == r.introspection &&
			r.fetched.Sub(saved.fetched) < refreshEvery/2 { // tokens with unknown keys cause fetches
			continue
		}
		err := i.saveRecovering(ctx, r)
		if err == nil {
			saved = r
		} else if !failing {
			i.warn(ctx, "keys or metadata of issuer not stored: a start during an outage would have none", err)
		}
		failing = err != nil
	}
}

func (i *issuer) saveRecovering(ctx context.Context, r *keyRecord) (err error) {
	defer func() {
		if v := recover(); v != nil {
			err = fmt.Errorf("panic: %v", v)
		}
	}()
	text, err := r.text(i.url)
	if err != nil {
		return err
	}
	return i.store.Store(context.WithoutCancel(ctx), text)
}
