package plan

import (
	"drawbridge/gateway/render"
	"drawbridge/gateway/source"
	"drawbridge/openapi"
)

// setResponseHeaders sets the headers that plans pass on; the plans of an API share them.
func setResponseHeaders(plans map[*openapi.Operation]*Plan) {
	of := map[*source.Source]*render.Headers{}
	for _, p := range plans {
		if of[p.Source] == nil {
			of[p.Source] = render.NewHeaders(p.Source.Config.AnswerHeaders, p.siblings)
		}
		p.ResponseHeaders = of[p.Source]
	}
}
