package gateway

import (
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
)

// codeResource is the problem code of an operation that can't be the resource that the configuration makes of it.
const codeResource = "resource"

// readable is an operation as a resource. It is immutable.
type readable struct {
	uri                      config.URITemplate
	name, title, description string
	mimeType                 string          // "" if it is not known before the resource is read
	poll                     time.Duration   // poll interval for subscriptions; 0 if the resource is not polled
	lists                    map[string]bool // variables whose values are arrays
	definition, untitled     []byte          // as listed, with and without a title
}

// newReadable makes a resource of an operation. The error describes a setting that does not suit it; both results are nil if a
// rule for many operations does not apply to this one.
func newReadable(t *catalog.Tool, set *config.Resource) (*readable, error) {
	op := t.Operation
	if op.Method != http.MethodGet {
		if set.URI.IsZero() {
			return nil, nil //nolint:nilnil // a rule for many operations applies only to those that can be read
		}
		return nil, fmt.Errorf("only operations with the method GET can be read, and this one has %s", op.Method)
	}
	r := &readable{
		uri: set.URI, name: cmp.Or(set.Name, t.Name), title: cmp.Or(set.Title, t.Title), description: cmp.Or(set.Description, t.Description),
		mimeType: cmp.Or(set.MIMEType, op.Answers.MediaType()), lists: map[string]bool{}, poll: time.Duration(set.Poll),
	}
	arguments := op.Arguments()
	if r.uri.IsZero() {
		var err error
		if r.uri, err = usualURI(t, arguments); err != nil {
			return nil, err
		}
	}
	always, query := r.uri.Variables()
	for _, name := range append(slices.Clip(always), query...) {
		i := slices.IndexFunc(arguments, func(a openapi.Argument) bool { return a.Name == name })
		if i < 0 {
			var names []string
			for _, a := range arguments {
				names = append(names, a.Name)
			}
			return nil, fmt.Errorf("the URI has the variable %q, which is no argument of the operation%s", name, didYouMean(name, names))
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
func usualURI(t *catalog.Tool, arguments []openapi.Argument) (config.URITemplate, error) {
	text := "drawbridge://" + t.API + t.Operation.PathTemplate()
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

func didYouMean(name string, names []string) string {
	if near := config.Nearest(name, names); near != "" {
		return fmt.Sprintf("; did you mean %q?", near)
	}
	return ""
}

// define returns the definition of the resource for lists (2025-11-25 and 2026-07-28 server/resources, Data Types).
func (r *readable) define(titled bool) []byte {
	key := `{"uriTemplate":`
	if r.uri.Fixed() {
		key = `{"uri":`
	}
	b := jsonscan.AppendString([]byte(key), r.uri.String())
	b = jsonscan.AppendString(append(b, `,"name":`...), r.name)
	if titled {
		b = jsonscan.AppendString(append(b, `,"title":`...), r.title)
	}
	b = jsonscan.AppendString(append(b, `,"description":`...), r.description)
	if r.mimeType != "" {
		b = jsonscan.AppendString(append(b, `,"mimeType":`...), r.mimeType)
	}
	return append(b, '}')
}

// arguments returns the arguments of a call with the values in a URI. They are strings, as in every URI; the argument check
// converts those that the operation declares as numbers.
func (r *readable) arguments(values map[string]string) []byte {
	b := []byte{'{'}
	always, query := r.uri.Variables()
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

// resources are the resources of an endpoint, in document order. They are immutable.
type resources struct {
	all   []*Plan
	fixed map[string]*Plan
}

// newResources returns the resources among plans. readable names all tools that are resources, in document order.
func newResources(readable []string, plans map[string]*Plan) *resources {
	r := &resources{fixed: map[string]*Plan{}}
	for _, name := range readable {
		p := plans[name]
		if p == nil {
			continue
		}
		r.all = append(r.all, p)
		if p.resource.uri.Fixed() {
			r.fixed[p.resource.uri.String()] = p
		}
	}
	return r
}

// find returns the plan that reads a URI and the arguments of its call, or nil if no resource matches. A URI without variables
// takes precedence over templates, and an earlier template over a later one.
func (r *resources) find(uri string) (p *Plan, args []byte) {
	if p := r.fixed[uri]; p != nil {
		return p, []byte("{}")
	}
	for _, p := range r.all {
		if values, ok := p.resource.uri.Match(uri); ok {
			return p, p.resource.arguments(values)
		}
	}
	return nil, nil
}

// named returns the plan whose resource or template has exactly that URI, or nil if there is none.
func (r *resources) named(uri string) *Plan {
	if i := slices.IndexFunc(r.all, func(p *Plan) bool { return p.resource.uri.String() == uri }); i >= 0 {
		return r.all[i]
	}
	return nil
}

// pages returns the visible resources or templates, as JSON arrays of at most size of them.
func (r *resources) pages(templates, titled bool, size int, visible func(*catalog.Tool) bool) (pages [][]byte) {
	page, n := []byte{'['}, 0
	for _, p := range r.all {
		if p.resource.uri.Fixed() == templates || !visible(p.Tool) {
			continue
		}
		if n == size {
			pages = append(pages, append(page, ']'))
			page, n = []byte{'['}, 0
		}
		if n++; n > 1 {
			page = append(page, ',')
		}
		if titled {
			page = append(page, p.resource.definition...)
		} else {
			page = append(page, p.resource.untitled...)
		}
	}
	return append(pages, append(page, ']'))
}

// makeReadable determines the plans of a new generation that are resources. If two have the same URI, the first in document
// order is used.
func (gen *generation) makeReadable(g *Gateway, d *deployment, plans map[*openapi.Operation]*Plan, settings map[*openapi.Operation]config.Settings) {
	taken := map[string]*openapi.Operation{}
	for _, s := range d.apis.Sources {
		if s.Document == nil {
			continue
		}
		for _, op := range s.Document.API.Operations {
			p, set := plans[op], settings[op].Resource
			if p == nil || !set.On() {
				continue
			}
			r, err := newReadable(p.Tool, set)
			if err == nil && r != nil && s.Document.Extensions.Settings[op].Resource == set && !strings.HasPrefix(r.uri.String(), "drawbridge://"+s.Name+"/") {
				// Otherwise a document could replace another document's resource.
				err = fmt.Errorf("a document's own URIs begin with %q: others are for rules", "drawbridge://"+s.Name+"/")
			}
			if err == nil && r != nil {
				if first := taken[r.uri.Shape()]; first != nil {
					err = fmt.Errorf("the URI is that of %s %s already", first.Method, first.Path)
				}
			}
			switch {
			case err != nil:
				gen.unusable(g, s, op, codeResource, "resource", err.Error(), func(of *config.Settings) bool { return of.Resource == set })
			case r != nil:
				taken[r.uri.Shape()] = op
				p.resource = r
				gen.readable = append(gen.readable, p.Tool.Name)
			}
		}
	}
}
