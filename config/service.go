package config

import (
	"cmp"
	"fmt"
	"reflect"
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

// apply gives an API what is sent to its service.
func (c *ServiceCredential) apply(api *API) {
	api.Credential, api.Credentials, api.SpecCredential = c.Credential, c.Credentials, c.SpecCredential
	api.PassHeaders, api.Request, api.Identity, api.ClientCertificate = c.PassHeaders, c.Request, c.Identity, c.ClientCertificate
}

// providerKind is a kind of provider, which is a key of [Discovery].
type providerKind struct {
	name  string
	given bool
	auto  bool // new services are served by default: who registers them may also write the configuration
}

// kinds returns all kinds of provider.
func (d *Discovery) kinds() []providerKind {
	return []providerKind{
		{"file", d.File != nil, true},
		{"http", d.HTTP != nil, false},
		{"consul", d.Consul != nil, false},
		{"kubernetes", d.Kubernetes != nil, d.Kubernetes != nil && len(d.Kubernetes.Namespaces) > 0},
		{"docker", d.Docker != nil, true},
		{"api_catalog", d.APICatalog != nil, false},
		{"dns", d.DNS != nil, false},
		{"eureka", d.Eureka != nil, false},
		{"nacos", d.Nacos != nil, false},
		{"service_center", d.ServiceCenter != nil, false},
	}
}

// SameRegistry reports whether the provider asks the same registry as another one, in the same way.
func (d *Discovery) SameRegistry(other *Discovery) bool {
	return reflect.DeepEqual(d.File, other.File) && reflect.DeepEqual(d.HTTP, other.HTTP) &&
		reflect.DeepEqual(d.Kubernetes, other.Kubernetes) && reflect.DeepEqual(d.Consul, other.Consul) && reflect.DeepEqual(d.Docker, other.Docker) &&
		reflect.DeepEqual(d.APICatalog, other.APICatalog) && reflect.DeepEqual(d.DNS, other.DNS) &&
		reflect.DeepEqual(d.Eureka, other.Eureka) && reflect.DeepEqual(d.ServiceCenter, other.ServiceCenter) &&
		reflect.DeepEqual(d.Nacos, other.Nacos)
}

// Kind returns the key of the provider, such as file.
func (d *Discovery) Kind() string {
	for _, k := range d.kinds() {
		if k.given {
			return k.name
		}
	}
	return ""
}

// Holds reports whether a service that is new to the gateway awaits an operator.
func (d *Discovery) Holds() bool {
	if d.Approve != "" {
		return d.Approve == ApproveHold
	}
	return !slices.ContainsFunc(d.kinds(), func(k providerKind) bool { return k.given && k.auto })
}

// BasePathKey returns where registrations of the provider name the path of the base URL, for people; "" if they can't.
func (d *Discovery) BasePathKey() string {
	switch d.Kind() {
	case "kubernetes":
		return "the annotation drawbridge/path"
	case "docker":
		return "the label drawbridge.base_path"
	case "file", "http":
		return "the label base_path"
	case "dns":
		return ""
	case "api_catalog":
		return "the path of its anchor"
	}
	return "the metadata base_path"
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
