package discovery

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"drawbridge/config"
	"drawbridge/openapi/text"
)

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
	turn      int // the number of the newest lookup
	retries   int
	problem   string // why there is no document
	remedy    string // what finds the document; "" if another lookup does
	// stale reports whether the registration has changed since location was found. Until its lookup ends, the
	// service is served as it was.
	stale bool
	last  *lastServed // nil if it never was
	// cancel ends the lookup that is under way; nil if there is none.
	cancel context.CancelFunc
	// warnings are those that were logged.
	warnings []string

	pace    pace // of what follows
	woken   bool // it has changed since a lookup without result
	reading bool // documents of instances are read
	waiting bool // it is looked at again soon
	rollout rollout
	former  []string // addresses of instances that are gone lately
	fresh   bool     // no document of an instance was read since the document was found
	moved   bool     // the document in use is another one; until that is published
	came    bool     // an instance came; until that is published
}

// stopLookup ends the lookup that is under way. Its result is not used.
func (s *service) stopLookup() {
	s.turn++
	if s.searching = false; s.cancel != nil {
		s.cancel()
		s.cancel = nil
	}
}

// claims reports whether the service has a claim to a name: as long as an operator has accepted it and its registration could be served,
// so that an outage of all its instances gives its name to no other service.
func (s *service) claims() bool {
	return s.approved && (s.invalid == "" || s.target.isDown())
}

// isOnlyOne reports whether no other service of the provider that is to be served has the name of this one.
func (p *providerState) isOnlyOne(s *service) bool { return p.wanted[s.target.Name] <= 1 }

// names gives all services their names, in the order in which they became known. Services that await an operator, or can't be served,
// take no name from others: they have the one that they would have besides them.
func (m *Manager) names() (all []*named) {
	for _, one := range m.known() {
		all = append(all, &named{known: one})
	}
	m.giveNames(all, (*service).claims)
	m.giveNames(all, func(*service) bool { return true })
	return all
}

// giveNames settles the claims of some services, and gives those a name that have none.
func (m *Manager) giveNames(all []*named, included func(*service) bool) {
	if !slices.ContainsFunc(all, func(n *named) bool { return n.claim == nil }) {
		return
	}
	var claims []*claim
	of := make([]*claim, len(all))
	present := map[config.ServiceID]bool{}
	for i, n := range all {
		if included(n.s) {
			t := &n.s.target
			of[i] = newClaim(n.p.d, &t.Service, n.p.named[t.key()])
			claims, present[of[i].id] = append(claims, of[i]), true
		}
	}
	for _, p := range m.providers {
		for _, of := range p.kept {
			c := newClaim(p.d, &config.Service{Namespace: of.namespace, Name: of.name}, p.named[of])
			if c.reserved = true; !present[c.id] {
				claims = append(claims, c)
			}
		}
	}
	by := settle(claims, m.configured)
	for i, n := range all {
		if n.claim == nil && of[i] != nil {
			n.claim, n.by = of[i], by
		}
	}
}

// settings returns the settings of a service's API, which has this name.
func settings(d *config.Discovery, t *Target, name, location string, isOnlyOne bool) (config.API, error) {
	claimed := apiName(d, &t.Service)
	base, err := config.ParseURL(baseURL(t, claimed).String())
	if err != nil {
		return config.API{}, fmt.Errorf("the base URL of the service: %w", err)
	}
	api := d.APIFor(&t.Service, config.ServiceAPI{Name: name, Claimed: claimed, Spec: config.Location(location), Base: base, IsOnlyOne: isOnlyOne})
	if t.BasePath == "" && !t.AtRoot {
		api.SetServicePath(config.ServicePath{Unnamed: true, Context: t.ContextPath, Key: d.BasePathKey()})
	}
	return api, nil
}

// lastServed is what a service was when it was last served.
type lastServed struct {
	target   Target
	location string
}

// named is a service with its name among all others.
type named struct {
	known
	claim *claim
	by    claims
}

// status returns the state of the service, and its API if it is served. taken maps the names of other APIs to their owners.
func (n *named) status(taken map[string]string) (*config.API, ServiceStatus) {
	s, p, name := n.s, n.p, n.claim.name()
	status := ServiceStatus{
		Provider: p.d.Name, Namespace: printable(s.target.Namespace), Name: printable(s.target.Name), API: name, Document: s.location, By: s.by,
	}
	if s.invalid == "" { // else they may be anything
		status.Instances, status.Versions = s.target.Instances, s.rollout.versions()
	}
	target, location := &s.target, s.location
	owner, conflict := taken[strings.ToLower(name)]
	switch {
	case s.invalid != "":
		status.State, status.Reason = Refused, s.invalid
	case conflict:
		status.State, status.Reason = Held, fmt.Sprintf("%s has the name %s", owner, name)
		status.Next = tellApart
	case !s.approved:
		status.State, status.Reason, status.Next = Held, "it is new", fmt.Sprintf("POST /apis/%s/accept", name)
	case s.stale && s.searching && s.last != nil:
		status.State, target, location = Served, &s.last.target, s.last.location
	case (s.stale || s.location == "") && s.searching:
		status.State = Searching
	case s.stale || s.location == "":
		status.State, status.Reason, status.Next = Missing, s.problem, s.remedy
	case p.answered && !s.present:
		status.State, status.Reason, status.Next = Lost, "the registry lost many services at once", fmt.Sprintf("POST /discovery/%s/accept", p.d.Name)
	default:
		status.State = Served
	}
	isOnlyOne := p.isOnlyOne(s)
	if s.invalid == "" {
		status.Warnings = n.warnings(isOnlyOne)
	}
	if !status.IsServed() {
		return nil, status
	}
	api, err := settings(p.d, target, name, location, isOnlyOne)
	if err != nil {
		status.State, status.Reason = Refused, err.Error()
		return nil, status
	}
	s.last = &lastServed{*target, location}
	return &api, status
}

// tellApart is the advice if a configured API has the name of a service.
const tellApart = "set an api_name of the provider that tells them apart"

// warnings lists what the service lacks because of other services, or because the configuration does not name it.
func (n *named) warnings(isOnlyOne bool) (all []string) {
	if why := n.lostName(); why != "" {
		all = append(all, why)
	}
	if why := n.p.d.Withheld(n.p.key, &n.s.target.Service, isOnlyOne); why != "" {
		all = append(all, why)
	}
	return all
}

// lostName returns why the API does not have the name that api_name gives it, and how it gets it; "" if it has it, or if the configuration
// has given it to another service.
func (n *named) lostName() string {
	name, rivals := n.claim.first(), n.by.rivals(n.claim)
	if n.claim.name() == name || len(rivals) == 0 || rivals[0].precedence > n.claim.precedence {
		return ""
	}
	var names []string
	for _, rival := range rivals {
		names = append(names, rival.String())
	}
	return fmt.Sprintf("%s claims the name %s, too: if this service is meant, name it in services or credentials of %s: %s; or set an api_name that tells them apart",
		text.List(names, maxProblems), name, n.p.key, n.s.target.Selector())
}

// mostLogged is the most services whose warnings are logged at a time: a registry may have any number of them, and change at any pace.
const mostLogged = 10

// logWarnings logs the warnings that are new, of a service with this status. logged is the number of services that were logged for this
// snapshot.
func (m *Manager) logWarnings(n *named, status *ServiceStatus, logged *int) {
	isNew := slices.ContainsFunc(status.Warnings, func(w string) bool { return !slices.Contains(n.s.warnings, w) })
	n.s.warnings = status.Warnings
	if !isNew {
		return
	}
	if *logged++; *logged > mostLogged {
		return
	}
	for _, warning := range status.Warnings {
		m.o.Logger.Warn("the configuration does not name a service", "provider", status.Provider, "service", keyOf(n.claim.id).String(), "api", status.API, "problem", warning)
	}
	if *logged == mostLogged {
		m.o.Logger.Warn("more services may not be named; GET /apis of the admin listener has all")
	}
}
