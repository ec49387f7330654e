package gateway

import (
	"fmt"
	"maps"
	"net/http"
	"reflect"
	"slices"

	"drawbridge/config"
	"drawbridge/gateway/catalog"
	"drawbridge/gateway/mcp"
	"drawbridge/openapi/jsonscan"
)

// repeated is an argument that modern clients repeat in a header.
type repeated struct{ argument, header string }

// paramHeaders returns what a rule says of arguments that are repeated, by the names of the arguments.
func paramHeaders(headers map[string]string) (all []catalog.ParamHeader) {
	for _, argument := range slices.Sorted(maps.Keys(headers)) {
		all = append(all, catalog.ParamHeader{Argument: argument, Name: headers[argument]})
	}
	return all
}

// repeatedOf returns what calls of a tool have to repeat.
func repeatedOf(t *catalog.Tool) (all []repeated) {
	for _, h := range t.ParamHeaders {
		all = append(all, repeated{h.Argument, http.CanonicalHeaderKey(mcp.ParamHeaderPrefix + h.Name)})
	}
	return all
}

// codeParamHeaders is the code of arguments that can't be repeated in headers, as that of the document's problems.
const codeParamHeaders = "param-headers"

// unrepeated reports the arguments of a tool that a rule wants to be repeated, and that can't be.
func (gen *generation) unrepeated(g *Gateway, s *source, t *catalog.Tool, wanted map[string]string) {
	var names []string
	for _, a := range t.Operation.Arguments() {
		names = append(names, a.Name)
	}
	for _, h := range paramHeaders(wanted) {
		if slices.Contains(t.ParamHeaders, h) {
			continue
		}
		text := fmt.Sprintf("there is no argument %q%s", h.Argument, didYouMean(h.Argument, names))
		if slices.Contains(names, h.Argument) {
			text = fmt.Sprintf("the argument %q is not a string, an integer or a boolean in every case, which alone can be repeated", h.Argument)
		}
		gen.unusable(g, s, t.Operation, codeParamHeaders, "param_headers."+h.Argument, text, func(of *config.Settings) bool {
			return reflect.ValueOf(of.ParamHeaders).UnsafePointer() == reflect.ValueOf(wanted).UnsafePointer() // the same, not one like it
		})
	}
}

// checkRepeated holds the headers of a call against its arguments. Who calls without headers has none that lie.
func (c *call) checkRepeated() error {
	if c.req.Era != mcp.Modern || c.g.o.Local || visitFrom(c.ctx).operator {
		return nil
	}
	for _, r := range c.plan.repeated {
		if err := c.req.CheckParamHeader(r.header, jsonscan.Lookup(c.req.Arguments, r.argument)); err != nil {
			return err
		}
	}
	return nil
}
