package admin

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
)

// ready serves a readiness probe. It fails while nothing is served, or not all that is waited for,
// before tokens can be verified, while calls are refused for lack of an audit record, and while the
// gateway drains; a single API or issuer that fails later does not make the gateway unready (O6).
func ready(w http.ResponseWriter, s Status, verbose bool) {
	status, word := http.StatusOK, "ready"
	switch {
	case s.Draining:
		status, word = http.StatusServiceUnavailable, "draining"
	case s.NotReady != "":
		status, word = http.StatusServiceUnavailable, string(s.NotReady)
	case !s.Ready:
		status, word = http.StatusServiceUnavailable, "no API is served yet"
		if slices.ContainsFunc(s.APIs, func(a API) bool { return a.State != Loading && a.State != Failed }) {
			word = "some APIs are not served yet, and server.ready waits for them"
		}
	}
	if !verbose {
		writeText(w, status, word+"\n")
		return
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%s: %d tools\n", word, s.Tools)
	if s.Config.Error != "" {
		fmt.Fprintf(&b, "config: the last good one is in use, the newer one was refused: %s\n", s.Config.Error)
	}
	for _, problem := range s.Config.Selectors {
		fmt.Fprintf(&b, "config: %s\n", problem)
	}
	for _, opens := range s.Config.Opens {
		fmt.Fprintf(&b, "config: the last good one is in use, a newer one is held until SIGHUP, POST /reload or a restart with --accept, since it would open access: %s\n", opens)
	}
	for _, i := range s.Issuers {
		fmt.Fprintf(&b, "issuer %s: %s\n", i.Issuer, i)
	}
	if s.Audit != nil {
		fmt.Fprintf(&b, "audit log: %s\n", s.Audit)
	}
	if s.Shared != nil {
		fmt.Fprintf(&b, "shared state: %s\n", s.Shared)
	}
	for _, a := range s.APIs {
		fmt.Fprintf(&b, "api %s: %s: %d tools, %d operations skipped, %d problems", a.Name, a.State, a.Tools, a.Skipped, a.Problems)
		if a.Breaker != "" {
			fmt.Fprintf(&b, ", breaker %s", a.Breaker)
		}
		if a.Held != nil && a.Held.Lost > 0 {
			fmt.Fprintf(&b, ": a newer document lacks %d of %d operations", a.Held.Lost, a.Held.Of)
		}
		if a.Held != nil && len(a.Held.Restrictions) > 0 {
			fmt.Fprintf(&b, ": a document is held because it would undo %d restrictions: %s", a.Held.Undone, strings.Join(a.Held.Restrictions, "; "))
		}
		if a.Error != "" {
			fmt.Fprintf(&b, ": %s", a.Error)
		}
		b.WriteByte('\n')
	}
	writeText(w, status, b.String())
}
