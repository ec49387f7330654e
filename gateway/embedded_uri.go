package gateway

import (
	"bytes"
	"net/url"
	"strconv"
	"strings"

	"drawbridge/openapi/answer"
	"drawbridge/openapi/jsonscan"
)

// maxLocation is the maximum length in bytes of the path in the Location that a service gives for an answer.
const maxLocation = 1 << 10

// embeddedURI returns the URI of a part that is an embedded resource: the location that the service gives, the URI
// under which the resource can be read, or else one of the tool and the file name. n is the number of the part among
// several, or 0 if it is the only one.
func (c *call) embeddedURI(p answer.Part, n int) string {
	if uri := c.located(p.Location); uri != "" {
		return uri
	}
	if r := c.plan.resource; r != nil && c.plan.elicitation == nil { // input of the user is not for the model to read
		if uri, ok := r.uriOf(c.args); ok {
			if n > 0 {
				uri += "#" + strconv.Itoa(n)
			}
			return uri
		}
	}
	uri := "drawbridge://" + c.plan.Tool.API + "/" + url.PathEscape(c.plan.Tool.Name)
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
func (c *call) located(location string) string {
	if location == "" {
		return ""
	}
	u, err := url.Parse(location)
	if err != nil || u.Opaque != "" {
		return ""
	}
	if c.target != nil {
		u = c.target.ResolveReference(u)
	}
	if c.redactor().Text(u.Path) != u.Path {
		return "" // the path contains the credential
	}
	path := u.EscapedPath()
	if base := c.plan.base; base != nil {
		if below, ok := strings.CutPrefix(path, strings.TrimSuffix(base.EscapedPath(), "/")); ok && strings.HasPrefix(below, "/") {
			path = below
		}
	}
	if path == "" || path == "/" || len(path) > maxLocation || c.redactor().Text(path) != path {
		return ""
	}
	return "drawbridge://" + c.plan.Tool.API + path
}

// uriOf returns the URI under which the answer to a call with these arguments can be read. ok is false if there is
// none.
func (r *readable) uriOf(args []byte) (uri string, ok bool) {
	return r.uri.Expand(func(name string) (string, bool) {
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
