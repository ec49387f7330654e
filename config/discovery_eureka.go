package config

import "strings"

// EurekaDiscovery asks a Eureka server for its applications. An instance is called while its status is UP.
type EurekaDiscovery struct {
	// The URL that clients of Eureka have as serviceUrl, such as http://eureka.internal:8761/eureka. It may be a private address.
	// Redirects are not followed.
	URL URL `yaml:"url" need:"true"`
	// How often it is asked.
	Refresh Duration `yaml:"refresh" default:"15s" min:"1s" max:"1h" access:"none: when the registry is asked"`
	// The user for HTTP basic authentication.
	Username string `yaml:"username,omitempty" absent:"none" access:"none: how the gateway authenticates to the registry"`
	// The password of that user, which is sent to that URL alone.
	Password Secret `yaml:"password,omitempty" absent:"required with username" access:"none: secrets and keys are rotated"`
	// A file with PEM certificates that are trusted for the URL instead of the system's.
	CAFile File `yaml:"ca_file,omitempty" absent:"the system's certificates"`
}

func (e *EurekaDiscovery) validate(l *loader, key string) {
	l.authority(key+".ca_file", e.CAFile)
	if !l.completeAccount(key, "url", e.Username, e.Password) {
		return
	}
	switch {
	case strings.Contains(e.Username, ":"):
		l.errorf(key+".username", "can't hold a colon")
	case checkText(e.Username) != nil:
		l.errorf(key+".username", "%s", checkText(e.Username))
	case checkText(e.Password.Reveal()) != nil:
		l.errorf(key+".password", "%s", checkText(e.Password.Reveal()))
	default:
		l.clearPassword(key+".url", e.URL, e.Username)
	}
}

func (*EurekaDiscovery) namespaces(string) []string { return []string{""} }

func (*EurekaDiscovery) mayOmitNamespace() bool { return false }

func (*EurekaDiscovery) basePathKey() string { return metadataBasePath }

func (*EurekaDiscovery) isTrusted() bool { return false }
