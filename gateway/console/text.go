package console

import (
	"fmt"
	"strings"
	"time"

	"drawbridge/auth"
	"drawbridge/gateway/admin"
	"drawbridge/gateway/call"
)

// ago says how long before now a time was, in its largest unit.
func ago(now, t time.Time) string {
	d := now.Sub(t)
	switch {
	case d < time.Second:
		return "now"
	case d < 2*time.Minute:
		return fmt.Sprintf("%d s ago", d/time.Second)
	case d < 2*time.Hour:
		return fmt.Sprintf("%d min ago", d/time.Minute)
	case d < 48*time.Hour:
		return fmt.Sprintf("%d h ago", d/time.Hour)
	}
	return fmt.Sprintf("%d days ago", d/(24*time.Hour))
}

// number writes a count with commas between thousands.
func number(n int) string {
	text := fmt.Sprint(n)
	for i := len(text) - 3; i > 0 && text[i-1] != '-'; i -= 3 {
		text = text[:i] + "," + text[i:]
	}
	return text
}

// counted writes a count with its noun.
func counted(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return number(n) + " " + many
}

// milliseconds writes a latency with three significant digits.
func milliseconds(d time.Duration) string {
	ms := float64(d) / float64(time.Millisecond)
	switch {
	case d == 0:
		return "–"
	case ms < 10:
		return fmt.Sprintf("%.2f ms", ms)
	case ms < 1000:
		return fmt.Sprintf("%.0f ms", ms)
	}
	return fmt.Sprintf("%.1f s", ms/1000)
}

// byteCount writes a number of bytes in its largest unit.
func byteCount(n int64) string {
	switch {
	case n < 1<<10:
		return fmt.Sprintf("%d B", n)
	case n < 1<<20:
		return fmt.Sprintf("%.1f KiB", float64(n)/(1<<10))
	}
	return fmt.Sprintf("%.1f MiB", float64(n)/(1<<20))
}

// utc writes a time that a token has.
func utc(t time.Time) string { return t.UTC().Format("2006-01-02 15:04:05 UTC") }

// sometimeAgo says how long before now a time was, or something else if it is unknown.
func sometimeAgo(now time.Time, t *time.Time, otherwise string) string {
	if t == nil {
		return otherwise
	}
	return ago(now, *t)
}

// accepted says that a token is accepted.
func accepted(e *auth.Explanation) string {
	switch {
	case e.APIKey && len(e.Addresses) > 0:
		return "The key is accepted, from its addresses."
	case e.APIKey:
		return "The key is accepted."
	case e.Bound:
		return "The token is accepted, if the request proves possession of its key (DPoP)."
	}
	return "The token is accepted."
}

// refusal says why a token is refused.
func refusal(e *auth.Explanation) string {
	what := "The token is refused: "
	if e.APIKey {
		what = "The key is refused: "
	}
	if e.Advice != "" {
		return what + e.Reason + "; " + e.Advice + "."
	}
	return what + e.Reason + "."
}

// addresses returns the networks from which a key is accepted.
func addresses(e *auth.Explanation) string {
	var all []string
	for _, n := range e.Addresses {
		all = append(all, n.String())
	}
	return strings.Join(all, ", ")
}

// kindOf says of which kind a token is.
func kindOf(e *auth.Explanation) string {
	if e.APIKey {
		return "API key"
	}
	if e.Opaque {
		return "opaque"
	}
	kind := "JWT"
	for _, field := range [][2]string{{"typ", e.Type}, {"alg", e.Algorithm}, {"kid", e.Key}} {
		if field[1] != "" {
			kind += ", " + field[0] + " " + field[1]
		}
	}
	return kind
}

// heldText says what a document in quarantine lacks.
func heldText(now time.Time, h *admin.HeldDocument) string {
	text := "Version " + h.Version + ", since " + ago(now, h.Since) + ". " + number(h.Lost) + " of " + number(h.Of) + " operations are missing"
	if h.Undone > 0 {
		text += "; it would undo " + number(h.Undone) + " restrictions"
	}
	return text + "."
}

// qualified returns the name of a service with its namespace, if it has one.
func qualified(namespace, name string) string {
	if namespace == "" {
		return name
	}
	return namespace + "/" + name
}

// short returns a position as file:line:column, with the last part of the file's name.
func short(p admin.Place) string {
	return fmt.Sprintf("%s:%d:%d", p.File[strings.LastIndexByte(p.File, '/')+1:], p.Line, p.Column)
}

// readiness says whether the gateway is ready.
func (d overviewData) readiness() string {
	switch {
	case d.Draining:
		return "draining"
	case d.Ready:
		return "ready"
	}
	return "not ready"
}

// chosen returns what the chosen endpoint is called in a sentence.
func (d connectData) chosen() string {
	if d.Chosen.Name == "" {
		return "this gateway"
	}
	return "the endpoint " + d.Chosen.Name
}

// requestText returns a request to a service as HTTP shows it.
func requestText(e *call.Exchange) string {
	text := e.Method + " " + e.URL + "\n" + headerText(e.RequestHeader)
	if e.RequestBody != "" {
		text += "\n" + e.RequestBody
	}
	return cutText(text, e.RequestBodyCut)
}

// responseHead returns the status and the header of a response.
func responseHead(e *call.Exchange) string {
	return fmt.Sprint(e.Status, "\n", headerText(e.ResponseHeader))
}

func headerText(header []call.HeaderLine) string {
	var b strings.Builder
	for _, line := range header {
		b.WriteString(line.Name + ": " + line.Value + "\n")
	}
	return b.String()
}

// cutText returns a text that may be the beginning of a longer one, as people are shown it.
func cutText(text string, cut bool) string {
	if cut {
		return text + "…"
	}
	return text
}

// tokenExample is the configuration that lets operators sign in.
const tokenExample = "admin:\n  token: ${ADMIN_TOKEN} # at least 16 characters"

// driftText summarizes the drift of an API.
func driftText(now time.Time, d *admin.Drift) string {
	text := number(int(d.Total)) + " differences from the document, counted by this process since " + ago(now, d.Since)
	if d.Uncounted > 0 {
		text += "; " + number(int(d.Uncounted)) + " of them at places that are not kept"
	}
	return text + "."
}
