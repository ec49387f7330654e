package upstream

import (
	"net/http"
	"strings"
	"sync"
)

// health are the breakers of the hosts of an API: one that fails does not shut
// out the others. Nil: none.
type health struct {
	o       Breaker
	changed func(host string, from, to State)

	base string // the host of nearly all calls
	main *breaker

	mu     sync.Mutex
	others map[string]*breaker
}

// maxHosts bounds the breakers of one API. The hosts after them share one.
const maxHosts = 64

func newHealth(o Breaker, base string, changed func(host string, from, to State)) *health {
	if o.Failures <= 0 {
		return nil
	}
	h := &health{o: o, changed: changed, base: base, others: map[string]*breaker{}}
	h.main = h.breaker(base)
	return h
}

func (h *health) breaker(host string) *breaker {
	return newBreaker(h.o, func(from, to State) {
		if h.changed != nil {
			h.changed(host, from, to)
		}
	})
}

// of returns the breaker of a host.
func (h *health) of(host string) *breaker {
	if host == h.base {
		return h.main
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	b := h.others[host]
	if b == nil {
		if len(h.others) >= maxHosts {
			host = ""
		}
		if b = h.others[host]; b == nil {
			b = h.breaker(host)
			h.others[host] = b
		}
	}
	return b
}

// worst returns the state of the host that stands worst.
func (h *health) worst() State {
	state := Closed
	if h == nil {
		return state
	}
	state = h.main.now()
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, b := range h.others {
		state = max(state, b.now())
	}
	return state
}

// judged is a call of which its breaker has not heard the end. The zero value is
// one that no breaker waits for.
type judged struct {
	breaker *breaker
	turn    uint32
}

// end says what became of the call. The first word counts.
func (j *judged) end(v verdict) {
	if j.breaker != nil {
		j.breaker.tell(j.turn, v)
		j.breaker = nil
	}
}

// verdictOf says what an error of the transport, or of reading an answer, tells
// of the service's health. Nothing, where it is for the operator to repair
// something, and where a caller goes away.
func verdictOf(kind Kind) verdict {
	switch kind {
	case Timeout, Connect, Truncated:
		return failing
	case TooLarge:
		return well
	case Canceled, TLS, Refused, Credential, Protocol, Overloaded, BreakerOpen:
	}
	return silent
}

// verdictOn says what the head of an answer tells. 4xx are the caller's business
// (L6), and so may 500 and 501 be: a service that answers them has taken the
// request, and may fail over its arguments alone, which must not shut out all
// others (ADR 0015). The other 5xx come from who couldn't reach it, or had no
// room. A stream lasts as long as it likes. The rest is told by the body's end,
// and has no word here.
func verdictOn(resp *http.Response, all bool) (v verdict, certain bool) {
	switch code := resp.StatusCode; {
	case (code == http.StatusInternalServerError || code == http.StatusNotImplemented) && !all:
		return well, true
	case code >= http.StatusInternalServerError:
		return failing, true
	case code >= http.StatusBadRequest, isStream(resp.Header.Get("Content-Type")):
		return well, true
	}
	return silent, false
}

// isStream reports whether a media type is one of events that come as they happen.
func isStream(contentType string) bool {
	media, _, _ := strings.Cut(contentType, ";")
	media = strings.ToLower(media)
	for _, kind := range []string{"event-stream", "ndjson", "jsonl", "json-lines", "json-seq", "json-stream", "stream+json"} {
		if strings.Contains(media, kind) {
			return true
		}
	}
	return false
}
