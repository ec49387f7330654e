package plan

import (
	"fmt"
	"net/http"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"drawbridge/auth/credential"
	"drawbridge/config"
	"drawbridge/gateway/cache"
	"drawbridge/gateway/job"
	"drawbridge/gateway/source"
	"drawbridge/openapi"
	"drawbridge/openapi/answer"
)

// CachePolicy determines which responses of a plan are cached, for how long and for whom. It is immutable.
type CachePolicy struct {
	// Rule is the rule of the cache.
	Rule cache.Rule
	// Group is the service.
	Group string
	// Variant identifies the parts of the plan that determine the response: the operation, its credential, the rule.
	Variant string
}

// codeCache is the problem code of an operation whose responses can't be cached as configured.
const codeCache = "cache"

// caches has the cache policies of tools.
type caches struct {
	policies map[*openapi.Operation]*CachePolicy
	cached   map[*source.Source]bool // sources with a policy
}

// newCaches returns the cache policies of the tools whose responses are cached. Responses about jobs are never cached:
// their requests ask for a change of state.
func newCaches(o *Options, tools drafts, jobs checkedJobs, rejected *rejections) caches {
	all := caches{policies: map[*openapi.Operation]*CachePolicy{}, cached: map[*source.Source]bool{}}
	if o.Config.Limits.Cache == 0 {
		return all
	}
	for _, t := range tools.all {
		op, set := t.operation, t.settings.Cache
		if !set.On() || op.Method != http.MethodGet && op.Method != http.MethodHead || jobs.polled[op] != nil {
			continue
		}
		if !t.changesNothing() {
			rejected.of(t.definition.API, op).reject(codeCache, "cache", "annotations say that calls change something, so their answers are not cached",
				func(s *config.Settings) bool { return s.Cache.On() })
			continue
		}
		shared := set.Shared
		if shared && t.personal {
			// The configuration is validated for this; if that fails, no caller gets the response of another.
			rejected.of(t.definition.API, op).reject(codeCache, "cache.shared", "the answers belong to their callers",
				func(s *config.Settings) bool { return s.Cache.On() && s.Cache.Shared })
			shared = false
		}
		all.policies[op] = &CachePolicy{
			Group: t.source.CacheGroup, Variant: cacheVariant(op, set, shared, t.source.Document.Credentials.Choices[op]),
			Rule: newCacheRule(set, shared, jobs.jobs[op], func(outcome cache.Outcome) prometheus.Counter {
				return o.Metrics.Cache(t.definition.API, string(outcome))
			}),
		}
		all.cached[t.source] = true
	}
	return all
}

// cacheVariant identifies an operation, its cache settings and its credential.
func cacheVariant(op *openapi.Operation, set *config.Cache, shared bool, own *credential.Choice) string {
	variant := fmt.Appendf(nil, `%q %q "%t" %q `, op.Method, op.Path, shared, time.Duration(set.TTL).String())
	if own != nil {
		for _, scheme := range own.Schemes() {
			variant = fmt.Appendf(variant, "%q ", scheme)
		}
	}
	return string(variant)
}

// newCacheRule returns the rule for the responses of an operation, which may start the jobs j.
func newCacheRule(set *config.Cache, shared bool, j *job.Definition, counter func(cache.Outcome) prometheus.Counter) cache.Rule {
	count := map[cache.Outcome]prometheus.Counter{}
	for _, o := range []cache.Outcome{cache.Hit, cache.Revalidated, cache.Shared, cache.Miss, cache.Bypass, cache.Stored} {
		count[o] = counter(o)
	}
	return cache.Rule{
		TTL: time.Duration(set.TTL), Shared: shared, MaxBytes: int64(set.MaxBytes),
		Count: func(o cache.Outcome) { count[o].Inc() },
		Keep:  func(resp *http.Response) bool { return answer.Delimited(resp) && !j.MayBegin(resp.StatusCode) },
	}
}
