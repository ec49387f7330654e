package gateway

import (
	"maps"
	"net/http"
	"slices"

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
func (g *Gateway) repeatedOf(t *catalog.Tool, wanted map[string]string) (all []repeated) {
	for _, h := range t.ParamHeaders {
		all = append(all, repeated{h.Argument, http.CanonicalHeaderKey(mcp.ParamHeaderPrefix + h.Name)})
	}
	for _, h := range paramHeaders(wanted) {
		if !slices.Contains(t.ParamHeaders, h) {
			g.log.Warn("an argument can't be repeated in a header: the tool has none of that name that is a string, an integer or a boolean",
				"api", t.API, "tool", t.Name, "argument", h.Argument)
		}
	}
	return all
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
