package render

import (
	"bytes"
	"net/url"
	"strconv"
	"strings"

	"drawbridge/config"
	"drawbridge/openapi/answer"
	"drawbridge/openapi/jsonscan"
)

// maxLocation is the maximum length in bytes of the path in the Location that a service gives for an answer.
const maxLocation = 1 << 10

// embeddedURI returns the URI of a part that is an embedded resource: the location that the service gives, the URI
// under which the resource can be read, or else one of the tool and the file name. n is the number of the part among
// several, or 0 if it is the only one.
func (r *Renderer) embeddedURI(p answer.Part, n int) string {
	if uri := r.located(p.Location); uri != "" {
		return uri
	}
	if r.URI != nil {
		if uri, ok := ExpandURI(r.URI, r.Arguments); ok {
			if n > 0 {
				uri += "#" + strconv.Itoa(n)
			}
			return uri
		}
	}
	uri := "drawbridge://" + r.API + "/" + url.PathEscape(r.Tool)
	if n > 0 {
		uri += "/" + strconv.Itoa(n)
	}
	if p.File != "" {
		uri += "/" + url.PathEscape(p.File)
	}
	return uri
}

// located converts a location of the service to a URI of the API and the path below its base URL, as the resources of
// the API have, since addresses of services are not disclosed (E9). It returns "" if nothing of the location remains.
func (r *Renderer) located(location string) string {
	if location == "" {
		return ""
	}
	u, err := url.Parse(location)
	if err != nil || u.Opaque != "" {
		return ""
	}
	if r.Target != nil {
		u = r.Target.ResolveReference(u)
	}
	if r.Redactor.Text(u.Path) != u.Path {
		return "" // the path contains the credential
	}
	path := u.EscapedPath()
	if base := r.Base; base != nil {
		if below, ok := strings.CutPrefix(path, strings.TrimSuffix(base.EscapedPath(), "/")); ok && strings.HasPrefix(below, "/") {
			path = below
		}
	}
	if path == "" || path == "/" || len(path) > maxLocation || r.Redactor.Text(path) != path {
		return ""
	}
	return "drawbridge://" + r.API + path
}

// ExpandURI returns the URI under which the response to a call with these arguments can be read as a resource. ok is
// false if an argument is missing.
func ExpandURI(template *config.URITemplate, args []byte) (uri string, ok bool) {
	return template.Expand(func(name string) (string, bool) {
		value := jsonscan.Lookup(args, name)
		switch jsonscan.KindOf(value) {
		case jsonscan.String:
			return string(jsonscan.Unquote(value)), true
		case jsonscan.Array:
			var items [][]byte
			for item := range jsonscan.Elements(value) {
				if jsonscan.KindOf(item) == jsonscan.String {
					item = jsonscan.Unquote(item)
				}
				items = append(items, item)
			}
			return string(bytes.Join(items, []byte(","))), true
		case jsonscan.Number, jsonscan.Bool, jsonscan.Object:
			return string(value), true
		case jsonscan.Null: // equivalent to an absent argument
		}
		return "", false
	})
}
