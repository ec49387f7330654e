package source

import (
	"context"
	"errors"
	"reflect"
	"slices"

	"golang.org/x/sync/errgroup"

	"drawbridge/auth/credential"
	"drawbridge/config"
	"drawbridge/gateway/admin"
)

// Set holds the sources of one configuration. It belongs to the goroutine that publishes.
type Set struct {
	// Sources holds one source per API.
	Sources []*Source
	// Entries maps each source to its configuration entry, such as apis[0].
	Entries map[*Source]string
	// Fragments lists the files of configured directories that are parts of documents and therefore not APIs.
	Fragments []string

	deps      *Deps
	config    *config.Config
	selectors selectorMatches
}

// NewSet makes the sources of a configuration. It takes over those of old that did not change, with their connections
// and documents; old may be nil. identity signs the identities of callers for services that require them. The error
// lists all problems. NewSet starts no goroutine and sends no request.
func NewSet(deps *Deps, c *config.Config, old *Set, identity *credential.Identity) (*Set, error) {
	set := &Set{deps: deps, config: c, Entries: map[*Source]string{}, selectors: selectorMatches{selections: c.Selections()}}
	limits := c.Limits.OfSources()
	before := byLocation(old)
	var problems []error
	for i, api := range c.APIs {
		o := authOptions{api: api, limits: limits, identity: identity, now: deps.Now, panicked: deps.Panicked, accounts: deps.Accounts,
			wrong: func(key string, err error) error { return c.Wrong(c.KeyOf(i)+"."+key, err) }}
		s := before.same(api, limits, identity)
		// A loaded document is not treated as a fragment: its file may be half written at this moment.
		if (s == nil || s.Document == nil) && isFragment(api) {
			set.Fragments = append(set.Fragments, api.Spec.String())
			continue
		}
		if s == nil {
			var err error
			if s, err = newSource(deps, o); err != nil {
				problems = append(problems, err)
				continue
			}
			s.adopt(before.similar(api, limits))
			if old != nil {
				if p := old.Predecessor(s); p != nil {
					s.former = p.former
				}
			}
		} else if readsFiles(api) {
			// Changed files are noticed where they are used. This call only validates them.
			if _, err := newUpstreamAuth(o); err != nil {
				problems = append(problems, err)
			}
		}
		set.Sources = append(set.Sources, s)
		set.Entries[s] = c.KeyOf(i)
	}
	assignStore(deps, set.Sources)
	return set, errors.Join(problems...)
}

// Start starts the goroutines of the sources that the set does not share with an earlier one.
func (set *Set) Start(ctx context.Context, group *errgroup.Group) {
	reserveStored(ctx, set.deps, set.Sources)
	for _, s := range set.Sources {
		s.start(ctx, group)
	}
}

// Stop stops the sources that are not in next.
func (set *Set) Stop(next *Set) {
	for _, s := range set.Sources {
		if !next.Has(s) {
			s.stop()
			s.answer(func(Acceptance) error { return admin.ErrChanged })
		}
	}
	for _, s := range next.Sources {
		s.owner.leaving.Store(false)
	}
}

// Replace prepares the set to replace current: all sources load their documents now, including those that already run,
// and sources that leave are marked, so that their documents don't count against the memory of others. turn is the
// number of the reload.
func (set *Set) Replace(current *Set, turn int64) {
	for _, s := range current.Sources {
		s.owner.leaving.Store(!set.Has(s))
	}
	for _, s := range set.Sources {
		s.request(turn)
	}
}

// Follow prepares the set to replace current immediately: sources that leave are marked, and those that stay don't read
// their documents again.
func (set *Set) Follow(current *Set) {
	for _, s := range current.Sources {
		s.owner.leaving.Store(!set.Has(s))
	}
}

// Settled reports whether every source has tried to load its document since the reload with this number requested it.
func (set *Set) Settled(turn int64) bool {
	return !slices.ContainsFunc(set.Sources, func(s *Source) bool { return s.answered < turn })
}

// NameStored informs the last-known-good store of the documents of the configuration in use.
func (set *Set) NameStored() {
	if set.deps.Store == nil {
		return
	}
	var ids []string
	for _, s := range set.Sources {
		ids = append(ids, s.StoreID)
	}
	set.deps.Store.SetNamed(ids)
}

// Has reports whether a source is in the set.
func (set *Set) Has(s *Source) bool { return slices.Contains(set.Sources, s) }

// sourcesByLocation are sources by the locations of their documents.
type sourcesByLocation map[config.Location][]*Source

// byLocation returns the sources of a set, which may be nil.
func byLocation(set *Set) sourcesByLocation {
	all := sourcesByLocation{}
	if set != nil {
		for _, s := range set.Sources {
			all[s.Config.Spec] = append(all[s.Config.Spec], s)
		}
	}
	return all
}

// same returns the source with the same configuration, certificates and identity, or nil.
func (l sourcesByLocation) same(api config.API, limits config.Limits, identity *credential.Identity) *Source {
	for _, s := range l[api.Spec] {
		if reflect.DeepEqual(s.Config, api) && reflect.DeepEqual(s.Limits, limits) && s.clients.sameTrust() &&
			(api.Identity == nil || s.identity == identity) {
			return s
		}
	}
	return nil
}

// Similar returns a source that reads the same location, of the same service if it is discovered, and compiles it under the same rules
// and limits; nil if there is none.
func (set *Set) Similar(api config.API, limits config.Limits) *Source {
	return byLocation(set).similar(api, limits)
}

func (l sourcesByLocation) similar(api config.API, limits config.Limits) *Source {
	for _, s := range l[api.Spec] {
		if s.Config.Service() == api.Service() && compilesAlike(s.Config, api) && reflect.DeepEqual(s.Limits.Compiled(), limits.Compiled()) {
			return s
		}
	}
	return nil
}

// compilesAlike reports whether two configurations of an API compile a document to the same result: their compilation
// keys are equal, and so are the parameters that credentials and passed headers reserve.
func compilesAlike(a, b config.API) bool {
	return reflect.DeepEqual(a.Compiled(), b.Compiled()) && reflect.DeepEqual(reserved(a), reserved(b))
}

// Predecessor returns the source of the set that is the same API as one of a newer configuration, or nil. It may have
// another base URL or other repairs, so that its document can't be taken over; then restrictions are compared with it
// ([Source.CompareWith]). A discovered service is identified by the name of its API, since its registration decides the
// location of its document.
func (set *Set) Predecessor(of *Source) *Source {
	var found *Source
	for _, s := range set.Sources {
		sameService := s.Config.IsDiscovered() && of.Config.IsDiscovered() && s.Config.Name == of.Config.Name
		if (s.Config.Spec == of.Config.Spec || sameService) && s.Config.Service() == of.Config.Service() && (found == nil || s.Config.Name == of.Config.Name) {
			found = s
		}
	}
	return found
}
