package gatewaytest

import (
	"net/http"
	"strings"

	"drawbridge/gateway"
)

// MetricLines returns the lines of /metrics that hold all of the texts.
func MetricLines(g *gateway.Gateway, texts ...string) []string {
	w := Do(g.Admin(), http.MethodGet, "/metrics", nil)
	var lines []string
next:
	for line := range strings.Lines(w.Body.String()) {
		for _, text := range texts {
			if !strings.Contains(line, text) {
				continue next
			}
		}
		lines = append(lines, strings.TrimSpace(line))
	}
	return lines
}
