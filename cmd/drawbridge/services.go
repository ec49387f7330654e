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

// unreadable describes what can't be read of the registries.
func unreadable(d *gateway.Discovery) (all []string) {
	for i := range d.Providers {
		p := &d.Providers[i]
		if p.Error == "" {
			continue
		}
		for text := range strings.SplitSeq(p.Error, "\n") {
			text = fmt.Sprintf("discovery %s (%s): %s", p.Name, p.Kind, text)
			if p.Updated.IsZero() {
				text += "; no service of it is known"
			}
			all = append(all, text)
		}
	}
	return all
}

// attentions describes registries without services, selectors that match none, and the services that need attention, of each
// provider and state at most so many, with what to do next.
func attentions(d *gateway.Discovery, c *config.Config, most int) (all []string) {
	for i := range d.Providers {
		p := &d.Providers[i]
		if p.Error == "" && !p.Updated.IsZero() && p.Services+p.Lost+len(p.Unmatched) == 0 {
			all = append(all, fmt.Sprintf("discovery %s (%s): the registry has no services", p.Name, p.Kind))
		}
		for _, key := range p.Unmatched {
			all = append(all, fmt.Sprintf("discovery %s (%s): %s matches no service of the registry", p.Name, p.Kind, key))
		}
		all = append(all, unnamed(d, p, most)...)
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

// unnamed describes services that do without something because the configuration does not name them, at most so many, with the line that
// names them.
func unnamed(d *gateway.Discovery, p *gateway.ProviderStatus, most int) (all []string) {
	more := 0
	for i := range d.Services {
		s := &d.Services[i]
		if s.Provider != p.Name || len(s.Warnings) == 0 {
			continue
		}
		if len(all) >= most {
			more++
			continue
		}
		for _, warning := range s.Warnings {
			all = append(all, fmt.Sprintf("%s: service %s of %s (%s): %s", s.API, serviceName(s.Namespace, s.Name), p.Name, p.Kind, warning))
		}
	}
	if more > 0 {
		all = append(all, fmt.Sprintf("discovery %s (%s): %d more are not named; GET /apis of the admin listener has all", p.Name, p.Kind, more))
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
