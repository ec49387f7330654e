package credential

import (
	"context"
	"encoding/base64"
	"slices"
	"strings"
	"sync"
)

// Sent collects the tokens and identities that one call has sent. They are in no configuration, and
// some services echo the request in their response, so they must be redacted there (P7). The zero
// value is ready; it is safe for concurrent use.
type Sent struct {
	mu     sync.Mutex
	values []sealed[string]
}

type sentKey struct{}

// Context returns a context whose requests are recorded.
func (s *Sent) Context(ctx context.Context) context.Context {
	return context.WithValue(ctx, sentKey{}, s)
}

// Reveal returns the values that were sent, without the scheme of Authorization and without
// duplicates.
func (s *Sent) Reveal() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	values := make([]string, len(s.values))
	for i, v := range s.values {
		values[i] = v()
	}
	return values
}

// recordSent records a value, if ctx has a [Sent].
func recordSent(ctx context.Context, value string) {
	if s, ok := ctx.Value(sentKey{}).(*Sent); ok {
		s.add(value)
	}
}

// withoutScheme returns the value of a header without the scheme of Authorization, if it has one.
func withoutScheme(header string) string { return header[strings.LastIndexByte(header, ' ')+1:] }

// recordPassed records the caller's own credential for the service. A service may echo it without
// the scheme, or only the password of Basic.
func recordPassed(ctx context.Context, value string) {
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

// add adds a value unless it is known.
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
