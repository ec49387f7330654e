package gateway

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"math"
	"net/http"
	"strconv"
	"time"

	"drawbridge/config"
	"drawbridge/gateway/audit"
	"drawbridge/gateway/catalog"
	"drawbridge/gateway/clientip"
	"drawbridge/gateway/mcp"
	"drawbridge/gateway/state"
	"drawbridge/gateway/telemetry"
)

// rate is a limit on calls, ready to be asked. It is immutable.
type rate struct {
	reason telemetry.RefusalReason
	limit  state.Limit
	whose  string // for the client: "of this caller"
	// key is what is counted; with perCaller the caller's name follows.
	key       string
	perCaller bool
	policy    []string   // of the header RateLimit-Policy
	left      [][]string // of the header RateLimit, by what is left
}

// rates are those of one configuration that hold for all requests.
type rates struct {
	address, principal *rate // nil: there is none
	groups             []*rate
}

// maxToldLeft is the most calls that a client is told that it has left: the values of the header are made beforehand, so that
// telling costs nothing, and beyond a thousand nobody counts.
const maxToldLeft = 1000

func newRate(interval time.Duration, burst int, because telemetry.RefusalReason, whose, key string) *rate {
	r := &rate{reason: because, limit: state.Limit{Interval: interval, Burst: burst}, whose: whose, key: key}
	// After the window all of the quota is there again: that is how the draft's terms stand for rate and burst.
	r.policy = []string{fmt.Sprintf("%q;q=%d;w=%d", r.name(), burst, seconds(interval*time.Duration(burst)))}
	return r
}

// digest is a short name for a long one.
func digest(s string) string {
	sum := sha256.Sum256([]byte(s))
	return base64.RawURLEncoding.EncodeToString(sum[:])
}

// name is that of the policy (draft-ietf-httpapi-ratelimit-headers-10 section 3).
func (r *rate) name() string { return string(r.reason[:len(r.reason)-len("_rate")]) }

// tabulate makes the values of the header beforehand.
func (r *rate) tabulate() *rate {
	r.left = make([][]string, min(r.limit.Burst, maxToldLeft)+1)
	for n := range r.left {
		r.left[n] = []string{r.header(n, r.limit.Interval*time.Duration(r.limit.Burst-n))}
	}
	return r
}

func (r *rate) header(left int, reset time.Duration) string {
	return `"` + r.name() + `";r=` + strconv.Itoa(left) + ";t=" + strconv.FormatInt(seconds(reset), 10)
}

// newRates makes the rates of a configuration. Who calls from the command line, or over a pipe, has none.
func newRates(c *config.Config, local bool) rates {
	var all rates
	if local {
		return all
	}
	if r := &c.Limits.AddressRate; r.On() {
		all.address = newRate(r.Rate.Interval(), r.AtOnce(), telemetry.RefusedAddressRate, "requests from this address", "").tabulate()
	}
	if r := &c.Limits.PrincipalRate; r.On() {
		all.principal = newRate(r.Rate.Interval(), r.AtOnce(), telemetry.RefusedPrincipalRate, "requests of this caller", "").tabulate()
	}
	all.groups = newGroupRates(c)
	return all
}

// ratesOf returns the rates that calls of a tool count against, besides those of their callers.
func ratesOf(api *config.API, name string, t *catalog.Tool, set config.Settings) (all []*rate) {
	add := func(r *config.CallRate, because telemetry.RefusalReason, whose, key string) {
		if r.On() {
			one := newRate(r.Rate.Interval(), r.AtOnce(), because, whose, key)
			if one.perCaller = r.Per == config.PerPrincipal; one.perCaller {
				one.key += "|"
				one.whose += " by this caller"
			}
			all = append(all, one)
		}
	}
	add(set.Rate, telemetry.RefusedToolRate, fmt.Sprintf("calls of the tool %q", t.Name), "tool:"+t.Name)
	add(api.Rate, telemetry.RefusedAPIRate, fmt.Sprintf("calls of the API %q", name), "api:"+name)
	return all
}

// tell shows what is left of the rate in the header of an answer.
func (r *rate) tell(h http.Header, left int) {
	h["Ratelimit-Policy"] = r.policy
	h["Ratelimit"] = r.left[min(left, len(r.left)-1)]
}

// refuse makes the error for a request that the rate does not allow.
func (r *rate) refuse(g *Gateway, d state.Decision) *mcp.Error {
	if d.Uncounted { // it is not this caller who is too fast
		g.metrics.Refused[telemetry.RefusedUncounted].Inc()
		return mcp.RetryLater(http.StatusServiceUnavailable, d.RetryAfter, "the gateway can't count calls now, and lets none through uncounted: come again in %s", inWords(d.RetryAfter))
	}
	g.metrics.Refused[r.reason].Inc()
	wait := max(d.RetryAfter, time.Millisecond)
	e := mcp.RetryLater(http.StatusTooManyRequests, wait, "too many %s: come again in %s", r.whose, inWords(wait))
	e.Header["Ratelimit-Policy"] = r.policy
	e.Header["Ratelimit"] = []string{r.header(d.Remaining, d.Reset)}
	return e
}

// refuseRate refuses a request of a caller that is known, and tells the audit log.
func (g *Gateway) refuseRate(ctx context.Context, req *mcp.Request, r *rate, d state.Decision) *mcp.Error {
	because := r.reason
	if d.Uncounted {
		because = telemetry.RefusedUncounted
	}
	e := r.refuse(g, d)
	g.accountRefused(ctx, req.HTTP, telemetry.Outcome(because), e.HTTPStatus, audit.Line{RPC: req.Method})
	return e
}

// saidRate is what a caller says without wanting an answer is counted under: answers to questions, cancellations, the ends of sessions.
// It has as much room as the requests have, and its own, so that who calls too often does not lose what the user has answered.
const saidRate = "said|"

// admit counts a request of a caller that is known, and, of a batch, all but the first for the address as well.
func (g *Gateway) admit(ctx context.Context, req *mcp.Request, reply *mcp.Reply) error {
	v := requestInfoFrom(ctx)
	rates := &v.endpoint.gen.rates
	if req.BatchIndex > 1 && rates.address != nil && v.address != (clientip.Key{}) {
		if d := g.addresses.TakeBytes(v.address[:], rates.address.limit, 1); !d.Allowed {
			return g.refuseRate(ctx, req, rates.address, d)
		}
	}
	limit, key := rates.of(ctx, req.Principal)
	if limit == nil || key == "" {
		return nil
	}
	if req.ID == nil {
		key = saidRate + key
	}
	// The decision holds also where the counter could not be asked.
	d, _ := g.shared.rates.Take(ctx, key, limit.limit, 1)
	if !d.Allowed {
		return g.refuseRate(ctx, req, limit, d)
	}
	limit.tell(reply.Header(), d.Remaining)
	return nil
}

// maxRateKey bounds the bytes of what a counter keeps of a name.
const maxRateKey = 256

// rateKey is under which a principal is counted. Nobody but an issuer that is trusted can make two of the same.
func rateKey(principal string) string {
	if len(principal) > maxRateKey {
		return "#" + digest(principal)
	}
	return principal
}

// allowed looks for room for the call, then counts it against the rates of its tool and its API. The error says when to come again.
func (c *call) allowed() error {
	if e, _ := c.g.crowded(c.endpoint.gen, requestInfoFrom(c.ctx).memoryChecked); e != nil {
		c.turnedAway(telemetry.OutcomeLimited)
		return e
	}
	return c.rated()
}

// rated counts the call against the rates of its tool and its API. The error says when to come again.
func (c *call) rated() error {
	all := c.plan.rates
	if len(all) == 0 {
		return nil
	}
	refuse := func(r *rate, d state.Decision) error {
		because := telemetry.OutcomeLimited
		if d.Uncounted {
			because = telemetry.OutcomeUncounted
		}
		c.turnedAway(because)
		return r.refuse(c.g, d)
	}
	if len(all) == 1 {
		if d, _ := c.g.shared.rates.Take(c.ctx, c.keyOf(all[0]), all[0].limit, 1); !d.Allowed {
			return refuse(all[0], d)
		}
		return nil
	}
	takes := make([]state.Take, len(all))
	for i, r := range all {
		takes[i] = state.Take{Key: c.keyOf(r), Limit: r.limit, N: 1}
	}
	decisions, _ := c.g.shared.rates.TakeAll(c.ctx, takes)
	for i, d := range decisions {
		if !d.Allowed {
			return refuse(all[i], d)
		}
	}
	return nil
}

// turnedAway counts the call as one that may come again.
func (c *call) turnedAway(because telemetry.Outcome) {
	c.plan.metrics.Count(because)
	if c.callRecord != nil {
		c.callRecord.outcome = because
	}
}

// keyOf returns what a rate counts the call under.
func (c *call) keyOf(r *rate) string {
	if !r.perCaller {
		return r.key
	}
	if c.caller != nil {
		return r.key + rateKey(c.caller.ID())
	}
	return r.key + requestInfoFrom(c.ctx).address.String()
}

// seconds rounds up.
func seconds(d time.Duration) int64 { return max(1, int64(math.Ceil(d.Seconds()))) }

// inWords says how long to wait.
func inWords(d time.Duration) string {
	n, unit := seconds(d), "second"
	if n > 120 {
		n, unit = int64(math.Ceil(d.Minutes())), "minute"
	}
	if n > 1 {
		unit += "s"
	}
	return strconv.FormatInt(n, 10) + " " + unit
}
