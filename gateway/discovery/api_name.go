package discovery

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"

	"drawbridge/config"
)

// maxAPIName is the maximum length of the name of an API.
const maxAPIName = 40

// apiName returns the name that api_name gives a service's API. It depends on the registration alone, never on other services or on the
// order in which they are found.
func apiName(d *config.Discovery, s *config.Service) string {
	return nameFrom(d.APIName, d, s)
}

// nameFrom returns a name of a service's API from a template.
func nameFrom(template string, d *config.Discovery, s *config.Service) string {
	name := fill(template, d, s)
	clean := cleanName(name)
	if len(clean) <= maxAPIName {
		return clean
	}
	digest := sha256.Sum256([]byte(name))
	return clean[:maxAPIName-9] + "-" + hex.EncodeToString(digest[:4])
}

// fill replaces the placeholders of a template.
func fill(template string, d *config.Discovery, s *config.Service) string {
	return strings.NewReplacer("{provider}", d.Name, "{namespace}", s.Namespace, "{name}", cmp.Or(s.Alias, s.Name)).Replace(template)
}

// qualifiedName returns the name of an API whose name by api_name another service claims, too.
func qualifiedName(d *config.Discovery, s *config.Service) string {
	return nameFrom(qualified(s), d, s)
}

// qualified is the template of names with the namespace, if the service has one.
func qualified(s *config.Service) string {
	if s.Namespace == "" {
		return "{provider}-{name}"
	}
	return "{provider}-{namespace}-{name}"
}

// uniqueName returns the name of an API whose other names are all claimed by other services: none can be registered so that it has this
// one, because the digest is that of the service.
func uniqueName(d *config.Discovery, s *config.Service) string {
	const digits = 16
	digest := sha256.Sum256(fmt.Appendf(nil, "%q", []string{d.Name, s.Namespace, s.Name}))
	clean := cleanName(fill(qualified(s), d, s))
	return clean[:min(len(clean), maxAPIName-digits-1)] + "-" + hex.EncodeToString(digest[:digits/2])
}

// cleanName replaces the characters that names of APIs can't have.
func cleanName(name string) string {
	return strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '_' || r == '-' {
			return r
		}
		return '-'
	}, name)
}
