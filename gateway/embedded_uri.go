package gateway

import (
	"bytes"
	"net/url"
	"strconv"
	"strings"

	"drawbridge/openapi/answer"
	"drawbridge/openapi/jsonscan"
)

// maxLocation is the most bytes of a path that a service gives as the place of an answer.
const maxLocation = 1 << 10

// embeddedURI names a part that is an embedded resource: by the place that the service says, by the URI under which it can be read, or
// else by the tool and the name of its file. n is the number of the part among several, 0 if it is alone.
func (c *call) embeddedURI(p answer.Part, n int) string {
	if uri := c.located(p.Location); uri != "" {
		return uri
	}
	if r := c.plan.resource; r != nil && c.plan.elicitation == nil { // what the user has said is not for the model to read
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

// located makes a URI of the place that a service says: of the API and the path below its base, as usual resources have
// theirs, since the addresses of services stay here (E9). "" if nothing is left of it.
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
		return "" // it holds the credential
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

// uriOf returns the URI under which an answer to a call with these arguments can be read; false if it has none.
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
		case jsonscan.Null: // as one that is not given
		}
		return "", false
	})
}
