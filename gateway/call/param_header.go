package call

import (
	"drawbridge/gateway/mcp"
	"drawbridge/gateway/plan"
	"drawbridge/openapi/jsonscan"
)

// checkRepeated compares the headers of a call with its arguments. A call without headers has none that could differ.
func checkRepeated(req *mcp.Request, arguments []plan.RepeatedArgument) error {
	for _, r := range arguments {
		if err := req.CheckParamHeader(r.Header, jsonscan.Lookup(req.Arguments, r.Argument)); err != nil {
			return err
		}
	}
	return nil
}
