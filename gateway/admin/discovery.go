package admin

import (
	"fmt"
	"slices"

	"drawbridge/gateway/discovery"
)

// Service is the service of a registry that an API was made of.
type Service struct {
	Provider  string `json:"provider"` // name of the provider
	Kind      string `json:"kind"`     // key of the provider in the configuration, such as file
	Namespace string `json:"namespace,omitempty"`
	Name      string `json:"name"` // at the registry
}

// Discovery is what providers of services have found.
type Discovery struct {
	Providers []discovery.ProviderStatus `json:"providers"`
	Services  []discovery.ServiceStatus  `json:"services"`
}

// Summary counts the services by their states, such as "3 of 5 served, 1 missing, 1 held".
func (d *Discovery) Summary() string {
	counts := map[discovery.State]int{}
	for i := range d.Services {
		counts[d.Services[i].State]++
	}
	text := fmt.Sprintf("%d of %d served", counts[discovery.Served]+counts[discovery.Lost], len(d.Services))
	for _, state := range discovery.States() {
		if n := counts[state]; n > 0 && state != discovery.Served {
			text += fmt.Sprintf(", %d %s", n, state)
		}
	}
	return text
}

// Attention returns the services of a provider that are not served, or may not be for long, by their states.
func (d *Discovery) Attention(provider string) (byState [][]discovery.ServiceStatus) {
	for _, state := range discovery.States() {
		var services []discovery.ServiceStatus
		for i := range d.Services {
			if s := &d.Services[i]; s.Provider == provider && s.State == state && state != discovery.Served {
				services = append(services, *s)
			}
		}
		if len(services) > 0 {
			byState = append(byState, services)
		}
	}
	return byState
}

// IsIncomplete reports whether a registry can't be read, or not as a whole.
func (d *Discovery) IsIncomplete() bool {
	return slices.ContainsFunc(d.Providers, func(p discovery.ProviderStatus) bool { return p.Error != "" || p.Updated.IsZero() })
}

// HasUnserved reports whether a service is not served.
func (d *Discovery) HasUnserved() bool {
	return slices.ContainsFunc(d.Services, func(s discovery.ServiceStatus) bool { return !s.IsServed() })
}

// HasUnnamed reports whether a service does without something because the configuration does not name it.
func (d *Discovery) HasUnnamed() bool {
	return slices.ContainsFunc(d.Services, func(s discovery.ServiceStatus) bool { return len(s.Warnings) > 0 })
}

// HasUnmatched reports whether a selector of a provider matches no service.
func (d *Discovery) HasUnmatched() bool {
	return slices.ContainsFunc(d.Providers, func(p discovery.ProviderStatus) bool { return len(p.Unmatched) > 0 })
}
