package credential

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"drawbridge/openapi/origin"
)

// SetOptions configure the credentials of one API.
type SetOptions struct {
	// Schemes are the credentials by name of the security scheme.
	Schemes map[string]Options
	// Default is the credential of operations that require no security scheme or only unconfigured
	// ones. If nil, they get none.
	Default *Options
	// Origin is the origin of all credentials; it overrides that of each Options (E4).
	Origin *url.URL
}

// Set holds the credentials of one API. It is immutable except for cached tokens, and safe for
// concurrent use.
type Set struct {
	origin   origin.Origin
	schemes  map[string]*credential
	fallback *Choice
}

// NewSet checks all credentials as [New] does, and returns all problems.
func NewSet(o SetOptions) (*Set, error) {
	s := &Set{schemes: make(map[string]*credential, len(o.Schemes))}
	var problems []error
	var err error
	if s.origin, err = parseOrigin(o.Origin); err != nil {
		problems = append(problems, err)
	}
	for _, name := range slices.Sorted(maps.Keys(o.Schemes)) {
		c, err := newCredential(o.Schemes[name])
		if err != nil {
			problems = append(problems, fmt.Errorf("security scheme %q: %w", name, err))
		}
		s.schemes[name] = c
	}
	if o.Default != nil {
		c, err := newCredential(*o.Default)
		if err != nil {
			problems = append(problems, err)
		}
		s.fallback = &Choice{set: s, credentials: credentials{list: []*credential{c}}}
	}
	if err := errors.Join(problems...); err != nil {
		return nil, err
	}
	return s, nil
}

// Choice is the credentials of one operation. It is immutable.
type Choice struct {
	set         *Set
	schemes     []string
	credentials credentials
}

// Schemes returns the names of the security schemes whose credentials are sent; none for the
// default, or if nothing is sent.
func (c *Choice) Schemes() []string { return slices.Clone(c.schemes) }

// Sends reports whether any credential is sent.
func (c *Choice) Sends() bool { return len(c.credentials.list) > 0 }

type choiceKey struct{}

// Context returns a context whose requests are sent with the choice by the transports of its set.
func (c *Choice) Context(ctx context.Context) context.Context {
	return context.WithValue(ctx, choiceKey{}, c)
}

// MissingError reports that no alternative of an operation is configured.
type MissingError struct {
	// Schemes are, for each alternative, the schemes without a credential.
	Schemes [][]string
	// Conflict is the location shared by two credentials of one alternative, if an alternative was
	// skipped because of that.
	Conflict string
}

// Error lists the schemes that would have to be configured.
func (e *MissingError) Error() string {
	if len(e.Schemes) == 0 {
		return "credential: two credentials of one alternative stand in " + e.Conflict
	}
	return "credential: no credential for security scheme " + e.SchemeList()
}

// SchemeList returns Schemes as text, such as "a" and "b", or "c".
func (e *MissingError) SchemeList() string {
	var all []string
	for _, names := range e.Schemes {
		quoted := make([]string, len(names))
		for i, name := range names {
			quoted[i] = fmt.Sprintf("%q", name)
		}
		all = append(all, strings.Join(quoted, " and "))
	}
	return strings.Join(all, ", or ")
}

// Choose returns the credentials for an operation with these alternatives, each a list of security
// schemes that are required together: the first alternative all of whose schemes have a credential.
// An empty alternative is used only if no other matches, since a configured credential is meant to
// be used. Otherwise the default is returned. The error is a [*MissingError]: the operation
// requires credentials and there are none. Choose is called once for each operation, when it is
// compiled.
func (s *Set) Choose(alternatives [][]string) (*Choice, error) {
	missing := &MissingError{}
	optional := len(alternatives) == 0
	for _, names := range alternatives {
		if optional = optional || len(names) == 0; len(names) == 0 {
			continue
		}
		c := &Choice{set: s, schemes: slices.Clone(names)}
		var absent []string
		for _, name := range names {
			if p := s.schemes[name]; p != nil {
				c.credentials.list = append(c.credentials.list, p)
			} else {
				absent = append(absent, name)
			}
		}
		if len(absent) > 0 {
			missing.Schemes = append(missing.Schemes, absent)
			continue
		}
		if missing.Conflict = conflict(c.credentials.list); missing.Conflict == "" {
			return c, nil
		}
	}
	switch {
	case s.fallback != nil:
		return s.fallback, nil
	case optional:
		return &Choice{set: s}, nil
	}
	return nil, missing
}

// conflict returns a location shared by two of the credentials, or "".
func conflict(parts []*credential) string {
	seen := make(map[string]bool, len(parts))
	for _, p := range parts {
		place := p.location()
		if place != "" && seen[strings.ToLower(place)] {
			return place
		}
		seen[strings.ToLower(place)] = true
	}
	return ""
}

// Wrap wraps a transport. A request gets the credentials of the [Choice] in its context, or the
// default if there is none of this set: a choice for one API has no effect on another (E4).
func (s *Set) Wrap(next http.RoundTripper) http.RoundTripper {
	t := &transport{next: next, origin: s.origin, set: s}
	if s.fallback != nil {
		t.credentials = &s.fallback.credentials
	}
	return t
}
