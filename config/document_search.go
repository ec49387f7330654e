package config

import (
	"fmt"
	"net/url"
	"reflect"
	"regexp"
	"strings"
)

// DocumentSearch finds the OpenAPI document of a service if its registration doesn't name one: by
// /.well-known/api-catalog (RFC 9727), by the Link header of the base URL with rel="service-desc" (RFC 8631), then at paths.
type DocumentSearch struct {
	// Paths at which a document is looked for, in this order: below the base URL or the context path that the registration shows,
	// then at the root; [] for none. {name} is the service's name at its registry as one segment, percent-encoded; such a path is left
	// out for a name with a dot, slash, backslash, semicolon, %, ? or #.
	Paths []string `yaml:"paths" default:"[/v3/api-docs, /openapi.json, /v2/api-docs, /swagger.json, /q/openapi, /openapi, /openapi/v1.json, /swagger/v1/swagger.json]"`
	// The most requests for one service. After a search without result the next one comes after an hour, when the registration or an
	// instance changes, or with a reload.
	Requests int `yaml:"requests" default:"24" min:"1" max:"50"`
}

// UsualDocumentPaths returns the paths at which services commonly have their OpenAPI document: the default of discovery[].documents.paths.
func UsualDocumentPaths() []string {
	var d DocumentSearch
	(&loader{}).defaults(reflect.ValueOf(&d).Elem())
	return d.Paths
}

func (d *DocumentSearch) validate(c cursor) {
	for i, path := range d.Paths {
		c.check(c.item("paths", i), checkDocumentPath(path))
	}
}

// checkDocumentPath refuses what is no path at which documents are looked for.
func checkDocumentPath(path string) error {
	if !strings.HasPrefix(path, "/") || strings.ContainsAny(path, "?#") {
		return fmt.Errorf("must be a path that begins with /, without query and fragment, got %s", quote(path))
	}
	for _, found := range placeholders.FindAllString(path, -1) {
		if found != "{name}" {
			return fmt.Errorf("%s is not {name}, the only variable of a path", quote(found))
		}
	}
	for segment := range strings.SplitSeq(path, "/") {
		switch text, err := url.PathUnescape(segment); {
		case err != nil:
			return fmt.Errorf("must be percent-encoded, got %s", quote(path))
		case text == "." || text == ".." || strings.ContainsAny(text, `/\`):
			return fmt.Errorf("must have no dot segments and no encoded slashes, got %s", quote(path))
		}
	}
	return nil
}

// placeholders finds what looks like a variable in a path or a name.
var placeholders = regexp.MustCompile(`\{[^{}]*\}?|\}`)
