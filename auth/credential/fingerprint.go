package credential

import (
	"context"
	"encoding/base64"
	"slices"
	"strings"
	"sync"
)

// Sent is the tokens and identities that one call has sent. No configuration
// holds them, and some services show the request that they got: who passes an
// answer on needs them to take them out (P7). The zero value is ready; it is
// safe for concurrent use.
type Sent struct {
	mu     sync.Mutex
	values []sealed[string]
}

type sentKey struct{}

// Context returns a context whose requests are noted.
func (s *Sent) Context(ctx context.Context) context.Context {
	return context.WithValue(ctx, sentKey{}, s)
}

// Reveal returns what was sent, as it stands in the requests, but without the
// scheme of Authorization. Each comes once.
func (s *Sent) Reveal() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	values := make([]string, len(s.values))
	for i, v := range s.values {
		values[i] = v()
	}
	return values
}

// note notes a header's value, if ctx is of a call that wants to know.
func note(ctx context.Context, header []string) {
	if s, ok := ctx.Value(sentKey{}).(*Sent); ok {
		s.add(strings.TrimPrefix(header[0], "Bearer "))
	}
}

// notePassed notes a credential that the caller has sent for the service. What
// a service repeats of it may lack the scheme, and of Basic it knows the
// password.
func notePassed(ctx context.Context, value string) {
	s, ok := ctx.Value(sentKey{}).(*Sent)
	if !ok {
		return
	}
	scheme, rest, found := strings.Cut(strings.TrimSpace(value), " ")
	if rest = strings.TrimSpace(rest); !found || strings.Contains(rest, " ") {
		s.add(strings.TrimSpace(value))
		return
	}
	s.add(rest)
	if !strings.EqualFold(scheme, "Basic") {
		return
	}
	if pair, err := base64.StdEncoding.DecodeString(rest); err == nil {
		if _, password, ok := strings.Cut(string(pair), ":"); ok {
			s.add(password)
		}
	}
}

// add adds a value, if it is new.
func (s *Sent) add(value string) {
	if value == "" {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if !slices.ContainsFunc(s.values, func(v sealed[string]) bool { return v() == value }) {
		s.values = append(s.values, seal(value))
	}
}
