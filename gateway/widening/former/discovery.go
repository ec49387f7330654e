package former

import (
	"maps"
	"slices"

	"drawbridge/config"
)

// Provider is a provider of services. The settings of its APIs are compared as those of an API.
type Provider struct {
	Registry string `json:"registry"`           // digest of where it is, and how it is trusted
	Services string `json:"services,omitempty"` // which services become APIs
	Names    string `json:"names"`              // of their APIs
	Holds    bool   `json:"holds,omitempty"`    // new services await an operator
}

func providersOf(c *config.Config) map[string]Provider {
	all := map[string]Provider{}
	for i := range c.Discovery {
		d := &c.Discovery[i]
		var registry []string
		if f := d.File; f != nil {
			for _, path := range f.Paths {
				registry = append(registry, path.String())
			}
		}
		if h := d.HTTP; h != nil {
			registry = append(registry, h.URL.String(), h.CAFile.String())
		}
		if k := d.Kubernetes; k != nil {
			registry = append(registry, k.Kubeconfig.String(), k.Context, k.Selector, "in", encode(k.Namespaces))
		}
		if k := d.Consul; k != nil {
			registry = append(registry, k.Address.String(), k.CAFile.String(), k.Datacenter, k.Namespace, k.Partition, encode(k.Tags), encode(k.Meta))
		}
		if k := d.Docker; k != nil {
			registry = append(registry, k.Host.String(), k.CAFile.String(), k.Network)
		}
		if k := d.APICatalog; k != nil {
			registry = append(registry, k.URL.String(), k.CAFile.String())
		}
		if k := d.DNS; k != nil {
			registry = append(registry, k.Server, string(k.Scheme), "of", encode(k.Names))
		}
		if k := d.ServiceCenter; k != nil {
			registry = append(registry, k.Address.String(), k.CAFile.String(), k.Project, "of", encode(k.Application), encode(k.Environment))
		}
		if k := d.Eureka; k != nil {
			registry = append(registry, k.URL.String(), k.CAFile.String())
		}
		if k := d.Nacos; k != nil {
			registry = append(registry, k.Address.String(), k.CAFile.String(), k.Namespace, "of", encode(k.Groups))
		}
		all[d.Name] = Provider{Registry: digest(encode(registry)), Services: encode(d.Services), Names: d.APIName, Holds: d.Holds()}
	}
	return all
}

// serviceAPIOf summarizes what the APIs of a provider have in common, under a location that no API has.
func serviceAPIOf(c *config.Config, d *config.Discovery) API {
	defaults, sent := d.Settings()
	defaults.Spec = config.Location("discovery:" + d.Name)
	a := apiOf(c, &defaults)
	for i := range sent {
		match := " to " + encode(d.Credentials[i].Match)
		for key, identity := range identitiesOf(&sent[i]) {
			a.Identities[key+match] = identity
		}
		for _, header := range passedHeaders(sent[i].PassHeaders) {
			a.PassHeaders = append(a.PassHeaders, header+match)
		}
	}
	return a
}

// providers compares the providers that both configurations have.
func (w *comparison) providers(old, new *Summary) {
	for _, name := range slices.Sorted(maps.Keys(new.Providers)) {
		was, ok := old.Providers[name]
		if !ok {
			continue
		}
		is, key := new.Providers[name], "discovery."+name
		w.when(was.Registry != is.Registry, key, "services are taken from another registry")
		w.when(was.Services != is.Services, key, "other services become APIs")
		w.when(was.Names != is.Names, key, "APIs of services have other names, which rules match")
		w.when(was.Holds && !is.Holds, key, "new services are served without being accepted")
	}
}
