package discovery

import (
	"fmt"
	"time"

	"drawbridge/config"
)

// Snapshot is what the providers found, at one moment. It is immutable.
type Snapshot struct {
	// APIs are the settings of the APIs of services that are served, by their names in order.
	APIs []config.API
	// Keys has for each of APIs the key path of its provider, such as discovery[0].
	Keys []string
	// Services are all services that a provider accepts, in the order of their API names.
	Services []ServiceStatus
	// Providers are the states of the providers, in the order of the configuration.
	Providers []ProviderStatus
}

// ServiceStatus is the status of a service.
type ServiceStatus struct {
	// Provider is the name of the provider.
	Provider string `json:"provider"`
	// Namespace and Name are those at the registry.
	Namespace string `json:"namespace,omitempty"`
	Name      string `json:"name"`
	// API is the name of the service's API.
	API string `json:"api"`
	// State is what became of the service.
	State State `json:"state"`
	// Reason is the reason why a service is not served, or "".
	Reason string `json:"reason,omitempty"`
	// Next is what serves the service: a request to the admin listener, such as POST /apis/NAME/accept, or words; "" if the
	// gateway does it by itself, or only the registration can.
	Next string `json:"next,omitempty"`
	// Warnings tell what the service does without, such as a credential or its name, because the configuration does not name it with its
	// namespace, and the line that names it.
	Warnings []string `json:"warnings,omitempty"`
	// Document is where the OpenAPI document was found, and By how; "" if it was not.
	Document string `json:"document,omitempty"`
	By       string `json:"found_by,omitempty"`
	// Instances are the addresses that calls go to; none if the registration is refused.
	Instances []string `json:"instances,omitempty"`
	// Versions are the documents that the instances have, the one in use first, while they have different ones.
	Versions []DocumentVersion `json:"versions,omitempty"`
}

// DocumentVersion is a document that some instances of a service have.
type DocumentVersion struct {
	// Version is info.version of the document.
	Version string `json:"version"`
	// Instances is how many instances have the document.
	Instances int `json:"instances"`
	// InUse is true if the tools are those of the document.
	InUse bool `json:"in_use"`
}

// String describes the document on one line.
func (v DocumentVersion) String() string {
	instances := "instances"
	if v.Instances == 1 {
		instances = "instance"
	}
	text := fmt.Sprintf("version %q at %d %s", v.Version, v.Instances, instances)
	if v.InUse {
		text += ", in use"
	}
	return text
}

// IsServed reports whether the service is an API.
func (s *ServiceStatus) IsServed() bool { return s.State == Served || s.State == Lost }

// State is what became of a service.
type State string

// The values of [State].
const (
	Served    State = "served"    // it is an API
	Searching State = "searching" // its document is looked for
	Missing   State = "missing"   // no document was found
	Held      State = "held"      // it awaits an operator
	Refused   State = "refused"   // its registration can't be used
	Lost      State = "lost"      // the registry no longer has it, and it is served on: too many vanished at once
)

// ProviderStatus is the state of a provider.
type ProviderStatus struct {
	// Name is the provider's name.
	Name string `json:"name"`
	// Kind is the key of the provider in the configuration, such as file.
	Kind string `json:"kind"`
	// Services is the number of services at the registry that the provider accepts.
	Services int `json:"services"`
	// Updated is when the registry last answered; zero if it never did.
	Updated time.Time `json:"updated_at,omitzero"`
	// Error is the error of the last attempt, or "".
	Error string `json:"error,omitempty"`
	// Lost is the number of services that vanished at once, so that they are served until an operator accepts the loss.
	Lost int `json:"lost,omitempty"`
	// Unmatched are the keys of the provider's selectors that match none of the services that the registry has, such as
	// credentials[0].match; none if it has no services.
	Unmatched []string `json:"unmatched,omitempty"`
}

// States returns the values of [State].
func States() []State { return []State{Served, Searching, Missing, Held, Refused, Lost} }
