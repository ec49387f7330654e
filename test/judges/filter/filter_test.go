package filter

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math/big"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/getkin/kin-openapi/openapi3filter"
	"github.com/getkin/kin-openapi/routers"
)

// impossible is a value that no parameter has.
const impossible = "\x00 no parameter has this value \x00"

// load reads a document for openapi3filter. Every schema of a parameter gets a list of values that nothing is in:
// openapi3filter keeps what it decodes to itself, but names it when it refuses it.
func load(text []byte) (*openapi3.T, error) {
	doc, err := openapi3.NewLoader().LoadFromData(text)
	if err != nil {
		return nil, err
	}
	doc.OpenAPI = "3.0.3" // of 3.1 it checks values by another library, which does not name them
	for _, item := range doc.Paths.Map() {
		for _, p := range item.Get.Parameters {
			if p.Value.Schema != nil {
				p.Value.Schema.Value.Enum = []any{impossible}
			}
			for _, media := range p.Value.Content {
				media.Schema.Value.Enum = []any{impossible}
			}
		}
	}
	return doc, nil
}

// decodeByFilter lets openapi3filter decode one parameter of a request.
func decodeByFilter(doc *openapi3.T, path string, p *param, r *http.Request, variables map[string]string) (value any, found bool, err error) {
	item := doc.Paths.Value(path)
	if item == nil {
		return nil, false, fmt.Errorf("openapi3filter has no path %q", path)
	}
	declared := item.Get.Parameters.GetByInAndName(p.in, p.name)
	if declared == nil {
		return nil, false, fmt.Errorf("openapi3filter has no parameter %q", p.name)
	}
	input := &openapi3filter.RequestValidationInput{
		Request: r, PathParams: variables,
		Route: &routers.Route{Spec: doc, Path: path, PathItem: item, Method: http.MethodGet, Operation: item.Get},
	}
	err = openapi3filter.ValidateParameter(context.Background(), input, declared)
	var refused *openapi3.SchemaError
	switch {
	case err == nil, errors.Is(err, openapi3filter.ErrInvalidRequired):
		return nil, false, nil
	case errors.As(err, &refused) && refused.SchemaField == "enum":
		return refused.Value, true, nil
	}
	return nil, false, err
}

// route finds the operation of a path and the raw texts of its variables.
func route(all []operation, escaped string) (found *operation, variables map[string]string, err error) {
	segments := strings.Split(escaped, "/")
	for i := range all {
		got, ok := all[i].match(segments)
		if !ok {
			continue
		}
		if found != nil {
			return nil, nil, fmt.Errorf("%q is the path of %q and of %q", escaped, found.path, all[i].path)
		}
		found, variables = &all[i], got
	}
	if found == nil {
		return nil, nil, fmt.Errorf("%q is no path of the document", escaped)
	}
	return found, variables, nil
}

func (o *operation) match(segments []string) (map[string]string, bool) {
	template := strings.Split(o.path, "/")
	if len(template) != len(segments) {
		return nil, false
	}
	variables := map[string]string{}
	for i, t := range template {
		start := strings.Index(t, "{")
		if start < 0 {
			if t != segments[i] {
				return nil, false
			}
			continue
		}
		value, ok := strings.CutPrefix(segments[i], t[:start])
		if !ok || value == "" {
			return nil, false
		}
		variables[t[start+1:len(t)-1]] = value
	}
	return variables, true
}

// decoded are variables as openapi3filter's routers hand them over.
func decoded(variables map[string]string) map[string]string {
	out := map[string]string{}
	for name, raw := range variables {
		if text, err := url.PathUnescape(raw); err == nil {
			out[name] = text
		}
	}
	return out
}

// normal brings what our decoder finds into a form in which equal values are equal: numbers become fractions.
func normal(v any) any {
	switch v := v.(type) {
	case map[string]any:
		out := map[string]any{}
		for name, member := range v {
			out[name] = normal(member)
		}
		return out
	case []any:
		out := make([]any, len(v))
		for i, item := range v {
			out[i] = normal(item)
		}
		return out
	case json.Number:
		r, ok := new(big.Rat).SetString(v.String())
		if !ok {
			return "no number: " + v.String()
		}
		return r
	}
	return v
}

// same compares a value with what openapi3filter made of it: int32 and int64 for integers in styles, float64 for every
// other number.
func same(want, got any) bool {
	switch want := want.(type) {
	case map[string]any:
		got, ok := got.(map[string]any)
		return ok && maps.EqualFunc(want, got, same)
	case []any:
		got, ok := got.([]any)
		return ok && slices.EqualFunc(want, got, same)
	case json.Number:
		switch got := got.(type) {
		case float64:
			f, err := want.Float64()
			return err == nil && f == got
		case int64, int32:
			return fmt.Sprint(got) == want.String()
		}
		return false
	}
	return want == got
}

// defined is what of a value goes over the wire: members and elements without a value are left out.
func defined(v any, deep bool) any {
	object, ok := v.(map[string]any)
	if !ok || !deep {
		return v
	}
	out := map[string]any{}
	for name, member := range object {
		if member = defined(member, deep); !undefined(member) {
			out[name] = member
		}
	}
	return out
}
