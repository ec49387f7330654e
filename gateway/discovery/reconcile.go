package discovery

import (
	"cmp"
	"maps"
	"slices"

	"drawbridge/config"
)

// evaluate compares the last answer of the registry with the services that are known, and returns those whose document is
// to be looked for.
func (p *providerState) evaluate(nextSeq func() int) (search []*service) {
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
func (p *providerState) reconcile(nextSeq func() int) {
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
			s.stopLookup() // it is for another target
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
func (p *providerState) leave(now map[key]*Target) {
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

func (p *providerState) remove(of key) {
	p.services[of].stopLookup()
	p.gone = append(p.gone, p.services[of])
	delete(p.services, of)
}

// lost returns the number of services that are served although the registry no longer has them.
func (p *providerState) lost() (n int) {
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

func (p *providerState) removeLost() {
	for key, s := range p.services {
		if !s.present {
			p.remove(key)
		}
	}
}
