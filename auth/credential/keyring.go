package credential

import (
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/go-jose/go-jose/v4"
)

// graceTime is the time for which a key is still published after the last token that it signed has
// expired, for clocks that are slow.
const graceTime = time.Minute

// keyring holds the keys of an [Identity]: one that signs, others that are published, and replaced
// ones until all tokens that they signed have expired.
type keyring struct {
	files reloader[[]*signer]
	life  time.Duration
	now   func() time.Time

	mu      sync.Mutex
	current []jose.JSONWebKey // public keys of the files at the last refresh
	retired []retired
}

type retired struct {
	key   jose.JSONWebKey // public
	until time.Time
}

// maxKeys is the maximum number of key files.
const maxKeys = 8

func newKeyring(files []string, life time.Duration, now func() time.Time) (*keyring, error) {
	if len(files) == 0 || len(files) > maxKeys {
		return nil, fmt.Errorf("credential: %d key files for identities: 1 to %d are good", len(files), maxKeys)
	}
	r := &keyring{life: life, now: now}
	r.files = reloader[[]*signer]{paths: files, interval: checkInterval, now: now, parse: func(contents [][]byte) ([]*signer, error) {
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
	_, _, err := r.refresh()
	return r, err
}

// refresh returns the current signing key and the public keys, those of the files first. It retires
// keys that are no longer in the files.
func (r *keyring) refresh() (*signer, jose.JSONWebKeySet, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	signers, err := r.files.get()
	if err != nil {
		return nil, jose.JSONWebKeySet{}, err
	}
	current := r.now()
	for _, old := range r.current {
		r.retired = append(r.retired, retired{key: old, until: current.Add(r.life + graceTime)})
	}
	r.current = make([]jose.JSONWebKey, len(signers))
	for i, s := range signers {
		r.current[i] = s.key.Public()
	}
	r.retired = slices.DeleteFunc(r.retired, func(old retired) bool {
		return !current.Before(old.until) || slices.ContainsFunc(r.current, func(k jose.JSONWebKey) bool { return k.KeyID == old.key.KeyID })
	})
	public := jose.JSONWebKeySet{Keys: slices.Clone(r.current)}
	for _, old := range r.retired {
		public.Keys = append(public.Keys, old.key)
	}
	return signers[0], public, nil
}

func (r *keyring) sign(claims any) (string, error) {
	s, _, err := r.refresh()
	if err != nil {
		return "", err
	}
	return s.sign(claims)
}
