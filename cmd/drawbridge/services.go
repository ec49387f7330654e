package main

import (
	"cmp"
	"fmt"
	"strings"

	"drawbridge/config"
	"drawbridge/gateway"
)

// discoveredFrom describes the service of a registry that an API was made of.
func discoveredFrom(s *gateway.Service) string {
	return fmt.Sprintf("service %s of %s (%s)", serviceName(s.Namespace, s.Name), s.Provider, s.Kind)
}

func serviceName(namespace, name string) string {
	if namespace == "" {
		return name
	}
	return namespace + "/" + name
}

// attentions describes the providers that can't be read as a whole, and the services that need attention, of each provider
// and state at most so many, with what to do next.
func attentions(d *gateway.Discovery, c *config.Config, most int) (all []string) {
	for i := range d.Providers {
		p := &d.Providers[i]
		if p.Error != "" {
			text := fmt.Sprintf("discovery %s (%s): %s", p.Name, p.Kind, strings.ReplaceAll(p.Error, "\n", "; ")) // it joins several
			if p.Updated.IsZero() {
				text += "; no service of it is known"
			}
			all = append(all, text)
		}
		for _, services := range d.Attention(p.Name) {
			shown := min(len(services), most)
			if len(services) == most+1 { // one more line is no longer than the line that would replace it
				shown++
			}
			for j := range services[:shown] {
				all = append(all, attention(&services[j], p.Kind, c))
			}
			if more := len(services) - shown; more > 0 {
				all = append(all, fmt.Sprintf("discovery %s (%s): %d more are %s; GET /apis of the admin listener has all", p.Name, p.Kind, more, services[0].State))
			}
		}
	}
	return all
}

// attention describes a service that is not served, or may not be for long.
func attention(s *gateway.ServiceStatus, kind string, c *config.Config) string {
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
