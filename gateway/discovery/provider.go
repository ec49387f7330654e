package discovery

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"drawbridge/config"
)

// provider is a provider with the services that it has reported.
type provider struct {
	d        *config.Discovery
	key      string // the key path of d
	named    map[key]config.Precedence
	kept     []key          // those of named whose names are kept for them while they are not registered
	wanted   map[string]int // services that are to be served, by their names
	cancel   context.CancelFunc
	targets  []Target // the last answer of the registry
	answered bool     // the registry has answered since the start
	updated  time.Time
	err      string
	slots    searchSlots
	services map[key]*service // those that d accepts, and those that are lost, by [Target.key]
	gone     []*service       // that were removed, until [Manager] has taken note of it
	refused  int              // services beyond the limit
	// unmatched are the keys of selectors that match no service of targets.
	unmatched []string
}

// service is one service, from the moment that it is known until it is removed.
type service struct {
	target   Target
	seq      int  // the order in which services became known
	approved bool // it may be served
	present  bool // the registry has it
	wanted   bool // it is to be served: a document is looked for
	invalid  string

	location  string // of the document; "" if it is not known
	by        string
	searching bool
	turn      int // the number of the newest search
	retries   int
	problem   string // why there is no document
	remedy    string // what finds the document; "" if another search does
	// stale tells that the registration is another one than location was found for. Until the search for it ends, the
	// service is served as it was.
	stale bool
	last  *lastServed // nil if it never was
	// cancel ends the search that is under way; nil if there is none.
	cancel context.CancelFunc
	// warnings are those that were logged.
	warnings []string

	pace    pace // of what follows
	woken   bool // it has changed since a search without result
	reading bool // documents of instances are read
	waiting bool // it is looked at again soon
	rollout rollout
	former  []string // addresses of instances that are gone lately
	fresh   bool     // no document of an instance was read since the document was found
	moved   bool     // the document in use is another one; until that is published
	came    bool     // an instance came; until that is published
}

// configure applies an item of the configuration.
func (p *provider) configure(d *config.Discovery, at string) {
	p.d, p.key, p.named, p.kept = d, at, map[key]config.Precedence{}, nil
	for _, named := range d.Named() {
		of := key{named.Namespace, named.Name}
		if p.named[of] = max(p.named[of], named.Precedence); !named.IsImplied && !slices.Contains(p.kept, of) {
			p.kept = append(p.kept, of)
		}
	}
}

func (p *provider) stop() {
	if p.cancel != nil {
		p.cancel()
		p.cancel = nil
	}
}

// evaluate compares the last answer of the registry with the services that are known, and returns those whose document is
// to be looked for.
func (p *provider) evaluate(nextSeq func() int) (search []*service) {
	if p.answered {
		p.reconcile(nextSeq)
	}
	p.wanted = map[string]int{}
	holds := p.d.Holds()
	for _, key := range p.keys() {
		s := p.services[key]
		s.invalid = ""
		if err := s.target.check(p.d.AllowServers); err != nil {
			s.invalid = err.Error()
		}
		s.approved = s.approved || !holds
		if s.wanted = s.approved && s.invalid == ""; s.wanted {
			p.wanted[s.target.Name]++
		}
		if s.wanted && !s.searching && (s.stale || s.location == "") && s.problem == "" {
			search = append(search, s)
		}
	}
	return search
}

// reconcile takes over the services of the last answer.
func (p *provider) reconcile(nextSeq func() int) {
	now := map[key]*Target{}
	p.refused, p.unmatched = 0, p.findUnmatched()
	known := func(t *Target) int { // those that the configuration names come first, then those that are known
		if p.named[t.key()] > config.Unnamed {
			return 0
		}
		if s := p.services[t.key()]; s != nil {
			return s.seq
		}
		return 1 << 60
	}
	targets := make([]*Target, 0, len(p.targets))
	for i := range p.targets {
		if t := &p.targets[i]; p.d.Accepts(&t.Service) {
			targets = append(targets, t)
		}
	}
	slices.SortStableFunc(targets, func(a, b *Target) int {
		return cmp.Or(cmp.Compare(known(a), known(b)), a.key().compare(b.key()))
	})
	for _, t := range targets {
		switch {
		case now[t.key()] != nil: // the registry has two of one name: the first counts
		case len(now) >= p.d.MaxServices:
			p.refused++
		default:
			now[t.key()] = t
		}
	}
	p.leave(now)
	for key, t := range now { // all at once, so that none of them gets the slot of another that ends
		if s := p.services[key]; s != nil && s.target.isAnother(t) {
			s.stopSearch() // it is for another target
		}
	}
	for _, t := range targets {
		if now[t.key()] != t {
			continue
		}
		s := p.services[t.key()]
		if s == nil {
			s = &service{seq: nextSeq()}
			p.services[t.key()] = s
		}
		if s.target.isAnother(t) {
			s.stale, s.problem, s.retries = s.location != "", "", 0
		}
		changed := !slices.Equal(s.target.Revisions, t.Revisions) || !maps.Equal(s.target.Labels, t.Labels) ||
			s.target.ContextPath != t.ContextPath || s.target.AtRoot != t.AtRoot
		restored := s.rollout.instances == nil && s.location != ""
		if came := s.rollout.follow(t.Instances, changed); came && s.problem != "" {
			s.woken = true
		}
		s.former = withFormer(s.former, s.target.Instances, t.Instances)
		s.target, s.present = *t, true
		if restored {
			s.begin()
		} else if s.rollout.choose() { // the instance with the document in use is gone
			s.moved = true
		}
	}
}

// maxFormer is how many addresses of instances that are gone are remembered.
const maxFormer = 32

// withFormer adds the addresses that are gone now to those that went before.
func withFormer(former, last, now []string) []string {
	for _, address := range last {
		if !slices.Contains(now, address) && !slices.Contains(former, address) {
			former = append(slices.Clip(former), address)
		}
	}
	return former[max(0, len(former)-maxFormer):]
}

// fewest is the number of services from which the loss of many at once is suspicious.
const fewest = 4

// leave removes the services that the registry no longer has, unless they are too many at once.
func (p *provider) leave(now map[key]*Target) {
	var gone []key
	for key := range p.services {
		if now[key] == nil {
			gone = append(gone, key)
		}
	}
	suspicious := len(p.services) >= fewest && len(gone)*100 > p.d.MaxLoss*len(p.services)
	for _, key := range gone {
		if suspicious {
			p.services[key].present = false
		} else {
			p.remove(key)
		}
	}
}

func (p *provider) remove(of key) {
	p.services[of].stopSearch()
	p.gone = append(p.gone, p.services[of])
	delete(p.services, of)
}

// lost returns the number of services that are served although the registry no longer has them.
func (p *provider) lost() (n int) {
	if !p.answered {
		return 0
	}
	for _, s := range p.services {
		if !s.present {
			n++
		}
	}
	return n
}

func (p *provider) removeLost() {
	for key, s := range p.services {
		if !s.present {
			p.remove(key)
		}
	}
}

// keys returns the keys of the services in the order in which they became known.
func (p *provider) keys() []key {
	keys := make([]key, 0, len(p.services))
	for key := range p.services {
		keys = append(keys, key)
	}
	slices.SortFunc(keys, func(a, b key) int { return cmp.Compare(p.services[a].seq, p.services[b].seq) })
	return keys
}

func (p *provider) status() ProviderStatus {
	s := ProviderStatus{Name: p.d.Name, Kind: p.d.Kind(), Updated: p.updated, Error: p.err, Lost: p.lost(), Unmatched: p.unmatched}
	for _, one := range p.services {
		if one.present {
			s.Services++
		}
	}
	if p.refused > 0 && s.Error == "" {
		s.Error = fmt.Sprintf("the registry has %d services more than max_services, %d; they are refused", p.refused, p.d.MaxServices)
	}
	return s
}

// findUnmatched returns the keys of selectors that match no service of the last answer.
func (p *provider) findUnmatched() (keys []string) {
	if len(p.targets) == 0 {
		return nil
	}
	matches := func(sel config.ServiceSelector) bool {
		return slices.ContainsFunc(p.targets, func(t Target) bool { return sel.Match(&t.Service) })
	}
	check := func(key string, all config.ServiceSelectors) {
		for i, sel := range all {
			if matches(sel) {
				continue
			}
			if len(all) > 1 {
				keys = append(keys, fmt.Sprintf("%s[%d]", key, i))
			} else {
				keys = append(keys, key)
			}
		}
	}
	check("services", p.d.Services)
	for i := range p.d.Credentials {
		check(fmt.Sprintf("credentials[%d].match", i), p.d.Credentials[i].Match)
	}
	return keys
}
