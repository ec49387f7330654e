package config

import (
	"errors"
	"strings"
)

// EurekaDiscovery asks a Eureka server for its applications. An instance is called while its status is UP.
type EurekaDiscovery struct {
	// The URL that clients of Eureka have as serviceUrl, such as http://eureka.internal:8761/eureka. It may be a private address.
	// Redirects are not followed.
	URL URL `yaml:"url" required:"true"`
	// How often it is asked.
	Refresh Duration `yaml:"refresh" default:"15s" min:"1s" max:"1h" access:"none: when the registry is asked"`
	// The user for HTTP basic authentication.
	Username string `yaml:"username,omitempty" absent:"none" access:"none: how the gateway authenticates to the registry" is:"text" pair:"password"`
	// The password of that user, which is sent to that URL alone.
	Password Secret `yaml:"password,omitempty" absent:"required with username" access:"none: secrets and keys are rotated" is:"text" sends:"url: password"`
	// A file with PEM certificates that are trusted for the URL instead of the system's.
	CAFile File `yaml:"ca_file,omitempty" absent:"the system's certificates" pem:"certificates"`
}

func (e *EurekaDiscovery) validate(c cursor) {
	if strings.Contains(e.Username, ":") {
		c.check("username", errors.New("can't hold a colon"))
	}
}

func (*EurekaDiscovery) registrations(string) registrations {
	return registrations{namespaces: []string{""}, basePathKey: metadataBasePath}
}
