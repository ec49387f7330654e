package catalog

import (
	"slices"
	"strings"

	"drawbridge/openapi/jsonscan"
)

// ParamHeader is an argument that clients mirror in the header Mcp-Param-Name, so that
// intermediaries can route by it (2026-07-28 streamable-http, Custom Headers from Tool Parameters).
type ParamHeader struct{ Argument, Name string }

// paramHeaderKey is the schema keyword of such an argument.
const paramHeaderKey = `"x-mcp-header":`

// headerSafe returns those whose argument is declared as a string, an integer or a boolean only:
// the revision defines no encoding for others (mcp-H6).
func (t *Tool) headerSafe(all []ParamHeader) (kept []ParamHeader) {
	if len(all) == 0 {
		return nil
	}
	input, _ := t.Published(0)
	properties := jsonscan.Lookup(input, "properties")
	for _, h := range all {
		kind := jsonscan.Unquote(jsonscan.Lookup(jsonscan.Lookup(properties, h.Argument), "type"))
		if slices.Contains([]string{"string", "integer", "boolean"}, string(kind)) {
			kept = append(kept, h)
		}
	}
	return kept
}

// appendMarked appends an input schema with the keyword in the mirrored arguments.
func (t *Tool) appendMarked(dst, input []byte) []byte {
	dst = append(dst, '{')
	for key, value := range jsonscan.Members(input) {
		dst = append(jsonscan.AppendString(dst, key), ':')
		if string(key) == "properties" {
			dst = append(dst, '{')
			for name, property := range jsonscan.Members(value) {
				dst = append(jsonscan.AppendString(dst, name), ':')
				dst = append(t.appendProperty(dst, string(name), property), ',')
			}
			dst = append(trimComma(dst), '}', ',')
			continue
		}
		dst = append(append(dst, value...), ',')
	}
	return append(trimComma(dst), '}')
}

func (t *Tool) appendProperty(dst []byte, name string, property []byte) []byte {
	at := slices.IndexFunc(t.ParamHeaders, func(h ParamHeader) bool { return h.Argument == name })
	if at < 0 {
		return append(dst, property...)
	}
	dst = append(dst, "{"+paramHeaderKey...)
	dst = append(jsonscan.AppendString(dst, t.ParamHeaders[at].Name), ',') // it has a type at least
	return append(dst, strings.TrimPrefix(string(property), "{")...)
}

func trimComma(b []byte) []byte {
	if n := len(b); n > 0 && b[n-1] == ',' {
		return b[:n-1]
	}
	return b
}
