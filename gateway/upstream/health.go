package upstream

import (
	"context"
	"net/http"
	"strings"
	"sync"

	"drawbridge/gateway/upstream/balance"
)

// health holds the breakers of the hosts of an API, so that a failing host does not affect the
// others. A nil health has none.
type health struct {
	o        Breaker
	onChange func(host string, from, to State)

	base string // the host of nearly all calls
	main *breaker

	mu     sync.Mutex
	others map[string]*breaker
}

// maxHosts is the maximum number of breakers of one API. Further hosts share one.
const maxHosts = 64

func newHealth(o Breaker, base string, changed func(host string, from, to State)) *health {
	if o.Failures <= 0 {
		return nil
	}
	h := &health{o: o, onChange: changed, base: base, others: map[string]*breaker{}}
	h.main = h.newBreaker(base)
	return h
}

func (h *health) newBreaker(host string) *breaker {
	return newBreaker(h.o, func(from, to State) {
		if h.onChange != nil {
			h.onChange(host, from, to)
		}
	})
}

// forHost returns the breaker of a host.
func (h *health) forHost(host string) *breaker {
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
			b = h.newBreaker(host)
			h.others[host] = b
		}
	}
	return b
}

// worst returns the worst state of all hosts.
func (h *health) worst() State {
	state := Closed
	if h == nil {
		return state
	}
	state = h.main.currentState()
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, b := range h.others {
		state = max(state, b.currentState())
	}
	return state
}

// pendingOutcome is a call whose outcome was not yet reported to its breaker. The zero value has no
// breaker.
type pendingOutcome struct {
	breaker    *breaker
	generation uint32
}

// report reports the outcome of the call. Only the first report counts.
func (j *pendingOutcome) report(v healthOutcome) {
	if j.breaker != nil {
		j.breaker.report(j.generation, v)
		j.breaker = nil
	}
}

// outcomeOfError returns the outcome for an error of the transport or of reading a response. It is
// unknown for errors that the operator must fix, and for canceled calls.
func outcomeOfError(kind Kind) healthOutcome {
	switch kind {
	case Timeout, Connect, Truncated, ProxyFailed:
		return failure
	case TooLarge:
		return success
	case Canceled, TLS, Refused, Credential, Protocol, Overloaded, BreakerOpen:
	}
	return unknown
}

// outcomeOfResponse returns the outcome for a response header. 4xx are caused by the caller (L6),
// and so may 500 and 501 be: the service has handled the request, and may fail because of its
// arguments, which must not block all other calls (ADR 0015). The other 5xx mean that the service
// is unreachable or overloaded. A stream may last for any time. In all other cases the end of the
// body determines the outcome, and certain is false.
func outcomeOfResponse(resp *http.Response, all bool) (v healthOutcome, certain bool) {
	switch code := resp.StatusCode; {
	case (code == http.StatusInternalServerError || code == http.StatusNotImplemented) && !all:
		return success, true
	case code >= http.StatusInternalServerError:
		return failure, true
	case code >= http.StatusBadRequest, isStream(resp.Header.Get("Content-Type")):
		return success, true
	}
	return unknown, false
}

// ejectAfter is the number of requests in a row that must fail before an instance of a service is ejected. The breaker of the
// API, which has seen as many successes of the other instances, is still closed then.
const ejectAfter = 5

// newEjection returns when instances of a service are ejected: if requests fail as the breaker counts. Without a breaker, responses
// don't matter.
func (c *Client) newEjection(o *Options) balance.Ejection {
	if c.health == nil {
		return balance.Ejection{}
	}
	return balance.Ejection{Failures: ejectAfter, OnEject: o.OnEject, Judge: func(ctx context.Context, resp *http.Response, err error) balance.Outcome {
		v := unknown
		if err != nil {
			v = outcomeOfError(sendKind(ctx, err))
		} else {
			v, _ = outcomeOfResponse(resp, c.allErrors)
		}
		switch v {
		case success:
			return balance.Success
		case failure:
			return balance.Failure
		case unknown:
		}
		return balance.Unknown
	}}
}

// isStream reports whether a media type is an event stream.
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
