package config

// HTTPDiscovery asks for services.
type HTTPDiscovery struct {
	// The URL. It may be a private address. Redirects are not followed.
	URL URL `yaml:"url" required:"true"`
	// How often it is asked.
	Refresh Duration `yaml:"refresh" default:"15s" min:"1s" max:"24h" access:"none: when the registry is asked"`
	// A bearer token, which is sent to that URL alone.
	Token Secret `yaml:"token,omitempty" absent:"no token" access:"none: secrets and keys are rotated" is:"token" sends:"url: token"`
	// A file with PEM certificates that are trusted for the URL instead of the system's.
	CAFile File `yaml:"ca_file,omitempty" absent:"the system's certificates" pem:"certificates"`
	// The proxy for the URL.
	Proxy *Proxy `yaml:"proxy,omitempty" absent:"the root's proxy" access:"none: the registry is reached over TLS"`
}

func (*HTTPDiscovery) registrations(string) registrations {
	return registrations{namespaces: []string{""}, mayOmitNamespace: true, basePathKey: "the label base_path"}
}
