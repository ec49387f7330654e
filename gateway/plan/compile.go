package plan

import (
	"drawbridge/config"
	"drawbridge/gateway/catalog"
	"drawbridge/gateway/telemetry"
	"drawbridge/openapi"
)

// Compile compiles the plans of all tools of a configuration from the documents that its APIs have loaded so far.
func Compile(o Options) *Set {
	set := &Set{ByTool: map[string]*Plan{}, ByOperation: map[*openapi.Operation]*Plan{}, Rejected: map[string]*Rejected{}}
	r := &rejections{config: o.Config, log: o.Logger, entries: o.APIs.Entries, byAPI: set.Rejected}
	operations, apis := exposedOperations(&o, r)
	set.Catalog = catalog.Build(apis, catalog.Options{
		Prefix: namePrefix(o.Config.Tools.Prefix), APIs: o.Count, MaxName: o.Config.Tools.MaxName, Pace: o.Pace,
	})
	holdBack(o.Lock, operations, set)
	for n, t := range set.Catalog.All() {
		o.Pace.Step()
		p := newPlan(&o, r, operations[t.Operation], t, metricLabel(n, t.Name))
		set.ByTool[t.Name], set.ByOperation[t.Operation] = p, p
	}
	setResponseHeaders(set.ByOperation)
	checkJobRequests(r, o.Pace, o.GuessedJob, set)
	setCachePolicies(r, o.Metrics, set.ByOperation, operations)
	setResources(r, o.APIs.Sources, set, operations)
	return set
}

// metricLabel returns the label of the n-th tool in metrics: only so many have one of their own.
func metricLabel(n int, name string) string {
	if n >= telemetry.MaxToolLabels {
		return telemetry.OtherTools
	}
	return name
}

func namePrefix(p config.Prefix) catalog.Prefix {
	switch p {
	case config.PrefixAlways:
		return catalog.Always
	case config.PrefixNever:
		return catalog.Never
	case config.PrefixAuto:
	}
	return catalog.Auto
}
