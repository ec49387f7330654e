package config

// ConsulDiscovery watches the catalog of Consul. A service is served while one of its instances passes all its checks.
type ConsulDiscovery struct {
	// The URL of an agent or a server. It may be a private address. Redirects are not followed.
	Address URL `yaml:"address" default:"http://127.0.0.1:8500"`
	// An ACL token with service:read and node:read, which is sent to that URL alone.
	Token Secret `yaml:"token,omitempty" absent:"no token" access:"none: secrets and keys are rotated"`
	// The datacenter.
	Datacenter string `yaml:"datacenter,omitempty" absent:"that of the agent"`
	// The namespace (Consul Enterprise), which is the namespace of the services.
	Namespace string `yaml:"namespace,omitempty" absent:"that of the token"`
	// The admin partition (Consul Enterprise).
	Partition string `yaml:"partition,omitempty" absent:"that of the agent"`
	// Tags, all of which an instance must have.
	Tags []string `yaml:"tags,omitempty" absent:"any"`
	// Metadata by name, all of which an instance must have with that value.
	Meta map[string]string `yaml:"meta,omitempty" absent:"any"`
	// A file with PEM certificates that are trusted for the URL instead of the system's.
	CAFile File `yaml:"ca_file,omitempty" absent:"the system's certificates"`
	// How long a query waits for a change. With 100 services or more, queries for instances wait 1s.
	Wait Duration `yaml:"wait" default:"5m" min:"1s" max:"10m" access:"none: when the registry is asked"`
}
