package main

import (
	"encoding/json"
	"maps"
	"math/big"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"drawbridge/openapi/jsonscan"
	"drawbridge/openapi/wire"
)

// A rule explains violations that are no fault of the gateway: Prism does not share the standard's view, or the document
// asks for what can't be met.
type rule struct {
	name   string
	clause string
	// violation is what Prism says; every violation of a finding must be explained by some rule.
	violation *regexp.Regexp
	// applies looks at the rest; nil: nothing else counts.
	applies func(f finding) bool
}

var rules = []rule{
	{
		name:      "no media type for a body",
		clause:    "Swagger 2.0 \"Operation Object\": consumes may be absent; Prism then takes no body at all, the gateway sends JSON",
		violation: regexp.MustCompile(`^(request|INVALID_CONTENT_TYPE): No supported content types, but request included a non-empty body`),
		applies:   func(f finding) bool { return f.listed.Bodiless },
	},
	{
		name:      "a path parameter that is not in the path",
		clause:    "OAS 3.1.1 \"Parameter Object\", name: of a path parameter it must stand in the path template; there is no way to send it",
		violation: regexp.MustCompile(`^(request\.)?path: Request path must have required property '`),
	},
	{
		name:      "one of several alternatives, for a text",
		clause:    "OAS 3.1.1 appendix B: parameters are text, and what types a text has is not defined; Prism tries all of them, so one text fits more than one alternative",
		violation: regexp.MustCompile(`^(request\.)?(path|query|header)\.`),
		applies: func(f finding) bool {
			return !slices.ContainsFunc(f.violations(), func(v string) bool {
				return parameterViolation.MatchString(v) && !strings.Contains(f.reason, parameterOf(v)+" must match exactly one schema in oneOf")
			})
		},
	},
	{
		name:      "a list that may be null",
		clause:    "JSON Schema 2020-12 validation, section 6.1.1: type may be a list of types; Prism reads a parameter as a list only where it is the one word array",
		violation: regexp.MustCompile(`^(request\.)?(query|header)\.[^:]*: .* (must be array(,null)? \(type\)|must be null \(type\)|must match a schema in anyOf)`),
		applies: func(f finding) bool {
			return strings.Contains(f.reason, "must be array (type)") || strings.Contains(f.reason, "must be array,null (type)")
		},
	},
	{
		name:      "an object without explode",
		clause:    "OAS 3.1.1 \"Parameter Object\", explode: true by default for style form; Prism looks for one pair with the name of the parameter then",
		violation: regexp.MustCompile(`^(request\.)?query: Request query must have required property '`),
		applies: func(f finding) bool {
			return !slices.ContainsFunc(f.violations(), func(v string) bool {
				_, name, ok := strings.Cut(v, "Request query must have required property '")
				name, _, _ = strings.Cut(name, "'")
				return ok && jsonscan.KindOf(jsonscan.Lookup(f.arguments, name)) != jsonscan.Object
			})
		},
	},
	{
		name:      "JSON in a parameter",
		clause:    "OAS 3.1.1 \"Parameter Object\": a parameter with content is written in that media type; Prism reads it by a style. Objects in lists have no style (\"Style Values\"), and go as JSON",
		violation: regexp.MustCompile(`^(request\.)?query\.[^:]*: .* (must be (object|array)(,null)? \(type\)|must NOT have more than \d+ items)`),
		applies: func(f finding) bool {
			return strings.Contains(f.request, "=%7B") || strings.Contains(f.request, "=%5B")
		},
	},
	{
		name:      "a list separated by spaces",
		clause:    "OAS 3.1.1 \"Style Values\": spaceDelimited has %20 between members; Prism looks for it after decoding, and finds none",
		violation: spaced,
		applies: func(f finding) bool {
			return !slices.ContainsFunc(f.violations(), func(v string) bool {
				list := spaced.FindStringSubmatch(v)
				return list != nil && !regexp.MustCompile(`[?&]`+regexp.QuoteMeta(list[2])+`=[^&{ ]*%20`).MatchString(f.request)
			})
		},
	},
	{
		name:      "headers that no argument sets",
		clause:    "RFC 9110 sections 7.6 and 8.6 and the gateway's own list (R6): they belong to the sender of a message, or to those who pass it on",
		violation: regexp.MustCompile(`^(request\.)?header: Request header must have required property '`),
		applies: func(f finding) bool {
			return !slices.ContainsFunc(f.violations(), func(v string) bool {
				_, name, ok := strings.Cut(v, "Request header must have required property '")
				name, _, _ = strings.Cut(name, "'")
				return ok && !wire.ForbiddenHeader(name)
			})
		},
	},
	{
		name:      "Accept and Content-Type as parameters",
		clause:    "OAS 3.1.1 \"Parameter Object\", name: in a header they shall be ignored; Swagger 2.0 does not say so (docs/openapi-support.md, divergences)",
		violation: regexp.MustCompile(`^(request\.)?header\.(accept|content-type|authorization): `),
	},
	{
		name:      "lines of JSON",
		clause:    "OAS 3.2 \"Sequential Media Types\": the schema of application/x-ndjson is that of the list of its lines; Prism compares the text with it",
		violation: regexp.MustCompile(`^(request\.)?body: Request body must be array \(type\)`),
		applies: func(f finding) bool {
			return strings.Contains(f.request, "ndjson") || strings.Contains(f.request, "jsonl")
		},
	},
	{
		name:      "members of a form",
		clause:    "OAS 3.1.1 \"Encoding Object\": without an encoding an object is JSON and a list one pair for each member; Prism reads every member as one text, and none that is not declared",
		violation: regexp.MustCompile(`^(request\.)?body(\.[^:]*)?: .* (must be ((object|array)(,null)?|string) \(type\)|must have required property|must match (a|exactly one) schema in (anyOf|oneOf)|must be null \(type\))`),
		applies: func(f finding) bool {
			return isForm(f) && !slices.ContainsFunc(f.violations(), func(v string) bool {
				_, member, ok := strings.Cut(v, "must have required property '")
				member, _, _ = strings.Cut(member, "'")
				return ok && !sends(f.request, member)
			})
		},
	},
	{
		name:      "reserved characters in a part",
		clause:    "OAS 3.0.4 \"Encoding Object\", allowReserved: it is for application/x-www-form-urlencoded alone; Prism wants it for the content of every part that has an encoding with a style",
		violation: regexp.MustCompile(`^(request\.)?body\.[^:]*: Reserved characters used in request body`),
		applies:   func(f finding) bool { return strings.Contains(f.request, "multipart/form-data") },
	},
	{
		name:      "required, and only read",
		clause:    "OAS 3.0.4 \"Schema Object\", readOnly: required takes effect on the answer only; Prism forgets such members at the root of a body, not within alternatives",
		violation: regexp.MustCompile(`^(request\.)?body`),
		applies: func(f finding) bool {
			return strings.Contains(f.reason, " schema in ") && slices.ContainsFunc(f.violations(), func(v string) bool {
				_, member, ok := strings.Cut(v, "must have required property '")
				member, _, _ = strings.Cut(member, "'")
				return ok && !strings.Contains(string(f.input), `"`+member+`"`)
			})
		},
	},
	{
		name:      "several alternatives at once",
		clause:    "JSON Schema 2020-12 core, section 10.2.1.3: oneOf takes what fits one alternative; those of the document overlap, so the gateway publishes them as anyOf",
		violation: bodyPlace,
		applies: func(f finding) bool { // beside it stands what the other alternatives refuse
			return !slices.ContainsFunc(f.violations(), func(v string) bool {
				at := bodyPlace.FindString(v)
				return at != "" && !slices.ContainsFunc(f.violations(), func(of string) bool {
					place, _, ok := strings.Cut(of, ": ")
					return ok && strings.HasSuffix(of, severalMatch) && (at == place+": " || strings.HasPrefix(at, place+"."))
				})
			})
		},
	},
	{
		name:      "a member that is called like another parameter",
		clause:    "OAS 3.1.1 \"Style Examples\" (form, exploded): the members of an object are parameters of their own, so two would have one name (R5)",
		violation: regexp.MustCompile(`(?s)^the gateway: .*that is the name of another parameter`),
	},
	{
		name:      "an empty text in a query",
		clause:    "RFC 6570 section 3.2.8: an empty value is name=, which is not the absence of the parameter; Prism takes it for that",
		violation: absent,
		applies: func(f finding) bool {
			_, query, _ := strings.Cut(f.request, "?")
			query, _, _ = strings.Cut(query, " ")
			given, err := url.ParseQuery(query)
			return err == nil && !slices.ContainsFunc(f.violations(), func(v string) bool {
				name := absent.FindStringSubmatch(v)
				return name != nil && !slices.ContainsFunc(slices.Collect(maps.Keys(given)), func(key string) bool {
					return strings.EqualFold(key, name[2]) && !slices.ContainsFunc(given[key], func(value string) bool { return value != "" })
				})
			})
		},
	},
	{
		name:      "an empty text in a header",
		clause:    "RFC 9110 section 5.5: a field's value may be empty; Prism takes it for an absent one",
		violation: headless,
		applies: func(f finding) bool {
			return !slices.ContainsFunc(f.violations(), func(v string) bool {
				name := headless.FindStringSubmatch(v)
				return name != nil && !slices.Equal(f.headers.Values(name[2]), []string{""})
			})
		},
	},
	{
		name:      "a pattern that looks around",
		clause:    "docs/openapi-support.md, divergence 8: a pattern that RE2 can't express is published, and not checked; the judge's texts leave lookaround out",
		violation: regexp.MustCompile(`must match pattern "[^;]*\(\?<?[=!]`),
	},
	{
		name:      "the ends of int64",
		clause:    "OAS 3.1.1 \"Data Type Format\": int64 has 64 bits with sign; Prism allows what JavaScript holds exactly, 53",
		violation: regexp.MustCompile(`must be (<= 9007199254740991 \(maximum\)|>= -9007199254740991 \(minimum\))`),
	},
	{
		name:      "another multipart than form-data",
		clause:    "OAS 3.1.1 \"Special Considerations for multipart Content\": the parts are the members of an object; Prism parses multipart/form-data alone, and compares the text of the others",
		violation: regexp.MustCompile(`^(request\.)?body: Request body must be object \(type\)`),
		applies: func(f finding) bool {
			return strings.Contains(f.request, " multipart/") && !isForm(f)
		},
	},
	{
		name:      "a text that no header or cookie holds",
		clause:    "RFC 9110 section 5.5 and RFC 6265 section 4.1.1: a field's value is visible ASCII without spaces around it, a cookie's has no delimiters; neither can be escaped",
		violation: regexp.MustCompile(`^the gateway: .* must (contain ASCII characters only|not begin or end with a space|not contain .*|not have a member that begins or ends with a space): it is sent as a (header|cookie)`),
	},
	{
		name:      "a text that no path segment holds",
		clause:    "docs/openapi-support.md, divergence 12 (R2): a value in a path is not empty and holds no slash, no dot segment and no control character, in any encoding",
		violation: regexp.MustCompile(`^the gateway: .* (must not be empty: it is a part of the path|must not contain "/": it is one segment|must not contain the path segment|must not be percent-encoded: the gateway|must not contain control characters: it is a part of the path)`),
	},
	{
		name:      "a delimiter within a member",
		clause:    "docs/openapi-support.md, divergence 14, and OAS 3.1.1 appendices C and D: a delimiter that can't be escaped splits the member",
		violation: regexp.MustCompile(`^the gateway: .* (must not have a member that contains .*: members are sent with it between them|must not have a member .*: (brackets would make it another one|its name would end at))`),
	},
	{
		name:      "a schema that nothing fits",
		clause:    "JSON Schema 2020-12 core, section 10.3.2.3: additionalProperties does not see what other parts of an allOf declare",
		violation: regexp.MustCompile(`^no arguments were found: .* is required and forbidden`),
	},
	{
		name:      "another protocol",
		clause:    "RFC 9110 section 15.2.2: 101 answers a request that asks for an upgrade; no tool does",
		violation: regexp.MustCompile(`^101 `),
	},
	{
		name:      "a body of false, 0 or an empty text",
		clause:    "RFC 8259 section 2: they are JSON texts; Prism takes them for no body",
		violation: regexp.MustCompile(`^(request)?: Body parameter is required`),
		applies:   func(f finding) bool { return emptyish.MatchString(f.request) },
	},
	{
		name:      "a form without members",
		clause:    "URL Standard section 5.2: the form of no members is the empty text, and RFC 9110 section 6.4 allows content without octets; Prism takes it for no body",
		violation: regexp.MustCompile(`^(request)?: Body parameter is required`),
		applies: func(f finding) bool {
			return strings.HasSuffix(f.request, ` application/x-www-form-urlencoded ""`)
		},
	},
	{
		name:      "a multiple of a decimal fraction",
		clause:    "JSON Schema 2020-12 validation, section 6.2.1: the division results in an integer, as 8.44 / 0.01 does; Prism divides binary floating point numbers",
		violation: decimal,
		applies: func(f finding) bool {
			return !slices.ContainsFunc(f.violations(), func(v string) bool {
				m := decimal.FindStringSubmatch(v)
				return m != nil && !isMultiple(valueAt(f.arguments, strings.Split(m[2], ".")), m[3])
			})
		},
	},
	{
		name:      "a pattern between slashes",
		clause:    "JSON Schema 2020-12 validation, section 6.3.3: a pattern is a regular expression without delimiters, so that of the document matches no text; the gateway leaves it away",
		violation: regexp.MustCompile(`must match pattern "/\^`),
	},
	{
		name:      "a pattern that no text was found for",
		clause:    "the judge's own limit: expressions with delimiters match nothing",
		violation: regexp.MustCompile(`^no arguments were found: .* no text was found for the pattern "/`),
	},
	{
		name:      "nothing but refusals",
		clause:    "the document has no answer of 2xx or 3xx and no default, so Prism answers with a refusal",
		violation: regexp.MustCompile(`^[45]\d\d `),
		applies:   func(f finding) bool { return f.listed.Hopeless && f.verdict == failed },
	},
	{
		name:      "two operations at one path",
		clause:    "RFC 3986 section 3.5: the fragment of a path is not sent; Prism finds the other operation",
		violation: regexp.MustCompile(`^(request\.)?body`),
		applies:   func(f finding) bool { return strings.Contains(f.path, "#") },
	},
}

// severalMatch ends a violation of oneOf by a value that several of its alternatives accept (serve.mjs).
const severalMatch = "must match exactly one schema in oneOf, several match (oneOf)"

var (
	bodyPlace          = regexp.MustCompile(`^(request\.)?body(\.[^:]*)?: `)
	parameterViolation = regexp.MustCompile(`^(request\.)?(path|query|header)\.`)
	absent             = regexp.MustCompile(`^(request\.)?query: Request query must have required property '([^']*)'`)
	headless           = regexp.MustCompile(`^(request\.)?header: Request header must have required property '([^']*)'`)
	spaced             = regexp.MustCompile(`^(request\.)?query\.([^:]*)\.0: `)
	decimal            = regexp.MustCompile(`^(request\.)?body\.([^:]*): .* must be multiple of ([0-9.]+) \(multipleOf\)`)
	emptyish           = regexp.MustCompile(`json "(false|0|null|\\"\\")\\?n?"$`)
)

// valueAt returns the value at a path of member names and indexes, as it is written, or "" if there is none.
func valueAt(value []byte, path []string) string {
	for _, name := range path {
		if i, err := strconv.Atoi(name); err == nil && jsonscan.KindOf(value) == jsonscan.Array {
			var list []json.RawMessage
			if json.Unmarshal(value, &list) != nil || i >= len(list) {
				return ""
			}
			value = list[i]
			continue
		}
		value = jsonscan.Lookup(value, name)
	}
	return string(value)
}

// isMultiple tells whether a decimal number is an integer multiple of another.
func isMultiple(number, of string) bool {
	a, ok1 := new(big.Rat).SetString(number)
	b, ok2 := new(big.Rat).SetString(of)
	return ok1 && ok2 && b.Sign() != 0 && a.Quo(a, b).IsInt()
}

func isForm(f finding) bool {
	return strings.Contains(f.request, " multipart/form-data") || strings.Contains(f.request, " application/x-www-form-urlencoded")
}

// sends tells whether the form of a request has a member.
func sends(request, member string) bool {
	_, body, _ := strings.Cut(request, ` "`)
	for _, form := range []string{`name=\"` + member + `\"`, "&" + url.QueryEscape(member) + "=", "&" + url.QueryEscape(member) + "%5B"} {
		if strings.Contains("&"+body, form) {
			return true
		}
	}
	return false
}

// parameterOf is the sentence's subject: "Request query parameter refresh".
func parameterOf(violation string) string {
	_, text, _ := strings.Cut(violation, ": ")
	for _, word := range []string{" must ", " has "} {
		text, _, _ = strings.Cut(text, word)
	}
	return text
}

// violations are the parts of a reason.
func (f finding) violations() []string {
	if f.verdict == failed || f.request == "" { // sentences of the gateway
		return sentences(f.reason)
	}
	return strings.Split(f.reason, "; ")
}

// sentences are the faults that the gateway finds in arguments, each with what says so before it: "the gateway: /id: must …".
func sentences(reason string) (all []string) {
	said, faults, ok := strings.Cut(reason, "The arguments are not valid; nothing was sent.")
	if !ok {
		return []string{reason}
	}
	for line := range strings.Lines(faults) {
		if fault, ok := strings.CutPrefix(line, "- "); ok {
			all = append(all, said+strings.TrimSpace(fault))
		}
	}
	if len(all) == 0 {
		return []string{reason}
	}
	return all
}

// explain looks for rules: every violation must have one.
func (f finding) explain() finding {
	if f.verdict >= explained {
		return f
	}
	var names []string
	for _, v := range f.violations() {
		i := slices.IndexFunc(rules, func(r rule) bool {
			return r.violation.MatchString(v) && (r.applies == nil || r.applies(f))
		})
		if i < 0 {
			f.open = v
			return f
		}
		names = append(names, rules[i].name)
	}
	f.verdict, f.rule = explained, names[0]
	return f
}
