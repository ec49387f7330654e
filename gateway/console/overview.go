package console

import (
	"net/http"

	"drawbridge/gateway/admin"
	"drawbridge/gateway/discovery"
	"drawbridge/gateway/history"
)

// overviewData is what the overview shows.
type overviewData struct {
	admin.Status
	Counts  stateCounts
	Charts  []chart
	Rows    []chartRow             // the values of the charts
	Calls   map[string]history.Sum // by API
	Waiting []waiting
	// Dependencies are what calls depend on besides the APIs: issuers, the audit log, the shared state.
	Dependencies []dependency
	Done         string // what the operator has just done
	Failed       string // why it failed
}

// stateCounts is how many APIs are in each group of states.
type stateCounts struct{ Ready, Weak, Failed int }

// waiting is something that waits for an operator.
type waiting struct {
	Kind   string // document, service or loss
	Name   string // of the API or provider
	Reason string
	Digest string // of the document
}

// overview serves the first page: what is served, what is wrong, and what waits for an operator.
func (c *Console) overview(w http.ResponseWriter, r *http.Request) {
	d := c.overviewData()
	d.Done = done(r.URL.Query().Get("done")).String()
	c.render(w, r, d)
}

func (c *Console) overviewData() overviewData {
	d := overviewData{Status: c.o.Gateway.Status()}
	for i := range d.APIs {
		switch d.APIs[i].State {
		case admin.Ready:
			d.Counts.Ready++
		case admin.Failed:
			d.Counts.Failed++
		default:
			d.Counts.Weak++
		}
	}
	minutes, total := c.o.History.Hour()
	perByte := c.tokensPerByte()
	d.Charts, d.Rows, d.Calls = chartsOf(minutes, total, perByte), chartRowsOf(minutes, perByte), c.o.History.APIs()
	d.Waiting, d.Dependencies = waitingOf(&d.Status), dependenciesOf(&d.Status)
	return d
}

// dependency is something that calls depend on besides their API.
type dependency struct {
	Name    string
	State   admin.State // ready, stale for one that works with what it has, or failed
	Details string
}

func dependenciesOf(s *admin.Status) (all []dependency) {
	for _, i := range s.Issuers {
		d := dependency{Name: i.Issuer, State: admin.Ready, Details: i.String()}
		switch {
		case !i.Able:
			d.State = admin.Failed
		case i.Error != "" || i.Stored:
			d.State = admin.Stale
		}
		all = append(all, d)
	}
	if s.Audit != nil {
		d := dependency{Name: "audit log", State: admin.Ready, Details: s.Audit.String()}
		if !s.Audit.Writable {
			d.State = admin.Failed
		}
		all = append(all, d)
	}
	if s.Shared != nil {
		d := dependency{Name: "shared state", State: admin.Ready, Details: s.Shared.String()}
		if !s.Shared.Up {
			d.State = admin.Failed
		}
		all = append(all, d)
	}
	return all
}

// waitingOf returns what waits for an operator.
func waitingOf(s *admin.Status) (all []waiting) {
	for i := range s.APIs {
		if held := s.APIs[i].Held; held != nil {
			all = append(all, waiting{Kind: "document", Name: s.APIs[i].Name, Reason: heldReason(held), Digest: held.Digest})
		}
	}
	if s.Discovery == nil {
		return all
	}
	for _, service := range s.Discovery.Services {
		if service.State == discovery.Held {
			all = append(all, waiting{Kind: "service", Name: service.API, Reason: "registered at " + service.Provider + " as " + service.Name})
		}
	}
	for _, p := range s.Discovery.Providers {
		if p.Lost > 0 {
			all = append(all, waiting{Kind: "loss", Name: p.Name, Reason: number(p.Lost) + " services vanished at once and are still served"})
		}
	}
	return all
}

// heldReason says why a document is held.
func heldReason(h *admin.HeldDocument) string {
	reason := ""
	if h.Lost > 0 {
		reason = number(h.Lost) + " of " + number(h.Of) + " operations are missing in the new document"
	}
	if h.Undone > 0 {
		if reason != "" {
			reason += "; "
		}
		reason += "it would undo " + number(h.Undone) + " restrictions"
	}
	return reason
}

// tokensPerByte returns the tokens of a byte of a result, as estimated so far.
func (c *Console) tokensPerByte() float64 {
	if tokens, bytes := c.o.Tokens(); bytes > 0 {
		return float64(tokens) / float64(bytes)
	}
	return 0
}
