package registration

import (
	"context"
	"math"
	"net/http"
	"net/netip"
	"strconv"
	"time"

	"drawbridge/gateway/clientip"
	"drawbridge/gateway/state"
)

// rates are the limits of one address on requests to an endpoint. A login costs two requests to authorizePath, and one to each of the
// others; many users may share an address.
var rates = map[string]state.Limit{
	registerPath:  {Interval: 10 * time.Second, Burst: 30},
	authorizePath: {Interval: time.Second, Burst: 100},
	callbackPath:  {Interval: time.Second, Burst: 60},
	tokenPath:     {Interval: time.Second / 2, Burst: 100},
}

// documentRate is the limit on fetches of metadata documents, of all addresses together.
var documentRate = state.Limit{Interval: time.Second, Burst: 30}

// limits counts requests.
type limits struct {
	address func(*http.Request) (netip.Addr, bool)
	counts  *state.LocalRateCounters
}

func newLimits(address func(*http.Request) (netip.Addr, bool), now func() time.Time) *limits {
	return &limits{address: address, counts: state.NewLocalRateCounters(0, now)}
}

// wait counts a request to an endpoint, and returns the time until it is allowed; 0 if it is now.
func (l *limits) wait(r *http.Request, path string) time.Duration {
	rate, limited := rates[path]
	if !limited {
		return 0
	}
	a, ok := l.address(r)
	if !ok {
		return 0
	}
	d, _ := l.counts.Take(r.Context(), path+" "+clientip.KeyOf(a).Network().String(), rate, 1)
	return d.RetryAfter
}

// allowFetch counts a fetch of a metadata document, and reports whether it is allowed.
func (l *limits) allowFetch(ctx context.Context) bool {
	d, _ := l.counts.Take(ctx, "document", documentRate, 1)
	return d.Allowed
}

// seconds returns the value of Retry-After.
func seconds(d time.Duration) string { return strconv.Itoa(int(math.Ceil(d.Seconds()))) }
