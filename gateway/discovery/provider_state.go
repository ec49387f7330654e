package discovery

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"drawbridge/config"
)

// providerState is a provider with the services that it has reported.
type providerState struct {
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
	slots    lookupSlots
	services map[key]*service // those that d accepts, and those that are lost, by [Target.key]
	gone     []*service       // that were removed, until [Manager] has taken note of it
	refused  int              // services beyond the limit
	// unmatched are the keys of selectors that match no service of targets.
	unmatched []string
}

// configure applies an item of the configuration.
func (p *providerState) configure(d *config.Discovery, at string) {
	p.d, p.key, p.named, p.kept = d, at, map[key]config.Precedence{}, nil
	for _, named := range d.Named() {
		of := key{named.Namespace, named.Name}
		if p.named[of] = max(p.named[of], named.Precedence); !named.IsImplied && !slices.Contains(p.kept, of) {
			p.kept = append(p.kept, of)
		}
	}
}

func (p *providerState) stop() {
	if p.cancel != nil {
		p.cancel()
		p.cancel = nil
	}
}

// keys returns the keys of the services in the order in which they became known.
func (p *providerState) keys() []key {
	keys := make([]key, 0, len(p.services))
	for key := range p.services {
		keys = append(keys, key)
	}
	slices.SortFunc(keys, func(a, b key) int { return cmp.Compare(p.services[a].seq, p.services[b].seq) })
	return keys
}

func (p *providerState) status() ProviderStatus {
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
func (p *providerState) findUnmatched() (keys []string) {
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
