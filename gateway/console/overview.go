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
	Done    string // what the operator has just done
	Failed  string // why it failed
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
	c.render(w, r, "overview", d)
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
	d.Waiting = waitingOf(&d.Status)
	return d
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
