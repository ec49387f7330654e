package authe2e

import (
	"bytes"
	"fmt"
	"strings"
	"sync"
	"testing"
)

// window is the length from which a part of a secret counts as one (T1).
const window = 12

// secrets are what only a client and the authorization server may know: tokens, codes, verifiers, secrets of clients. It
// is safe for concurrent use.
type secrets struct {
	mu    sync.Mutex
	parts map[string]string // each part, and what it is one of
	whole map[string]bool
}

func (s *secrets) add(kind string, list ...string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.parts == nil {
		s.parts, s.whole = make(map[string]string), make(map[string]bool)
	}
	for _, secret := range list {
		if s.whole[secret] {
			continue
		}
		s.whole[secret] = true
		from := 0
		if pieces := strings.Split(secret, "."); len(pieces) == 3 { // a JWT: its header is no secret, and many share one
			from = len(pieces[0]) + 1
		}
		for i := from; i+window <= len(secret); i++ {
			s.parts[secret[i:i+window]] = kind
		}
	}
}

// count is how many secrets there are.
func (s *secrets) count() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.whole)
}

// find returns what a text gives away: for each place the kind of secret, and the text before it.
func (s *secrets) find(text []byte) []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	var found []string
	for i := 0; i+window <= len(text); i++ {
		if kind, ok := s.parts[string(text[i:i+window])]; ok {
			before := text[max(0, i-80):i]
			if newline := bytes.LastIndexByte(before, '\n'); newline >= 0 {
				before = before[newline+1:]
			}
			found = append(found, fmt.Sprintf("a part of %s after %q", kind, before))
			i += 2 * window // one place, not each letter of it
			if len(found) == 5 {
				break
			}
		}
	}
	return found
}

// The search must find what it is for.
func TestFindSecrets(t *testing.T) {
	var s secrets
	s.add("a token", "eyJhbGciOiJFUzI1NiJ9.eyJzdWIiOiJhIn0.c2lnbmF0dXJlLW9mLXRoZS10b2tlbg")
	s.add("a code", "cjbFf0yR3uJqLk3sVwXy")
	for text, want := range map[string]int{
		"":                                      0,
		"nothing to it":                         0,
		"eyJhbGciOiJFUzI1NiJ9.":                 0, // what all tokens begin with
		"level=debug token=c2lnbmF0dXJlLW9m\nx": 1,
		"GET /?code=cjbFf0yR3uJqLk3sVwXy":       1,
		"the last of a signature: LXRoZS10b2tlbg": 1,
		"cjbFf0yR3uJ": 0, // too short
		"a=eyJzdWIiOiJhIn0 b=cjbFf0yR3uJqLk3sVwX": 2,
	} {
		if got := s.find([]byte(text)); len(got) != want {
			t.Errorf("%q: found %q, want %d", text, got, want)
		}
	}
	if got, want := s.find([]byte("first\nsecond code=cjbFf0yR3uJqLk3sVwXy")), `a part of a code after "second code="`; len(got) != 1 || got[0] != want {
		t.Errorf("found %q, want %q", got, want)
	}
}
