package console

import (
	"net/http"

	"drawbridge/gateway/admin"
)

// overviewData is what the overview shows.
type overviewData struct {
	admin.Status
}

// overview serves the first page: what is served, what is wrong, and what waits for an operator.
func (c *Console) overview(w http.ResponseWriter, r *http.Request) {
	c.render(w, r, "overview", overviewData{Status: c.o.Gateway.Status()})
}
