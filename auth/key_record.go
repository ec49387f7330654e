package auth

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/go-jose/go-jose/v4"

	"drawbridge/openapi/jsonscan"
	"drawbridge/openapi/text"
)

const (
	keyRecordFormat = 1
	// maxKeyRecord is the maximum size of a record: a stored key set is smaller than the fetched one.
	maxKeyRecord = 2 * fetchBytes
	// maxClockStep is how far in the future a record may be: clocks are set back.
	maxClockStep = time.Minute
	// maxShownIssuer is the most bytes of another issuer's name in an error.
	maxShownIssuer = 300
)

// keyRecord is the data that was fetched from an issuer.
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

// parseKeyRecord reads a record of an issuer, and its keys by the rules for what is fetched (T13). A record that is too old to be
// used is an error (T12). The URLs in it are not checked.
func parseKeyRecord(data []byte, issuer string, now time.Time) (*keyRecord, error) {
	if len(data) > maxKeyRecord {
		return nil, fmt.Errorf("it has more than %d bytes", maxKeyRecord)
	}
	digest, raw, _ := bytes.Cut(data, []byte{'\n'})
	if sum := sha256.Sum256(raw); hex.EncodeToString(sum[:]) != string(digest) {
		return nil, errors.New("it is damaged: its first line is not the SHA-256 of the rest")
	}
	if info, err := jsonscan.Scan(raw, jsonscan.Options{MaxDepth: 32, Unique: true}); err != nil {
		return nil, err
	} else if info.Kind != jsonscan.Object {
		return nil, errors.New("it is not an object")
	}
	var t struct {
		keyRecordText
		Set json.RawMessage `json:"jwks"`
	}
	if err := json.Unmarshal(raw, &t); err != nil {
		return nil, err
	}
	switch {
	case t.Format != keyRecordFormat:
		return nil, fmt.Errorf("it has format %d, not %d", t.Format, keyRecordFormat)
	case t.Issuer != issuer:
		return nil, fmt.Errorf("it belongs to issuer %q", text.Truncate(t.Issuer, maxShownIssuer))
	case t.Fetched.IsZero():
		return nil, errors.New("it does not say when it was fetched")
	case t.Fetched.After(now.Add(maxClockStep)):
		return nil, fmt.Errorf("it was fetched in the future, at %s", t.Fetched)
	case now.Sub(t.Fetched) > staleAfter:
		return nil, fmt.Errorf("it was fetched more than %s ago, at %s", staleAfter, t.Fetched)
	}
	r := &keyRecord{fetched: t.Fetched, jwksURL: t.JWKSURL, introspection: t.Introspection}
	if t.Set == nil {
		return r, nil
	}
	var err error
	if r.keys, err = parseKeySet(t.Set); err != nil {
		return nil, fmt.Errorf("read key set: %w", err)
	}
	for _, id := range t.Withdrawn {
		if len(r.keys.withdrawn) < maxKeys && !r.keys.knows(id) {
			r.keys.withdrawn = append(r.keys.withdrawn, id)
		}
	}
	return r, nil
}
