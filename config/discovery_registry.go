package config

import "reflect"

// Registry is the kind of a provider, with its settings: a registry of services, or a list that stands for one. The pointers to structs
// among the fields of [Discovery] that implement it are the kinds that there are; a provider has one of them.
type Registry interface {
	// registrations returns the properties of the registrations of a service with a name.
	registrations(service string) registrations
}

// registrations are the properties of registrations that follow from the settings of their registry.
type registrations struct {
	// namespaces are those that services with the name can have: "" is that of services without one. It is empty if each registration
	// chooses its own.
	namespaces []string
	// mayOmitNamespace reports whether a registration decides itself if it has a namespace.
	mayOmitNamespace bool
	// basePathKey is where a registration names the path of the base URL, for people; "" if it can't.
	basePathKey string
	// isTrusted reports whether those who register services may also write the configuration, so that new services are served by default.
	isTrusted bool
}

// metadataBasePath is where registrations with metadata name the path of the base URL.
const metadataBasePath = "the metadata base_path"

// registryKey is a key of [Discovery] for a kind of registry.
type registryKey struct {
	name     string
	registry Registry // nil if the provider is of another kind
}

// registries returns the keys of all kinds of registry, in the order of the fields.
func (d *Discovery) registries() (all []registryKey) {
	v := reflect.ValueOf(d).Elem()
	for _, f := range fieldsOf(v.Type()) {
		r, ok := v.Field(f.index).Interface().(Registry)
		if !ok {
			continue
		}
		if v.Field(f.index).IsNil() {
			r = nil
		}
		all = append(all, registryKey{f.name, r})
	}
	return all
}

// given returns the kind of registry that the provider has; the zero value if it has none.
func (d *Discovery) given() registryKey {
	for _, k := range d.registries() {
		if k.registry != nil {
			return k
		}
	}
	return registryKey{}
}

// Kind returns the key of the provider's registry, such as file.
func (d *Discovery) Kind() string { return d.given().name }

// Registry returns the settings of the provider's registry, such as a [*FileDiscovery]; nil if it has none.
func (d *Discovery) Registry() Registry { return d.given().registry }

// SameRegistry reports whether the provider asks the same registry as another one, in the same way.
func (d *Discovery) SameRegistry(other *Discovery) bool {
	return reflect.DeepEqual(d.registries(), other.registries())
}

// Holds reports whether a service that is new to the gateway awaits an operator.
func (d *Discovery) Holds() bool {
	if d.Approve != "" {
		return d.Approve == ApproveHold
	}
	return !d.registrations("").isTrusted
}

// BasePathKey returns where registrations of the provider name the path of the base URL, for people; "" if they can't.
func (d *Discovery) BasePathKey() string { return d.registrations("").basePathKey }

// registrations returns the properties of the registrations of a service. A provider without a registry has services without namespace.
func (d *Discovery) registrations(service string) registrations {
	if r := d.Registry(); r != nil {
		return r.registrations(service)
	}
	return registrations{namespaces: []string{""}}
}
