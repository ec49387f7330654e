package consul

import (
	"cmp"
	"errors"
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
	MetaScheme   = "scheme"    // http or https; without it, http
	MetaBasePath = "base_path" // the path of the base URL
	MetaOpenAPI  = "openapi"   // the URL of the OpenAPI document, or its path on the service
)

// passing is the status of a check that has no complaint.
const passing = "passing"

// entry is an instance of a service with its checks, an element of the answer of /v1/health/service.
type entry struct {
	Node    struct{ Address string }
	Service struct {
		ID      string
		Kind    string
		Tags    []string
		Address string
		Port    int
		Meta    map[string]string
	}
	Checks []check
}

// check is a check of an instance or of its node. One by HTTP has its URL in the definition, or else in the output.
type check struct {
	Status     string
	Output     string
	Definition struct{ HTTP string }
}

// statusURLs returns the URLs of the checks by HTTP.
func (e *entry) statusURLs() (all []string) {
	for i := range e.Checks {
		all = append(all, e.Checks[i].Definition.HTTP, discovery.StatusURL(e.Checks[i].Output))
	}
	return all
}

// healthy reports whether the instance passes all checks, its own and those of its node.
func (e *entry) healthy() bool {
	for _, c := range e.Checks {
		if c.Status != passing {
			return false
		}
	}
	return true
}

// selected reports whether the configuration asks for the instance. Proxies and gateways of the mesh are no services.
func (p *Provider) selected(e *entry) bool {
	if e.Service.Kind != "" {
		return false
	}
	for _, tag := range p.d.Tags {
		if !slices.Contains(e.Service.Tags, tag) {
			return false
		}
	}
	for name, value := range p.d.Meta {
		if have, ok := e.Service.Meta[name]; !ok || have != value {
			return false
		}
	}
	return true
}

// target returns a service of its instances; nil if none is selected. One that no instance serves now has no instances, so that
// what is known of it stays. The error names instances that are left out.
func (p *Provider) target(name string, entries []entry) (*discovery.Target, error) {
	entries = slices.DeleteFunc(entries, func(e entry) bool { return !p.selected(&e) })
	slices.SortStableFunc(entries, func(a, b entry) int { // those that are healthy decide what the service is
		if x, y := a.healthy(), b.healthy(); x != y {
			if x {
				return -1
			}
			return 1
		}
		return cmp.Or(strings.Compare(a.Service.ID, b.Service.ID), strings.Compare(a.Node.Address, b.Node.Address))
	})
	var all discovery.Merger
	var problems []error
	for i := range entries {
		e := &entries[i]
		t := p.registration(name, e)
		switch {
		case !e.healthy():
		case e.Service.Port <= 0 || e.Service.Port > 65535:
			problems = append(problems, fmt.Errorf("the instance %.100q of the service %.100q has no valid port: %d", e.Service.ID, name, e.Service.Port))
			continue
		default:
			address := net.JoinHostPort(cmp.Or(e.Service.Address, e.Node.Address), strconv.Itoa(e.Service.Port))
			t.Instances = []string{address}
			t.ContextPath = discovery.ContextPath(e.Service.Meta, address, e.statusURLs()...)
		}
		if !all.Add(&t) && e.healthy() {
			problems = append(problems, fmt.Errorf("the instance %.100q of the service %.100q has another %s, %s or %s than another instance; it is left out",
				e.Service.ID, name, MetaScheme, MetaBasePath, MetaOpenAPI))
		}
	}
	if found := all.Targets(); len(found) == 1 {
		return &found[0], join(problems)
	}
	return nil, join(problems)
}

// registration returns what an instance says of its service, without an address.
func (p *Provider) registration(name string, e *entry) discovery.Target {
	meta := e.Service.Meta
	return discovery.Target{
		Service:  config.Service{Name: name, Namespace: p.d.Namespace, Tags: slices.Clone(e.Service.Tags), Labels: maps.Clone(meta)},
		Scheme:   cmp.Or(meta[MetaScheme], "http"),
		BasePath: meta[MetaBasePath],
		Document: meta[MetaOpenAPI],
	}
}

// maxProblems is the most problems that an error names.
const maxProblems = 5

func join(problems []error) error {
	if len(problems) > maxProblems {
		problems = append(problems[:maxProblems:maxProblems], fmt.Errorf("and %d more", len(problems)-maxProblems))
	}
	return errors.Join(problems...)
}
