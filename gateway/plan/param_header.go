package plan

import (
	"cmp"
	"fmt"
	"maps"
	"net/http"
	"reflect"
	"slices"

	"drawbridge/config"
	"drawbridge/gateway/catalog"
	"drawbridge/gateway/mcp"
	"drawbridge/openapi"
	"drawbridge/openapi/text"
)

// RepeatedArgument is an argument that clients of the stateless revisions repeat in a header (SEP-2243).
type RepeatedArgument struct{ Argument, Header string }

// newRepeatedArguments returns the arguments that calls of a tool must repeat in headers.
func newRepeatedArguments(t *catalog.Tool) (all []RepeatedArgument) {
	for _, h := range t.ParamHeaders {
		all = append(all, RepeatedArgument{h.Argument, http.CanonicalHeaderKey(mcp.ParamHeaderPrefix + h.Name)})
	}
	return all
}

// newParamHeaders returns the header mappings that a rule sets for arguments of an operation, sorted by argument.
func newParamHeaders(op *openapi.Operation, headers map[string]string) (all []catalog.ParamHeader) {
	for argument, header := range headers {
		all = append(all, catalog.ParamHeader{Argument: currentName(op, argument, headers), Name: header})
	}
	slices.SortFunc(all, func(a, b catalog.ParamHeader) int {
		return cmp.Or(cmp.Compare(a.Argument, b.Argument), cmp.Compare(a.Name, b.Name))
	})
	return all
}

// currentName returns the current name of an argument that a rule may still name as the previous release did, unless the
// rule has the current name, too.
func currentName(op *openapi.Operation, argument string, headers map[string]string) string {
	now := op.CurrentName(argument)
	if _, twice := headers[now]; now == "" || twice {
		return argument
	}
	return now
}

// codeParamHeaders is the problem code of arguments that can't be repeated in headers.
const codeParamHeaders = "param-headers"

// checkParamHeaders reports the arguments of a tool, as they are given, that have a header mapping in a rule and can't be repeated in a header.
func checkParamHeaders(t *catalog.Tool, given *openapi.Operation, wanted map[string]string, r reporter) {
	if len(wanted) == 0 {
		return
	}
	var names []string
	for _, a := range given.Arguments() {
		names = append(names, a.Name)
	}
	has := func(of *config.Settings) bool {
		return reflect.ValueOf(of.ParamHeaders).UnsafePointer() == reflect.ValueOf(wanted).UnsafePointer() // the identical map, not an equal one
	}
	for _, argument := range slices.Sorted(maps.Keys(wanted)) {
		key, now := "param_headers."+argument, currentName(given, argument, wanted)
		if now != argument {
			r.deprecate(codeParamHeaders, key, fmt.Sprintf("the argument is named %q now", now), has)
		}
		if slices.Contains(t.ParamHeaders, catalog.ParamHeader{Argument: now, Name: wanted[argument]}) {
			continue
		}
		reason := fmt.Sprintf("there is no argument %q%s", now, text.DidYouMean(text.Nearest(now, names)))
		if slices.Contains(names, now) {
			reason = fmt.Sprintf("the argument %q is not a string, an integer or a boolean in every case, which alone can be repeated", now)
		}
		r.reject(codeParamHeaders, key, reason, has)
	}
}
