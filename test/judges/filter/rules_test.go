package filter

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"unicode"
)

// A rule is a place where openapi3filter departs from the standard. The second decoder then decides alone. Every rule
// has a case in TestRules that fails once openapi3filter reads what the standard says.
type rule struct {
	name    string
	clause  string // what decides, and how
	applies func(p *param, value any) bool
}

var rules = []rule{
	{
		"decodes before it splits",
		"RFC 6570 section 3.2.1 and OAS 3.1.1 appendix C: a delimiter within a value is percent-encoded, one between values is not, so what is split after decoding is split too often",
		func(p *param, value any) bool {
			return p.in != "header" && p.in != "cookie" && !p.content && slices.ContainsFunc(pieces(value), func(s string) bool {
				return strings.ContainsAny(s, p.delimiters())
			})
		},
	},
	{
		"does not decode cookies",
		"OAS 3.1.1 \"Style Values\" and RFC 6570 section 3.2.8: style form percent-encodes names and values, in cookies too",
		func(p *param, value any) bool {
			return p.in == "cookie" && (p.content && !plainJSON(value) || slices.ContainsFunc(append(pieces(value), p.name), escapes))
		},
	},
	{
		"has no exploded lists and objects in cookies",
		"OAS 3.1.1 \"Style Values\": form stands for arrays and objects in cookies, and its default is to explode",
		func(p *param, _ any) bool { return p.in == "cookie" && p.explode && kind(p.schema) != "scalar" },
	},
	{
		"wants \"=\" after the name of an empty value in style matrix",
		"RFC 6570 section 3.2.7 and OAS 3.1.1 \"Style Examples\": an empty value is \";color\"",
		func(p *param, value any) bool {
			return p.style == "matrix" && slices.Contains(pieces(value), "")
		},
	},
	{
		"takes a list of one empty text for none",
		"RFC 6570 section 3.2.1: \"\" is defined, a list without members is not",
		func(p *param, value any) bool {
			list, ok := value.([]any)
			return ok && p.in == "query" && !p.content && len(list) == 1 && list[0] == ""
		},
	},
	{
		"reads the brackets of a deep object's name as members of it",
		"OAS 3.1.1 \"Style Examples\": the members are what follows the name",
		func(p *param, _ any) bool { return p.style == "deepObject" && strings.ContainsAny(p.name, "[]") },
	},
	{
		"wants exactly one \"=\" in a piece of an exploded object in a header",
		"OAS 3.1.1 \"Style Examples\" (simple, exploded): R=100; a header is not escaped (appendix D), so the first \"=\" ends the name",
		func(p *param, value any) bool {
			object, ok := value.(map[string]any)
			return ok && p.in == "header" && p.explode && slices.ContainsFunc(pieces(object), func(s string) bool { return strings.Contains(s, "=") })
		},
	},
	{
		"reads declared members by the schema of additionalProperties",
		"JSON Schema 2020-12 core, section 10.3.2.3: additionalProperties is about members that are not declared",
		func(p *param, value any) bool { return !p.content && declaredAndMore(p.schema, value) },
	},
}

// plainJSON tells whether nothing in the JSON text of a value is percent-encoded.
func plainJSON(value any) bool {
	switch value.(type) {
	case json.Number, bool:
		return true
	}
	return false
}

func declaredAndMore(schema map[string]any, value any) bool {
	object, _ := value.(map[string]any)
	properties, _ := schema["properties"].(map[string]any)
	_, open := schema["additionalProperties"].(map[string]any)
	for name, member := range object {
		s, declared := properties[name].(map[string]any)
		if declared && (open || declaredAndMore(s, member)) {
			return true
		}
	}
	return false
}

// delimiters are the characters that stand between the pieces of a value in a style.
func (p *param) delimiters() string {
	of := kind(p.schema)
	switch {
	case of == "scalar", p.style == "deepObject", p.in == "query" && p.explode:
		return ""
	case p.style == "spaceDelimited":
		return " "
	case p.style == "pipeDelimited":
		return "|"
	}
	out := ","
	if p.explode {
		switch p.style {
		case "label":
			out = "."
		case "matrix":
			out = ";"
		}
		if of == "object" {
			out += "="
		}
	}
	return out
}

// escapes tells whether a text has a character that is percent-encoded.
func escapes(s string) bool {
	return strings.ContainsFunc(s, func(r rune) bool {
		return !strings.ContainsRune("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~", r)
	})
}

// undecidable says why nobody can read a value back, "" if it can be read. These are gaps of the standard, not of a
// decoder.
func (p *param) undecidable(value any) string {
	all := pieces(value)
	switch {
	case p.content:
	case p.style == "label" && p.explode && kind(p.schema) != "scalar" && slices.ContainsFunc(all, func(s string) bool { return strings.Contains(s, ".") }):
		return "RFC 6570 section 3.2.5: a dot separates the pieces of an exploded label, and is never escaped"
	case p.allowReserved && slices.ContainsFunc(all, func(s string) bool { return strings.Contains(s, "%") }):
		return "RFC 6570 section 3.2.3: with allowReserved what looks like a triple is sent as it is"
	}
	return ""
}

// carried returns the part of a value that its location can carry: spaces around the text of a header are not a part of
// it (RFC 9110 section 5.5), and the gateway sends the text without them.
func (p *param) carried(value any) any {
	text, ok := value.(string)
	if !ok || p.in != "header" || p.content {
		return value
	}
	return strings.Trim(text, " ")
}

// refusable says why the gateway may refuse a value, "" if it must send it.
func (p *param) refusable(value any) string {
	all := pieces(value)
	any := func(f func(string) bool) bool { return slices.ContainsFunc(all, f) }
	has := func(chars string) func(string) bool {
		return func(s string) bool { return strings.ContainsAny(s, chars) }
	}
	composed := !p.content && kind(p.schema) != "scalar"
	switch {
	case undefined(value) && (p.required || p.in == "path"):
		return "a required parameter has no value"
	case p.in == "path" && len(strings.Join(all, "")) == 0:
		return "a path segment is empty"
	case p.in == "path" && (any(has(`/\%`)) || any(dots) || any(func(s string) bool { return strings.ContainsFunc(s, unicode.IsControl) })):
		return "a part of the path could be read as another path (R2)"
	case p.in == "header" && !p.content && any(func(s string) bool { return strings.ContainsFunc(s, func(r rune) bool { return r < ' ' || r > '~' }) }):
		return "a header is ASCII"
	case p.in == "header" && composed && any(func(s string) bool { return strings.Trim(s, " ") != s }):
		return "spaces around a member of a list in a header are not a part of it (RFC 9110 section 5.6.1)"
	case p.in == "header" && composed && any(has(",")):
		return "a comma in a header can't be escaped (OAS 3.1.1 appendix D)"
	case p.in == "header" && composed && p.explode && kind(p.schema) == "object" && memberNames(value, "="):
		return "the name of a member ends at \"=\", which can't be escaped in a header"
	case p.style == "spaceDelimited" && !p.explode && (any(has(" ")) || p.allowReserved && any(has("%"))),
		p.style == "pipeDelimited" && !p.explode && (any(has("|")) || p.allowReserved && any(has("%"))):
		return "the delimiter can't be escaped within a member (OAS 3.1.1 appendix C)"
	case p.style == "deepObject" && memberNames(value, "[]"):
		return "brackets in a member's name would make it another one"
	case composed && emptyName(value):
		return "a member has no name"
	case p.style == "label" && any(func(s string) bool {
		head, _, _ := strings.Cut(s, ";")
		return strings.Trim(head, ".") == ""
	}):
		return "a label of dots could be read as another path (R2)"
	}
	return ""
}

func dots(s string) bool {
	head, _, _ := strings.Cut(s, ";")
	return head == "." || head == ".."
}

func memberNames(value any, chars string) bool {
	object, _ := value.(map[string]any)
	for name, member := range object {
		if strings.ContainsAny(name, chars) || memberNames(member, chars) {
			return true
		}
	}
	return false
}

func emptyName(value any) bool {
	object, _ := value.(map[string]any)
	_, ok := object[""]
	return ok
}

// pieces are all texts of a value: names of members too.
func pieces(value any) (out []string) {
	switch v := value.(type) {
	case map[string]any:
		for name, member := range v {
			out = append(append(out, name), pieces(member)...)
		}
	case []any:
		for _, item := range v {
			out = append(out, pieces(item)...)
		}
	case string:
		out = []string{v}
	case json.Number:
		out = []string{v.String()}
	case bool:
		out = []string{fmt.Sprint(v)}
	}
	return out
}

// undefined tells whether nothing of a value is sent (RFC 6570 section 2.3).
func undefined(value any) bool {
	switch v := value.(type) {
	case nil:
		return true
	case []any:
		return len(v) == 0
	case map[string]any:
		return len(v) == 0
	}
	return false
}
