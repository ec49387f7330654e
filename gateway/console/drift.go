package console

import (
	"net/http"
	"slices"

	"drawbridge/gateway/admin"
)

// driftData is what the page of all drift shows: the APIs whose calls or answers differ from their documents, the most differences first.
type driftData struct{ APIs []admin.API }

func (c *Console) drift(w http.ResponseWriter, r *http.Request) {
	apis := slices.DeleteFunc(slices.Clone(c.o.Gateway.Status().APIs), func(a admin.API) bool { return a.Drift == nil })
	slices.SortStableFunc(apis, func(a, b admin.API) int { return int(b.Drift.Total - a.Drift.Total) })
	c.render(w, r, driftData{apis})
}
