package plan

import (
	"fmt"
	"net/http"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"drawbridge/config"
	"drawbridge/gateway/cache"
	"drawbridge/gateway/source"
	"drawbridge/gateway/telemetry"
	"drawbridge/openapi"
	"drawbridge/openapi/answer"
)

// codeCache is the problem code of an operation whose responses can't be cached as configured.
const codeCache = "cache"

// CachePolicy determines which responses of a plan are cached, for how long and for whom. It is immutable.
type CachePolicy struct {
	Rule  cache.Rule
	Group string
	// Variant identifies the parts of the plan that determine the response: the operation, its credential, the rule.
	Variant string
}

// setCachePolicies sets the plans' cache policies. Responses about jobs are never cached: their requests ask for a change
// of state.
func setCachePolicies(r *rejections, m *telemetry.Metrics, plans map[*openapi.Operation]*Plan, operations map[*openapi.Operation]*operation) {
	if r.config.Limits.Cache == 0 {
		return
	}
	caching := map[*source.Source]bool{}
	for op, p := range plans {
		set := operations[op].settings.Cache
		if !set.On() || op.Method != http.MethodGet && op.Method != http.MethodHead || p.PolledJob != nil {
			continue
		}
		shared := set.Shared
		if shared && p.Personal {
			// The configuration is validated for this; if that fails, no caller gets the response of another.
			r.reject(p.Source, op, codeCache, "cache.shared", "the answers belong to their callers", func(s *config.Settings) bool { return s.Cache.On() && s.Cache.Shared })
			shared = false
		}
		p.Cache = newCachePolicy(m, p, set, shared)
		caching[p.Source] = true
	}
	for _, p := range plans {
		p.InvalidatesCache = !p.Safe && caching[p.Source]
	}
}

// newCachePolicy compiles the cache setting of a plan's operation.
func newCachePolicy(m *telemetry.Metrics, p *Plan, set *config.Cache, shared bool) *CachePolicy {
	variant := fmt.Appendf(nil, `%q %q "%t" %q `, p.Operation.Method, p.Operation.Path, shared, time.Duration(set.TTL).String())
	if p.Credential != nil {
		for _, scheme := range p.Credential.Schemes() {
			variant = fmt.Appendf(variant, "%q ", scheme)
		}
	}
	count := map[cache.Outcome]prometheus.Counter{}
	for _, o := range []cache.Outcome{cache.Hit, cache.Revalidated, cache.Shared, cache.Miss, cache.Bypass, cache.Stored} {
		count[o] = m.Cache(p.Tool.API, string(o))
	}
	return &CachePolicy{Group: p.Source.CacheGroup, Variant: string(variant), Rule: cache.Rule{
		TTL: time.Duration(set.TTL), Shared: shared, MaxBytes: int64(set.MaxBytes),
		Count: func(o cache.Outcome) { count[o].Inc() },
		Keep:  func(resp *http.Response) bool { return answer.Delimited(resp) && !p.Job.MayBegin(resp.StatusCode) },
	}}
}
