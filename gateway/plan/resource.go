package plan

import (
	"bytes"
	"cmp"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"drawbridge/config"
	"drawbridge/gateway/catalog"
	"drawbridge/openapi"
	"drawbridge/openapi/jsonscan"
	"drawbridge/openapi/text"
)

// Resource is an operation as a resource. It is immutable.
type Resource struct {
	// URI is its URI, or the template of its URIs.
	URI                      config.URITemplate
	name, title, description string
	// MIMEType is "" if it is not known before the resource is read.
	MIMEType string
	// Poll is the poll interval for subscriptions; 0 if the resource is not polled.
	Poll                 time.Duration
	lists                map[string]bool // variables whose values are arrays
	definition, untitled []byte          // as listed, with and without a title
}

// newResource makes a resource of a tool whose callers give the arguments of op. The error describes a setting that does not suit it; both results are nil if a
// rule for many operations does not apply to this one.
func newResource(t *catalog.Tool, op *openapi.Operation, set *config.Resource) (*Resource, error) {
	if op.Method != http.MethodGet {
		if set.URI.IsZero() {
			return nil, nil //nolint:nilnil // a rule for many operations applies only to those that can be read
		}
		return nil, fmt.Errorf("only operations with the method GET can be read, and this one has %s", op.Method)
	}
	r := &Resource{
		URI: set.URI, name: cmp.Or(set.Name, t.Name), title: cmp.Or(set.Title, t.Title), description: cmp.Or(set.Description, t.Description),
		MIMEType: cmp.Or(set.MIMEType, op.Answers.MediaType()), lists: map[string]bool{}, Poll: time.Duration(set.Poll),
	}
	arguments := op.Arguments()
	if r.URI.IsZero() {
		var err error
		if r.URI, err = usualURI(t.API, op, arguments); err != nil {
			return nil, err
		}
	}
	always, query := r.URI.Variables()
	for _, name := range append(slices.Clip(always), query...) {
		i := slices.IndexFunc(arguments, func(a openapi.Argument) bool { return a.Name == name })
		if i < 0 {
			var names []string
			for _, a := range arguments {
				names = append(names, a.Name)
			}
			return nil, fmt.Errorf("the URI has the variable %q, which is no argument of the operation%s", name, text.DidYouMean(text.Nearest(name, names)))
		}
		if arguments[i].List {
			r.lists[name] = true
		}
	}
	for _, a := range arguments {
		if a.Required && !slices.Contains(always, a.Name) && !slices.Contains(query, a.Name) {
			return nil, fmt.Errorf("the argument %q is required (%s), and no variable of the URI stands for it", a.Name, a.In)
		}
	}
	r.definition, r.untitled = r.define(true), r.define(false)
	return r, nil
}

// usualURI returns the URI of an operation for which the configuration has none.
func usualURI(api string, op *openapi.Operation, arguments []openapi.Argument) (config.URITemplate, error) {
	text := "drawbridge://" + api + op.PathTemplate()
	var query []string
	for _, a := range arguments {
		if a.In == "query" {
			query = append(query, a.Name)
		}
	}
	if len(query) > 0 && !strings.Contains(text, "?") {
		text += "{?" + strings.Join(query, ",") + "}"
	}
	uri, err := config.ParseURITemplate(text)
	if err != nil {
		return uri, fmt.Errorf("no URI can be made of the path, %q: it %w; give it one with uri", text, err)
	}
	return uri, nil
}

// define returns the definition of the resource for lists (2025-11-25 and 2026-07-28 server/resources, Data Types).
func (r *Resource) define(titled bool) []byte {
	key := `{"uriTemplate":`
	if r.URI.Fixed() {
		key = `{"uri":`
	}
	b := jsonscan.AppendString([]byte(key), r.URI.String())
	b = jsonscan.AppendString(append(b, `,"name":`...), r.name)
	if titled {
		b = jsonscan.AppendString(append(b, `,"title":`...), r.title)
	}
	b = jsonscan.AppendString(append(b, `,"description":`...), r.description)
	if r.MIMEType != "" {
		b = jsonscan.AppendString(append(b, `,"mimeType":`...), r.MIMEType)
	}
	return append(b, '}')
}

// Arguments returns the arguments of a call with the values in a URI. They are strings, as in every URI; the argument check
// converts those that the operation declares as numbers.
func (r *Resource) Arguments(values map[string]string) []byte {
	b := []byte{'{'}
	always, query := r.URI.Variables()
	for _, name := range append(slices.Clip(always), query...) {
		value, given := values[name]
		if !given {
			continue
		}
		if len(b) > 1 {
			b = append(b, ',')
		}
		b = append(jsonscan.AppendString(b, name), ':')
		if !r.lists[name] {
			b = jsonscan.AppendString(b, value)
			continue
		}
		b = append(b, '[')
		for i, item := range strings.Split(value, ",") {
			if i > 0 {
				b = append(b, ',')
			}
			b = jsonscan.AppendString(b, item)
		}
		b = append(b, ']')
	}
	return append(b, '}')
}

// ExpressesAll reports whether the resource's URI contains all arguments of a call.
func (r *Resource) ExpressesAll(args []byte) bool {
	if len(bytes.TrimSpace(args)) == 0 {
		return true
	}
	if jsonscan.KindOf(args) != jsonscan.Object {
		return false
	}
	always, query := r.URI.Variables()
	for name := range jsonscan.Members(args) {
		if !slices.Contains(always, string(name)) && !slices.Contains(query, string(name)) {
			return false
		}
	}
	return true
}
