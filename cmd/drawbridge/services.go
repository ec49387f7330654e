package main

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"drawbridge/config"
	"drawbridge/gateway/admin"
	"drawbridge/gateway/discovery"
)

// discoveredFrom describes the service of a registry that an API was made of.
func discoveredFrom(s *admin.Service) string {
	return fmt.Sprintf("service %s of %s (%s)", serviceName(s.Namespace, s.Name), s.Provider, s.Kind)
}

func serviceName(namespace, name string) string {
	if namespace == "" {
		return name
	}
	return namespace + "/" + name
}

// countStates counts services by their states: "3 of 5 served, 1 held, 1 missing".
func countStates(services []discovery.ServiceStatus) string {
	counts := map[discovery.State]int{}
	for i := range services {
		counts[services[i].State]++
	}
	text := fmt.Sprintf("%d of %d served", counts[discovery.Served]+counts[discovery.Lost], len(services))
	for _, state := range discovery.States() {
		if n := counts[state]; n > 0 && state != discovery.Served {
			text += fmt.Sprintf(", %d %s", n, state)
		}
	}
	return text
}

// attentions describes the providers that can't be read as a whole, and the services that need attention, of each provider
// and state at most so many, with what to do next.
func attentions(d *admin.Discovery, c *config.Config, most int) (all []string) {
	for i := range d.Providers {
		p := &d.Providers[i]
		if p.Error != "" {
			all = append(all, fmt.Sprintf("discovery %s (%s): %s%s", p.Name, p.Kind, p.Error, lastAnswer(p)))
		}
		for _, state := range discovery.States() {
			var services []*discovery.ServiceStatus
			for j := range d.Services {
				if s := &d.Services[j]; s.Provider == p.Name && s.State == state && state != discovery.Served {
					services = append(services, s)
				}
			}
			shown := min(len(services), most)
			if len(services) == most+1 { // one more line is no longer than the line that would replace it
				shown++
			}
			for _, s := range services[:shown] {
				all = append(all, attention(s, p.Kind, c))
			}
			if more := len(services) - shown; more > 0 {
				all = append(all, fmt.Sprintf("discovery %s (%s): %d more are %s; GET /apis of the admin listener has all", p.Name, p.Kind, more, state))
			}
		}
	}
	return all
}

func lastAnswer(p *discovery.ProviderStatus) string {
	if p.Updated.IsZero() {
		return "; no service of it is known"
	}
	return ""
}

// attention describes a service that is not served, or may not be for long.
func attention(s *discovery.ServiceStatus, kind string, c *config.Config) string {
	name := serviceName(s.Namespace, s.Name)
	text := fmt.Sprintf("%s: service %s of %s (%s) is %s", s.API, name, s.Provider, kind, s.State)
	// The reason begins with the name of the service, or is one of the gateway's own.
	if reason := strings.TrimPrefix(s.Reason, s.Name+": "); reason != "" {
		text += ": " + reason
	}
	return text + strings.TrimSuffix("; "+nextStep(s.Next, c), "; ")
}

// nextStep returns what to do as a command where the admin listener does it.
func nextStep(next string, c *config.Config) string {
	path, ok := strings.CutPrefix(next, "POST ")
	if !ok {
		return next
	}
	first := ""
	if c.Admin.Token.IsZero() { // without it the listener rejects the request
		first = "set admin.token, then "
	}
	return fmt.Sprintf(`accept it: %scurl -X POST -H "Authorization: Bearer $ADMIN_TOKEN" http://%s%s`, first, local(cmp.Or(c.Admin.Listen, config.DefaultAdminListen())), path)
}

// isIncomplete reports whether a registry can't be read, or not as a whole.
func isIncomplete(d *admin.Discovery) bool {
	return slices.ContainsFunc(d.Providers, func(p discovery.ProviderStatus) bool { return p.Error != "" || p.Updated.IsZero() })
}

// hasUnserved reports whether a service of a registry is not served.
func hasUnserved(d *admin.Discovery) bool {
	return slices.ContainsFunc(d.Services, func(s discovery.ServiceStatus) bool { return !s.IsServed() })
}
