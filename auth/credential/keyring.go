package credential

import (
	"errors"
	"fmt"
	"slices"
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
	_, _, err := r.look()
	return r, err
}

// look returns the key that signs now and the public keys, those of the files
// first, and retires those that have gone from there.
func (r *keyring) look() (*signer, jose.JSONWebKeySet, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	signers, err := r.files.get()
	if err != nil {
		return nil, jose.JSONWebKeySet{}, err
	}
	now := r.now()
	for _, old := range r.present {
		r.retired = append(r.retired, retired{key: old, until: now.Add(r.life + graceTime)})
	}
	r.present = make([]jose.JSONWebKey, len(signers))
	for i, s := range signers {
		r.present[i] = s.key.Public()
	}
	r.retired = slices.DeleteFunc(r.retired, func(old retired) bool {
		return !now.Before(old.until) || slices.ContainsFunc(r.present, func(k jose.JSONWebKey) bool { return k.KeyID == old.key.KeyID })
	})
	public := jose.JSONWebKeySet{Keys: slices.Clone(r.present)}
	for _, old := range r.retired {
		public.Keys = append(public.Keys, old.key)
	}
	return signers[0], public, nil
}

func (r *keyring) sign(claims any) (string, error) {
	s, _, err := r.look()
	if err != nil {
		return "", err
	}
	return s.sign(claims)
}
