package credential

import (
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/go-jose/go-jose/v4"
)

// graceTime is how long after the last token that a key signed has ended the
// key is still published: for clocks that are slow.
const graceTime = time.Minute

// keyring is the keys of an [Identity]: one that signs, others that are
// published, and those that were replaced, until nothing that they signed can
// be in use.
type keyring struct {
	files watched[[]*signer]
	life  time.Duration
	now   func() time.Time

	mu      sync.Mutex
	present []jose.JSONWebKey // public; the last of files that was looked at
	retired []retired
}

type retired struct {
	key   jose.JSONWebKey // public
	until time.Time
}

// maxKeys is how many files there may be.
const maxKeys = 8

func newKeyring(files []string, life time.Duration, now func() time.Time) (*keyring, error) {
	if len(files) == 0 || len(files) > maxKeys {
		return nil, fmt.Errorf("credential: %d key files for identities: 1 to %d are good", len(files), maxKeys)
	}
	r := &keyring{life: life, now: now}
	r.files = watched[[]*signer]{paths: files, every: lookEvery, now: now, parse: func(contents [][]byte) ([]*signer, error) {
		var signers []*signer
		seen := make(map[string]bool)
		for i, content := range contents {
			s, err := parseSigner(content, "", "")
			if err == nil && s.algorithm != jose.ES256 {
				err = errors.New("holds a key that is not on P-256")
			}
			if err != nil {
				return nil, fmt.Errorf("credential: key file %q %w", files[i], err)
			}
			if !seen[s.key.KeyID] {
				seen[s.key.KeyID] = true
				signers = append(signers, s)
			}
		}
		return signers, nil
	}}
	_, err := r.look()
	return r, err
}

// look returns the present keys, and retires those that have gone.
func (r *keyring) look() ([]*signer, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	signers, err := r.files.get()
	if err != nil {
		return nil, err
	}
	now := r.now()
	for _, old := range r.present {
		if !holds(signers, old.KeyID) {
			r.retired = append(r.retired, retired{key: old, until: now.Add(r.life + graceTime)})
		}
	}
	r.present = r.present[:0]
	for _, s := range signers {
		r.present = append(r.present, s.key.Public())
	}
	kept := r.retired[:0]
	for _, old := range r.retired {
		if now.Before(old.until) && !holds(signers, old.key.KeyID) {
			kept = append(kept, old)
		}
	}
	r.retired = kept
	return signers, nil
}

func holds(signers []*signer, id string) bool {
	for _, s := range signers {
		if s.key.KeyID == id {
			return true
		}
	}
	return false
}

func (r *keyring) sign(claims any) (string, error) {
	signers, err := r.look()
	if err != nil {
		return "", err
	}
	return signers[0].sign("JWT", claims)
}

// published returns the public keys.
func (r *keyring) published() jose.JSONWebKeySet {
	var set jose.JSONWebKeySet
	signers, err := r.look()
	if err != nil {
		return jose.JSONWebKeySet{Keys: []jose.JSONWebKey{}}
	}
	for _, s := range signers {
		set.Keys = append(set.Keys, s.key.Public())
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, old := range r.retired {
		set.Keys = append(set.Keys, old.key)
	}
	return set
}
