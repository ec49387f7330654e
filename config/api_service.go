package config

// ServiceID identifies a discovered service.
type ServiceID struct {
	// Provider is the name of the discovery provider; Namespace and Name are those of the service at the registry.
	Provider, Namespace, Name string
}

// IsDiscovered reports whether the API is that of a service that a provider of [Config.Discovery] found. Its hosts are not
// named by the configuration.
func (a *API) IsDiscovered() bool { return a.service != ServiceID{} }

// Service returns the service that the API was made of; zero if the configuration has it.
func (a *API) Service() ServiceID { return a.service }

// Claimed returns the name that api_name of the provider gives the API of a discovered service, even if another one has it; "" if the
// configuration has the API.
func (a *API) Claimed() string { return a.claimed }

// TakesSecrets reports whether rules may send secrets and claims of callers to the API: if the configuration has it or, of a discovered
// service, names it together with its namespace. The name of the API alone is chosen by the registration.
func (a *API) TakesSecrets() bool { return !a.IsDiscovered() || a.named }

// ServicePath describes how the path of the base URL is found if the registration of a discovered service doesn't name it.
type ServicePath struct {
	// Unnamed is true if the registration names no path; else the base URL has it.
	Unnamed bool
	// Context is the path at which the registration shows that the service is, such as that of a status page; "" if it shows none.
	Context string
	// Key is where registrations of its provider name the path, such as the metadata base_path; "" if they can't.
	Key string
}

// ServicePath returns how the path of the base URL is found; it is zero if the base URL has it.
func (a *API) ServicePath() ServicePath { return a.path }

// SetServicePath sets how the path of the base URL of a discovered service is found.
func (a *API) SetServicePath(p ServicePath) { a.path = p }
