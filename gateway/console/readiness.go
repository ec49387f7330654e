package console

import (
	"fmt"
	"net/http"
	"slices"

	"drawbridge/gateway/admin"
	"drawbridge/openapi/readiness"
)

// readinessData is what the page of an API's score shows: the kinds of findings, and a page of the operations, the worst first.
type readinessData struct {
	API        string
	Report     *readiness.Report
	Operations []readiness.Operation
	Pages      pageLinks
}

// readiness serves the score of the tools of an API.
func (c *Console) readiness(w http.ResponseWriter, r *http.Request) {
	name := r.PathValue("name")
	if !slices.ContainsFunc(c.o.Gateway.Status().APIs, func(a admin.API) bool { return a.Name == name }) {
		c.fail(w, r, http.StatusNotFound, "There is no API of that name.")
		return
	}
	admin.ExtendDeadline(w)
	report, err := c.o.Gateway.Readiness(r.Context(), name)
	if err != nil {
		c.fail(w, r, http.StatusServiceUnavailable, "The document can't be read again: "+err.Error()+".")
		return
	}
	from, to, links := paged(r.URL, len(report.Operations), operationsPerPage)
	c.render(w, r, readinessData{API: name, Report: report, Operations: report.Operations[from:to], Pages: links})
}

// decimal returns a score as it is shown.
func decimal(score float64) string { return fmt.Sprintf("%.1f", score) }

// cost returns how far a kind of findings lowers the score.
func (d readinessData) cost(k readiness.Kind) string {
	return decimal(float64(k.Weight) / float64(max(1, len(d.Report.Operations))))
}

// shortPlace returns a position as a link shows it.
func shortPlace(p readiness.Place) string {
	return short(admin.Place{File: p.File, Line: p.Line, Column: p.Column})
}
