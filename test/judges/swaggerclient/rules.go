package main

import (
	"slices"
	"strconv"
	"strings"
)

// A rule explains a difference: what swagger-client does otherwise, and the clause that decides for us. A rule that is
// about the gateway's side too demands that this side is what expected.go makes of the tables of the standard.
type rule struct {
	id, what, clause string
	explains         func(d *difference, x *exchange) bool
	// silent: the standard does not say what is right, or the document breaks it. Our own reading is in
	// docs/openapi-support.md.
	silent bool
}

// rules is the table, in order: the first that explains a difference counts.
func rules() []rule {
	return []rule{
		{
			"fragment", "a path with a fragment is left as it stands: no variable replaced, the query behind the fragment",
			`RFC 3986 section 3.5: a fragment is not sent; OAS "Path Templating": variables are replaced`,
			func(d *difference, x *exchange) bool {
				return strings.Contains(x.path, "#") && (d.kind == "query" && len(d.theirs) == 0 && x.isStandard(d) || d.kind == "path" && x.isFilled(d))
			},
			true,
		},
		{
			"path-query", "a path with a query is left as it stands, or what the query holds is not sent as a parameter's",
			`OAS "Path Templating": variables are replaced`,
			func(d *difference, x *exchange) bool {
				return strings.Contains(x.path, "?") && d.kind == "path" && x.isFilled(d)
			},
			true,
		},
		{
			"undeclared", "a variable that the document declares no parameter for is left in the path",
			`OAS "Path Templating": each expression corresponds to a path parameter; "{" can't stand in a URI (RFC 3986 section 2)`,
			func(d *difference, x *exchange) bool {
				return d.kind == "path" && x.isFilled(d) && slices.ContainsFunc(variables(x.segment(d.name)), func(name string) bool {
					_, p := x.argument("path", name)
					return p != nil && p.Undeclared
				})
			},
			true,
		},
		{
			"operator", `"{+name}" is left in the path`,
			`RFC 6570 section 3.2.3: reserved expansion; "{" can't stand in a URI (RFC 3986 section 2)`,
			func(d *difference, x *exchange) bool {
				return d.kind == "path" && strings.Contains(x.path, "{+") && x.isFilled(d)
			},
			true,
		},
		{
			"multi-segment", "the slashes of a parameter with x-multi-segment are escaped",
			`silent: the extension of GitHub's document says that the value may have several segments`,
			func(d *difference, x *exchange) bool {
				if d.kind != "path" {
					return false
				}
				for _, name := range variables(x.template()) {
					if _, p := x.argument("path", name); p != nil && p.MultiSegment {
						return x.isFilled(d)
					}
				}
				return false
			},
			false,
		},
		{
			"colon", `":name" or "<name>" is left in the path`,
			`OAS "Path Templating": a variable has braces; a path parameter must be one of the path; "<" can't stand in a URI (RFC 3986 section 2)`,
			func(d *difference, x *exchange) bool {
				segment := x.segment(d.name)
				name, colon := strings.CutPrefix(segment, ":")
				if !colon {
					name, _ = strings.CutPrefix(segment, "<")
					name, _ = strings.CutSuffix(name, ">")
				}
				if name == segment || d.kind != "path" || len(d.theirs) != 1 || strings.NewReplacer("%3C", "<", "%3E", ">").Replace(d.theirs[0]) != segment {
					return false
				}
				want, err := x.fill("{" + name + "}")
				return err == nil && slices.Equal(d.ours, []string{want})
			},
			true,
		},
		{
			"unfilled", "of several variables, those after a value with a bracket are left in the path",
			`OAS "Path Templating": variables are replaced; "{" can't stand in a URI (RFC 3986 section 2)`,
			func(d *difference, x *exchange) bool {
				return d.kind == "path" && len(d.theirs) == 1 && strings.Contains(d.theirs[0], "%7B") && x.facts.Swagger2 && x.isFilled(d)
			},
			false,
		},
		{
			"decoded-twice", "2.0: a path value that looks percent-encoded is left as it is, and the service decodes it",
			"RFC 6570 section 3.2.2: a percent sign of a value is encoded; RFC 3986 section 2.4: not to decode twice",
			func(d *difference, x *exchange) bool {
				if !x.facts.Swagger2 || !x.looksEncoded() {
					return false
				}
				// A "?" that was let through begins a query, a "#" ends the address.
				_, p := x.value(d)
				return d.kind == "path" && x.isFilled(d) || d.kind == "query" && (p == nil && len(d.ours) == 0 || len(d.theirs) == 0 && x.isStandard(d))
			},
			false,
		},
		{
			"reserved", "delimiters of URIs in a value are not percent-encoded",
			"RFC 6570 section 3.2.1: all but unreserved characters are; RFC 3986 section 2.2: the two forms are not the same",
			func(d *difference, x *exchange) bool {
				return x.isStandard(d) && equalWith(d.ours, d.theirs, decoded)
			},
			false,
		},
		{
			"member-name", "the names of an object's members are not percent-encoded in a path, so that one may begin the query or the fragment",
			"RFC 6570 section 3.2.1: names of an associative array are encoded as values are",
			func(d *difference, x *exchange) bool {
				return x.rawMemberName() && (d.kind == "path" && x.isFilled(d) ||
					len(d.theirs) == 0 && x.isStandard(d) || d.kind == "query" && len(d.ours) == 0) // what follows in the address
			},
			false,
		},
		{
			"label", "style label, not exploded: the members of a list are separated by dots",
			`RFC 6570 section 3.2.5, {.list}: by commas; so OAS 3.0.4 and 3.1.1 "Style Examples", which correct the table of earlier versions`,
			func(d *difference, x *exchange) bool {
				_, p := x.value(d)
				return d.kind == "path" && p != nil && p.Style == "label" && x.isFilled(d)
			},
			false,
		},
		{
			"matrix", "style matrix: an empty text is written with an equals sign",
			`RFC 6570 section 3.2.7: without; OAS "Style Examples", column empty: ;color`,
			func(d *difference, x *exchange) bool {
				value, p := x.value(d)
				return d.kind == "path" && p != nil && p.Style == "matrix" && value == "" && x.isFilled(d)
			},
			false,
		},
		{
			"empty-text", "an empty text in a query or a form is not sent",
			`RFC 6570 section 2.3: an empty string is a value; OAS "Style Examples", column empty: color=`,
			func(d *difference, x *exchange) bool {
				if value, _ := x.value(d); len(d.theirs) > 0 || value != "" {
					return false
				}
				return slices.Equal(d.ours, []string{""}) && (d.kind == "part" || d.kind == "query" || d.kind == "form")
			},
			false,
		},
		{
			"empty-list", "an empty list or object is sent as an empty text, and so are members that are null",
			"RFC 6570 sections 2.3 and 3.2.1: a list without members is undefined, and what is undefined is not sent",
			func(d *difference, x *exchange) bool {
				value, p := x.value(d)
				return p != nil && holdsUndefined(value) && x.isStandard(d)
			},
			false,
		},
		{
			"default", "2.0: a parameter that was not given is sent with its default",
			`OAS 2.0 "Parameter Object", default: the value that the server will use if none is provided`,
			func(d *difference, x *exchange) bool {
				if len(d.ours) > 0 {
					return false
				}
				if value, _ := x.value(d); value != nil {
					return false
				}
				return slices.ContainsFunc(x.facts.Defaults, func(p parameter) bool {
					return p.Name == d.name && (p.In == d.kind || p.In == "formData" && d.kind == "form" || p.In == "header" && strings.EqualFold(p.Name, d.name))
				})
			},
			false,
		},
		{
			"deep-object", "style deepObject: what is below the first level is JSON, and a list is several pairs of one name",
			`OAS "Style Values", deepObject: undefined for lists and for more than one level; services that document it take a[b][c] and a[0]`,
			func(d *difference, x *exchange) bool {
				_, p := x.value(d)
				return p != nil && p.Style == "deepObject" && x.isStandard(d)
			},
			true,
		},
		{
			"member-list", "a list within an exploded object is JSON",
			`OAS 3.1.1 "Parameter Object": nested values are undefined but for deepObject; a list of scalars repeats its name, as one beside it does`,
			func(d *difference, x *exchange) bool {
				value, p := x.value(d)
				object, _ := value.(map[string]any)
				_, list := object[d.name].([]any)
				return d.kind == "query" && p != nil && list && x.isStandard(d)
			},
			true,
		},
		{
			"same-member", "of a member that two exploded objects, or an object and a parameter, have, one is sent",
			"RFC 6570 section 3.2.1: every variable is expanded",
			func(d *difference, x *exchange) bool {
				if d.kind != "query" || len(d.theirs) >= len(d.ours) {
					return false
				}
				owners, left := 0, slices.Clone(d.ours)
				for argument, p := range x.facts.Parameters {
					if p.In != "query" { // one of a path may have the name, too
						continue
					}
					for _, pair := range p.pairs(p.Name, x.arguments[argument], x.facts.Swagger2)[d.name] {
						i := slices.Index(left, pair)
						if i < 0 {
							return false
						}
						left = slices.Delete(left, i, i+1)
						owners++
					}
				}
				return owners > 1 && len(left) == 0
			},
			false,
		},
		{
			"content-type", "2.0: the header Content-Type is a parameter, beside the type of the body and without one",
			"RFC 9110 section 8.3: it describes the content and stands once; OAS 3.0 ignores such parameters",
			func(d *difference, x *exchange) bool {
				_, body := x.ours[piece{"body", ""}]
				return d.kind == "content-type" && x.facts.Swagger2 && (len(d.ours) == 0 && !body || len(d.ours) == 1 && slices.Contains(d.theirs, d.ours[0]))
			},
			false,
		},
		{
			"allow-reserved", "allowReserved: a value is written with the characters that end it",
			`OAS 3.1.1 "Parameter Object", allowReserved, and appendix E: delimiters of the query itself have to be encoded`,
			func(d *difference, x *exchange) bool {
				value, p := x.value(d)
				if p == nil || !p.AllowReserved || !strings.ContainsAny(written(value), "&=+#;[]%") {
					return false
				}
				for _, pair := range d.ours {
					if strings.ContainsAny(pair, "&=+#;[]") {
						return false
					}
				}
				want := p.pairs(p.Name, value, x.facts.Swagger2)[d.name]
				return equalWith(d.ours, want, func(s string) string { return decoded(decoded(s)) }) // triples of a value are kept
			},
			false,
		},
		{
			"form-list", "a list in a form is one pair, its members separated by commas",
			`OAS 3.0 "Encoding Object", style: form, explode: its default with style form is true; 3.1: each item is a value of its own`,
			func(d *difference, x *exchange) bool {
				value, _ := x.value(d)
				_, list := value.([]any)
				return d.kind == "form" && list && !x.facts.Swagger2 && x.isStandard(d)
			},
			false,
		},
		{
			"part-list", "a list in a multipart body is one part, its members separated by commas",
			`RFC 7578 section 4.3: several values of one field are parts of one name; OAS 3.0 "Special Considerations for multipart Content", for arrays`,
			func(d *difference, x *exchange) bool {
				value, _ := x.value(d)
				list, ok := value.([]any)
				if d.kind != "part" || !ok || x.facts.Swagger2 && x.theirs.Encoding[d.name].CollectionFormat != "multi" {
					return false
				}
				var parts []string
				for _, e := range list {
					if e != nil {
						parts = append(parts, written(e))
					}
				}
				return slices.Equal(d.ours, parts) && (len(d.theirs) == 1 || len(parts) == 0)
			},
			false,
		},
		{
			"no-part", "a multipart body without members has no part",
			`RFC 2046 section 5.1.1: a multipart body has one part at least; here it has an empty one without a name`,
			func(d *difference, x *exchange) bool {
				return d.kind == "part" && d.name == "" && len(x.members) == 0 && slices.Equal(d.ours, []string{""}) && len(d.theirs) == 0
			},
			false,
		},
		{
			"part-case", "the media type of a part is written in lower case, with the values of its parameters",
			"RFC 2045 section 5.1: values of parameters are case-sensitive unless their definition says otherwise; the File API has the type of a Blob in lower case",
			func(d *difference, _ *exchange) bool {
				return d.kind == "part-type" && len(d.ours) == 1 && len(d.theirs) == 1 && d.theirs[0] != d.ours[0] && d.theirs[0] == strings.ToLower(d.ours[0])
			},
			false,
		},
		{
			"part-parameters", "a media type that is none, such as one with a quote that has no end, is written as it was given",
			"RFC 9110 section 5.6.6: the value of a parameter is a token or a quoted string; RFC 6838 section 4.3: a parameter stands once",
			func(d *difference, _ *exchange) bool {
				return d.kind == "part-type" && len(d.ours) == 1 && len(d.theirs) == 1 && mendedMedia(d.theirs[0]) == strings.ToLower(d.ours[0])
			},
			true,
		},
		{
			"part-name", "a backslash in the name of a part is sent as it is",
			"RFC 7578 section 4.2 and RFC 2045 section 5.1: in a quoted string it would take the character behind it for itself",
			func(d *difference, x *exchange) bool {
				return strings.HasPrefix(d.kind, "part") && (strings.Contains(d.name, `\`) && len(d.ours) == 0 && slices.Equal(x.ours[piece{d.kind, strings.ReplaceAll(d.name, `\`, "%5C")}], d.theirs) ||
					strings.Contains(d.name, "%5C") && len(d.theirs) == 0 && slices.Equal(x.client[piece{d.kind, strings.ReplaceAll(d.name, "%5C", `\`)}], d.ours))
			},
			false,
		},
		{
			"file-name", "the name of a file is sent with the folders before it, and characters that end it",
			"RFC 7578 section 4.2: no more than the last segment; quotes, CR and LF are percent-encoded",
			func(d *difference, x *exchange) bool {
				value, _ := x.value(d)
				file, _ := value.(map[string]any)
				name, _ := file["filename"].(string)
				return d.kind == "part-file" && slices.Equal(d.theirs, []string{name}) && strings.ContainsAny(name, "/\\\"\r\n") &&
					len(d.ours) == 1 && !strings.ContainsAny(d.ours[0], "/\\\"\r\n")
			},
			false,
		},
		{
			"lines", "lines of JSON are sent as one JSON list",
			`OAS 3.2 "Sequential Media Types"; NDJSON: one text on each line`,
			func(d *difference, x *exchange) bool {
				if d.kind != "body" || !strings.Contains(x.call.Media, "ndjson") && !strings.Contains(x.call.Media, "jsonl") || len(d.theirs) != 1 {
					return false
				}
				return len(d.ours) == 0 && d.theirs[0] == "[]" || len(d.ours) == 1 && sameLines(d.ours[0], d.theirs[0])
			},
			false,
		},
	}
}

// isStandard tells whether the gateway's side of a query parameter, path segment, header or form member is what the
// standard says.
func (x *exchange) isStandard(d *difference) bool {
	value, p := x.value(d)
	switch {
	case p == nil:
		return false
	case d.kind == "path":
		return x.isFilled(d)
	case d.kind == "query":
		return slices.Equal(d.ours, p.pairs(p.Name, value, x.facts.Swagger2)[d.name])
	case d.kind == "cookie":
		return slices.Equal(d.ours, p.pairs(p.Name, value, false)[d.name])
	case d.kind == "part":
		want := p.pairs(p.Name, value, x.facts.Swagger2)[d.name]
		return p.Style != "" && equalWith(d.ours, want, func(s string) string { return decoded(normalPercent(s)) })
	case d.kind == "form":
		want := x.formPairs(p.Name, value)[d.name]
		return equalWith(d.ours, want, normalForm)
	case d.kind == "header":
		return len(d.ours) == 0 && undefined(value) || len(d.ours) == 1 && d.ours[0] == strings.TrimSpace(text(value))
	}
	return false
}

// isFilled tells whether the gateway's path has its variables replaced as the standard says.
func (x *exchange) isFilled(*difference) bool {
	want, err := x.fill(x.template())
	if err != nil {
		return false
	}
	var segments []string
	for i := 0; ; i++ {
		segment, ok := x.ours[piece{"path", strconv.Itoa(i)}]
		if !ok {
			return strings.Join(segments, "/") == want
		}
		segments = append(segments, segment...)
	}
}

// value finds what was given for a piece, and what the document says of it.
func (x *exchange) value(d *difference) (any, *parameter) {
	switch d.kind {
	case "path":
		for _, name := range variables(x.segment(d.name)) {
			return x.argument("path", name)
		}
	case "query", "cookie":
		return x.owner(d.kind, d.name)
	case "header":
		return x.argument("header", d.name)
	case "form", "part", "part-type", "part-file":
		name := d.name
		if _, ok := x.members[name]; !ok {
			name, _, _ = strings.Cut(name, "[")
		}
		p := x.theirs.Encoding[name]
		p.Name = name
		return x.members[name], &p
	}
	return nil, nil
}

// holdsUndefined tells whether a value is a list or an object without members, or with some that are null.
func holdsUndefined(value any) bool {
	if undefined(value) {
		return value != nil
	}
	switch v := value.(type) {
	case []any:
		return slices.Contains(v, nil)
	case map[string]any:
		for _, e := range v {
			if e == nil || undefined(e) {
				return true
			}
		}
	}
	return false
}

// looksEncoded tells whether the value of a path parameter holds a percent-encoded character.
func (x *exchange) looksEncoded() bool {
	for argument, p := range x.facts.Parameters {
		if text, ok := x.arguments[argument].(string); ok && p.In == "path" && decoded(text) != text {
			return true
		}
	}
	return false
}

// rawMemberName tells whether an object in the path has a member whose name has to be encoded.
func (x *exchange) rawMemberName() bool {
	for argument, p := range x.facts.Parameters {
		object, _ := x.arguments[argument].(map[string]any)
		for name := range object {
			if p.In == "path" && strings.Trim(name, unreserved) != "" {
				return true
			}
		}
	}
	return false
}

func equalWith(a, b []string, normal func(string) string) bool {
	return slices.EqualFunc(a, b, func(a, b string) bool { return normal(a) == normal(b) })
}

// sameLines tells whether lines of JSON are the members of a JSON list.
func sameLines(lines, list string) bool {
	value, err := decodeJSON([]byte(list))
	members, ok := value.([]any)
	if err != nil || !ok {
		return false
	}
	var want []string
	for _, m := range members {
		var b strings.Builder
		appendJSON(&b, m)
		want = append(want, b.String())
	}
	var have []string
	for line := range strings.Lines(lines) {
		text, err := normalJSON([]byte(line))
		if err != nil {
			return false
		}
		have = append(have, text)
	}
	return slices.Equal(have, want)
}
