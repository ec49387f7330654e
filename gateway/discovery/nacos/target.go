package nacos

import (
	"cmp"
	"fmt"
	"maps"
	"net"
	"slices"
	"strconv"
	"strings"

	"drawbridge/config"
	"drawbridge/gateway/discovery"
)

// The metadata that says what the gateway needs. All metadata can be matched by selectors, as labels.
const (
	MetaScheme   = "scheme"    // http or https; without it, https if secure is true, else http
	MetaSecure   = "secure"    // as Spring Cloud Alibaba sets it
	MetaBasePath = "base_path" // the path of the base URL
	MetaOpenAPI  = "openapi"   // the URL of the OpenAPI document, or its path on the service
)

// callable reports whether calls may go to the instance.
func (i *instance) callable() bool { return i.Healthy && i.Enabled && i.Weight > 0 }

func (i *instance) address() string { return net.JoinHostPort(i.IP, strconv.Itoa(i.Port)) }

// target returns a service of its instances; nil if it has none. One whose instances can't be called now has no instances, so that
// what is known of it stays. The error names instances that are left out.
func (p *Provider) target(group string, s *service) (*discovery.Target, error) {
	all := slices.Clone(s.Instances)
	slices.SortStableFunc(all, func(a, b instance) int { // those that can be called decide what the service is
		if x, y := a.callable(), b.callable(); x != y {
			if x {
				return -1
			}
			return 1
		}
		return strings.Compare(a.address(), b.address())
	})
	var merged discovery.Merger
	var problems []error
	for i := range all {
		one := &all[i]
		t := registration(group, s.Name, one.Metadata)
		switch {
		case !one.callable():
		case one.Port <= 0 || one.Port > 65535:
			problems = append(problems, fmt.Errorf("the instance %.100q of the service %.100q has no valid port", one.address(), s.Name))
			continue
		default:
			t.Instances = []string{one.address()}
			t.ContextPath = discovery.ContextPath(one.Metadata, one.address())
		}
		if !merged.Add(&t) && one.callable() {
			problems = append(problems, fmt.Errorf("the instance %.100q of the service %.100q has another %s, %s or %s than another instance; it is left out",
				one.address(), s.Name, MetaScheme, MetaBasePath, MetaOpenAPI))
		}
	}
	if found := merged.Targets(); len(found) == 1 {
		return &found[0], discovery.JoinProblems(problems)
	}
	return nil, discovery.JoinProblems(problems)
}

// registration returns what the metadata of an instance says of its service.
func registration(group, name string, meta map[string]string) discovery.Target {
	scheme := "http"
	if meta[MetaSecure] == "true" {
		scheme = "https"
	}
	return discovery.Target{
		Service:  config.Service{Name: name, Namespace: group, Labels: maps.Clone(meta)},
		Scheme:   cmp.Or(meta[MetaScheme], scheme),
		BasePath: meta[MetaBasePath],
		Document: meta[MetaOpenAPI],
	}
}
