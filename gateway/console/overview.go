package console

import (
	"cmp"
	"net/http"
	"slices"

	"drawbridge/gateway/admin"
)

// busiestAPIs is how many APIs the overview lists.
const busiestAPIs = 10

// overviewData is what the overview shows.
type overviewData struct {
	admin.Status
	Attention []attention
	States    []stateCount
	Charts    []chart
	Ranges    []chartRange
	Rows      []chartRow // the values of the charts
	Busiest   []apiRow   // APIs with the most errors, then the most calls
	// Dependencies are what calls depend on besides the APIs: issuers, the audit log, the shared state.
	Dependencies []dependency
	Done         string // what the operator has just done
	Failed       string // why it failed
}

// stateCount is how many APIs are in a state.
type stateCount struct {
	State admin.State
	Count int
}

// stateCountsOf returns the states that APIs are in, the most severe first.
func stateCountsOf(apis []admin.API) (counts []stateCount) {
	for _, state := range severity {
		n := 0
		for i := range apis {
			if apis[i].State == state {
				n++
			}
		}
		if n > 0 {
			counts = append(counts, stateCount{state, n})
		}
	}
	return counts
}

// overview serves the first page: what is wrong and what mends it, and what is served.
func (c *Console) overview(w http.ResponseWriter, r *http.Request) {
	d := c.overviewData(rangeOf(r.URL.Query().Get("minutes")))
	d.Done = done(r.URL.Query().Get("done")).String()
	c.render(w, r, d)
}

// overviewData returns the content of the overview, with charts of the last minutes.
func (c *Console) overviewData(minutes int) overviewData {
	d := overviewData{Status: c.o.Gateway.Status()}
	d.Attention, d.States, d.Dependencies = attentionOf(&d.Status), stateCountsOf(d.APIs), dependenciesOf(&d.Status)
	d.Busiest = c.apiRows(d.APIs)
	slices.SortStableFunc(d.Busiest, func(a, b apiRow) int { return cmp.Or(b.Calls.Failed-a.Calls.Failed, b.Calls.Calls-a.Calls.Calls) })
	d.Busiest = d.Busiest[:min(len(d.Busiest), busiestAPIs)]
	all, total := c.o.History.Recent(minutes)
	perByte := c.tokensPerByte()
	d.Charts, d.Rows, d.Ranges = chartsOf(all, total, perByte), chartRowsOf(all, perByte), chartRanges(minutes)
	return d
}

// tokensPerByte returns the tokens of a byte of a result, as estimated so far.
func (c *Console) tokensPerByte() float64 {
	if tokens, bytes := c.o.Tokens(); bytes > 0 {
		return float64(tokens) / float64(bytes)
	}
	return 0
}
