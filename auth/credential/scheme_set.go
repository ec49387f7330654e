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

	"drawbridge/gateway/origin"
)

// SetOptions describe the credentials of one API.
type SetOptions struct {
	// Schemes are credentials by the name of the security scheme that they are for.
	Schemes map[string]Options
	// Default is for operations none of whose alternatives is configured by
	// name, and for those that ask for nothing. Nil: they get none.
	Default *Options
	// Origin is that of all of them; it stands over the one in each Options (E4).
	Origin *url.URL
}

// Set holds the credentials of one API. It is immutable but for the tokens in
// it, and safe for concurrent use.
type Set struct {
	origin   origin.Origin
	schemes  map[string]*part
	fallback *Choice
}

// NewSet checks all credentials as [New] does, and returns all problems.
func NewSet(o SetOptions) (*Set, error) {
	s := &Set{schemes: make(map[string]*part, len(o.Schemes))}
	var problems []error
	var err error
	if s.origin, err = parseOrigin(o.Origin); err != nil {
		problems = append(problems, err)
	}
	for _, name := range slices.Sorted(maps.Keys(o.Schemes)) {
		p, err := newPart(o.Schemes[name])
		if err != nil {
			problems = append(problems, fmt.Errorf("security scheme %q: %w", name, err))
		}
		s.schemes[name] = p
	}
	if o.Default != nil {
		p, err := newPart(*o.Default)
		if err != nil {
			problems = append(problems, err)
		}
		s.fallback = &Choice{set: s, bundle: bundle{parts: []*part{p}}}
	}
	if err := errors.Join(problems...); err != nil {
		return nil, err
	}
	return s, nil
}

// Choice is the credentials of one operation. It is immutable.
type Choice struct {
	set     *Set
	schemes []string
	bundle  bundle
}

// Schemes returns the names of the security schemes whose credentials are sent;
// none for the default, and where nothing is sent.
func (c *Choice) Schemes() []string { return slices.Clone(c.schemes) }

// Empty reports whether nothing is sent.
func (c *Choice) Empty() bool { return len(c.bundle.parts) == 0 }

type choiceKey struct{}

// Context returns a context whose requests are sent with the choice by the
// transports of its set.
func (c *Choice) Context(ctx context.Context) context.Context {
	return context.WithValue(ctx, choiceKey{}, c)
}

// MissingError says that no alternative of an operation is configured.
type MissingError struct {
	// Schemes are, for each alternative, the schemes without a credential.
	Schemes [][]string
	// Clash names the place where two credentials of one alternative stand, if
	// an alternative was left out because of that.
	Clash string
}

// Error lists what would have to be configured.
func (e *MissingError) Error() string {
	var all []string
	for _, names := range e.Schemes {
		quoted := make([]string, len(names))
		for i, name := range names {
			quoted[i] = fmt.Sprintf("%q", name)
		}
		all = append(all, strings.Join(quoted, " and "))
	}
	text := "credential: two credentials of one alternative stand in " + e.Clash
	if len(all) > 0 {
		text = "credential: no credential for security scheme " + strings.Join(all, ", or ")
	}
	return text
}

// Choose returns the credentials for an operation with these alternatives, each
// a list of security schemes of which all are needed: the first alternative all
// of whose schemes have a credential. One that is empty counts only if no other
// does, since who configures a credential wants it used. What is left is the
// default. The error is a [*MissingError]: the operation asks for credentials
// and there are none. It is meant to be called once for each operation, when it
// is compiled.
func (s *Set) Choose(alternatives [][]string) (*Choice, error) {
	missing := &MissingError{}
	open := len(alternatives) == 0
	for _, names := range alternatives {
		if open = open || len(names) == 0; len(names) == 0 {
			continue
		}
		c := &Choice{set: s, schemes: slices.Clone(names)}
		var absent []string
		for _, name := range names {
			if p := s.schemes[name]; p != nil {
				c.bundle.parts = append(c.bundle.parts, p)
			} else {
				absent = append(absent, name)
			}
		}
		if len(absent) > 0 {
			missing.Schemes = append(missing.Schemes, absent)
			continue
		}
		if missing.Clash = clash(c.bundle.parts); missing.Clash == "" {
			return c, nil
		}
	}
	switch {
	case s.fallback != nil:
		return s.fallback, nil
	case open:
		return &Choice{set: s}, nil
	}
	return nil, missing
}

// clash returns a place in which two of the credentials stand, or "".
func clash(parts []*part) string {
	seen := make(map[string]bool, len(parts))
	for _, p := range parts {
		place := p.place()
		if place != "" && seen[strings.ToLower(place)] {
			return place
		}
		seen[strings.ToLower(place)] = true
	}
	return ""
}

// Wrap puts the credentials around a transport. A request gets those of the
// [Choice] in its context, and without one of this set those of the default:
// what is chosen for one API is nothing to another (E4).
func (s *Set) Wrap(next http.RoundTripper) http.RoundTripper {
	t := &transport{next: next, origin: s.origin, set: s}
	if s.fallback != nil {
		t.bundle = &s.fallback.bundle
	}
	return t
}
