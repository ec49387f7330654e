package config

import (
	"cmp"
	"fmt"
	"slices"
)

// Accepts reports whether a service of the provider becomes an API.
func (d *Discovery) Accepts(s *Service) bool { return len(d.Services) == 0 || d.Services.Match(s) }

// ServiceAPI is what the API of a discovered service is called, and where it is.
type ServiceAPI struct {
	// Name is the name of the API. Claimed is the one that api_name gives it, which other services may claim too: selectors match both.
	Name, Claimed string
	// Spec is the location of its document, Base its base URL.
	Spec Location
	Base URL
	// IsOnlyOne reports whether no other service of the provider that can be served has the name of this one.
	IsOnlyOne bool
}

// APIFor returns the settings of a service's API: those of the provider, with what is sent to this service.
func (d *Discovery) APIFor(s *Service, as ServiceAPI) API {
	api := d.API.api
	api.Name, api.Spec, api.BaseURL = as.Name, as.Spec, &as.Base
	api.service, api.claimed = ServiceID{d.Name, s.Namespace, s.Name}, as.Claimed
	api.AllowServers, api.AllowAddresses = d.AllowServers, d.AllowAddresses
	c := d.credentialOf(s, as.IsOnlyOne)
	if c != nil {
		c.apply(&api)
	}
	api.named = c != nil || d.precedence(s) > Unnamed
	return api
}

// Settings returns what all APIs of the provider have in common, and for each item of Credentials an API with what it sends.
func (d *Discovery) Settings() (shared API, sent []API) {
	shared = d.API.api
	shared.Spec, shared.AllowServers, shared.AllowAddresses = "", d.AllowServers, d.AllowAddresses
	for i := range d.Credentials {
		var api API
		d.Credentials[i].apply(&api)
		sent = append(sent, api)
	}
	return shared, sent
}

// WithServices returns the configuration with APIs of discovered services behind those of the file. keys has for each of
// them the key path of its provider, such as discovery[0].
func (c *Config) WithServices(apis []API, keys []string) *Config {
	with := *c
	with.APIs = slices.Concat(c.APIs[:len(c.APIs)-len(c.discovered)], apis)
	with.discovered = slices.Clone(keys)
	with.withoutServices = c.WithoutServices()
	return &with
}

// WithoutServices returns the configuration that [Config.WithServices] made this one of; c itself if it was not made so. Two
// configurations with the same one differ in nothing but the APIs of discovered services.
func (c *Config) WithoutServices() *Config { return cmp.Or(c.withoutServices, c) }

// discoveredKey returns the key path of the provider of APIs[i]; "" if the file has the API.
func (c *Config) discoveredKey(i int) string {
	if n := i - (len(c.APIs) - len(c.discovered)); n >= 0 {
		return c.discovered[n]
	}
	return ""
}

// DiscoveryKey returns the key path of a provider.
func DiscoveryKey(i int) string { return fmt.Sprintf("discovery[%d]", i) }
