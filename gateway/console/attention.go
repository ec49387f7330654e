package console

import (
	"cmp"
	"net/url"
	"strings"

	"drawbridge/gateway/admin"
	"drawbridge/gateway/discovery"
)

// attention is a problem of what is served: where it is shown, its cause, and what mends it.
type attention struct {
	State   string // class of the style sheet, and text
	Kind    string // what it is a problem of, such as API
	Name    string
	URL     string // of the page or section with all details
	Reason  string
	Next    string // what to do about it
	Command string // that mends it, or that says more; "" if there is none
	Accept  string // URL of the form by which an operator accepts it; "" if there is nothing to accept
	Digest  string // of the document that is accepted
}

// problemsShown is how many problems the overview shows unfolded.
const problemsShown = 10

// Commands that mend a problem. $A is the URL of the admin listener.
const (
	checkCommand  = "drawbridge check --config FILE"
	reloadCommand = `curl -X POST -H "Authorization: Bearer $ADMIN_TOKEN" $A/reload`
)

// Sections of the overview and of the list of APIs with the details of a problem.
const (
	configurationSection = "/console#refused"
	widerAccessSection   = "/console#opens"
	dependenciesSection  = "/console#dependencies"
	providersSection     = "/console#providers"
	servicesSection      = "/console/apis#services"
)

// attentionOf returns the problems of a gateway: first those that affect all calls, then those of single APIs and services, the most
// severe first.
func attentionOf(s *admin.Status) (all []attention) {
	for _, d := range dependenciesOf(s) {
		if d.State != admin.Ready {
			all = append(all, attention{State: string(d.State), Kind: d.Kind, Name: d.Name, URL: dependenciesSection, Reason: d.Details, Next: d.next()})
		}
	}
	if s.Config.Error != "" {
		all = append(all, attention{State: "refused", Kind: "configuration", URL: configurationSection, Reason: firstLine(s.Config.Error), Next: "Correct the file; it is read again by itself.", Command: checkCommand})
	}
	if n := len(s.Config.Opens); n > 0 {
		all = append(all, attention{State: "held", Kind: "configuration", URL: widerAccessSection, Reason: counted(n, "change gives", "changes give") + " wider access", Next: "Undo the change, or reload to accept it.", Command: reloadCommand})
	}
	for _, state := range []admin.State{admin.Failed, admin.Uncallable, admin.Held, admin.Stale, admin.Ready} {
		for i := range s.APIs {
			if a := &s.APIs[i]; a.State == state {
				all = append(all, attentionOfAPI(a)...)
			}
		}
	}
	if s.Discovery != nil {
		all = append(all, attentionOfDiscovery(s.Discovery)...)
	}
	return all
}

// attentionOfAPI returns the problems of an API.
func attentionOfAPI(a *admin.API) (all []attention) {
	check := "drawbridge check --verbose --filter api=" + a.Name + " --config FILE"
	add := func(p attention) {
		p.Kind, p.Name = cmp.Or(p.Kind, "API"), a.Name
		all = append(all, p)
	}
	switch a.State {
	case admin.Failed:
		add(attention{State: "failed", URL: apiURL(a.Name), Reason: firstLine(a.Error), Next: "Fix the document or the path to it, then reload.", Command: check})
	case admin.Stale:
		add(attention{State: "stale", URL: apiURL(a.Name), Reason: firstLine(a.Error), Next: "Fix the document or the path to it; the last good one is served.", Command: check})
	case admin.Loading, admin.Ready, admin.Held, admin.Uncallable:
	}
	if len(a.Faults) > 0 { // a document that is held or stale may have some, too
		state := "uncallable"
		if a.State == admin.Ready {
			state = "empty"
		}
		add(attention{State: state, URL: apiURL(a.Name), Reason: strings.Join(a.Faults, "; "), Next: "Correct the document, or the key that the reason names.", Command: check})
	}
	if h := a.Held; h != nil {
		add(attention{
			State: "held", Kind: "document", URL: apiURL(a.Name) + "#held", Reason: heldReason(h), Next: "Have the document fixed, or accept it.",
			Command: `curl -X POST -H "Authorization: Bearer $ADMIN_TOKEN" -H 'If-Match: "` + h.Digest + `"' $A/apis/` + url.PathEscape(a.Name) + "/accept",
			Accept:  apiURL(a.Name) + "/accept", Digest: h.Digest,
		})
	}
	if a.Breaker != "" {
		add(attention{State: "refusing", URL: callsURL(a.Name, failedOutcomes), Reason: "The circuit breaker is " + a.Breaker + ": its calls fail at once.", Next: "Fix the service; the breaker closes by itself."})
	}
	return all
}

// attentionOfDiscovery returns the problems of registries and of the services in them.
func attentionOfDiscovery(d *admin.Discovery) (all []attention) {
	for _, p := range d.Providers {
		if p.Error != "" {
			all = append(all, attention{State: "failed", Kind: "provider", Name: p.Name, URL: providersSection, Reason: firstLine(p.Error), Next: "Fix the registry or the path to it; it is asked again by itself.", Command: checkCommand})
		}
		if p.Lost > 0 {
			all = append(all, attention{
				State: "lost", Kind: "provider", Name: p.Name, URL: servicesSection, Reason: counted(p.Lost, "service", "services") + " vanished at once and are still served", Next: "Accept the loss if they are gone.",
				Accept: "/console/discovery/" + url.PathEscape(p.Name) + "/accept",
			})
		}
	}
	for i := range d.Services {
		s := &d.Services[i]
		if s.State == discovery.Served || s.State == discovery.Lost {
			continue
		}
		problem := attention{State: string(s.State), Kind: "service", Name: cmp.Or(s.API, qualified(s.Namespace, s.Name)), URL: servicesSection, Reason: s.Reason, Next: s.Next}
		if s.State == discovery.Held {
			problem.Accept = apiURL(s.API) + "/accept"
			problem.Reason = cmp.Or(s.Reason, "registered at "+s.Provider+" as "+s.Name)
		}
		all = append(all, problem)
	}
	return all
}

// heldReason says why a document is held.
func heldReason(h *admin.HeldDocument) string {
	var reasons []string
	if h.Lost > 0 {
		reasons = append(reasons, number(h.Lost)+" of "+number(h.Of)+" operations are missing in the new document")
	}
	if h.Undone > 0 {
		reasons = append(reasons, "it would undo "+counted(h.Undone, "restriction", "restrictions"))
	}
	return strings.Join(reasons, "; ")
}

// dependency is something that calls depend on besides their API.
type dependency struct {
	Kind    string      // issuer, audit log or shared state
	Name    string      // of the issuer
	State   admin.State // ready, stale for one that works with what it has, or failed
	Details string
}

// next says what to do about a dependency that is not ready.
func (d dependency) next() string {
	switch d.Kind {
	case "issuer":
		return "Fix the issuer, DNS or the network path; its keys are fetched again by themselves."
	case "audit log":
		return "Fix the disk, the permissions or the sink; writing is retried each second. Don't restart: the records that wait would be lost."
	}
	return "Fix the store or the network path; it is connected again by itself."
}

// dependenciesOf returns the issuers, the audit log and the shared state with their states.
func dependenciesOf(s *admin.Status) (all []dependency) {
	for _, i := range s.Issuers {
		d := dependency{Kind: "issuer", Name: i.Issuer, State: admin.Ready, Details: i.String()}
		switch {
		case !i.Able:
			d.State = admin.Failed
		case i.Error != "" || i.Stored:
			d.State = admin.Stale
		}
		all = append(all, d)
	}
	if s.Audit != nil {
		d := dependency{Kind: "audit log", State: admin.Ready, Details: s.Audit.String()}
		if !s.Audit.Writable {
			d.State = admin.Failed
		}
		all = append(all, d)
	}
	if s.Shared != nil {
		d := dependency{Kind: "shared state", State: admin.Ready, Details: s.Shared.String()}
		if !s.Shared.Up {
			d.State = admin.Failed
		}
		all = append(all, d)
	}
	return all
}
