package config

// APICatalogDiscovery reads an API catalog (RFC 9727): a link set in JSON (RFC 9264) that names APIs, and their documents by
// service-desc.
type APICatalogDiscovery struct {
	// The URL of the catalog, or of a host, whose catalog is at /.well-known/api-catalog. It may be a private address. Redirects
	// are not followed.
	URL URL `yaml:"url" required:"true"`
	// How often it is asked.
	Refresh Duration `yaml:"refresh" default:"1m" min:"1s" max:"24h" access:"none: when the registry is asked"`
	// A file with PEM certificates that are trusted for the URL instead of the system's.
	CAFile File `yaml:"ca_file,omitempty" absent:"the system's certificates" pem:"certificates"`
}

func (*APICatalogDiscovery) registrations(string) registrations {
	return registrations{basePathKey: "the path of its anchor"}
}
