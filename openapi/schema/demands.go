package schema

import (
	"regexp"
	"slices"
	"strings"
	"unicode"

	"drawbridge/openapi/jsonscan"
	"drawbridge/openapi/schema/ecmaregexp"
	"drawbridge/openapi/tree"
)

// Demands are what a value must meet to be sent, beyond what the document says of it. They are published, so that a value
// that fits the schema is not refused afterwards.
type Demands struct {
	NotNull       bool   // null is none of the values
	MinLength     bool   // a text has at least one character
	MinItems      bool   // an array has at least one element
	MinProperties bool   // an object has at least one member
	Pattern       string // of texts that have no enum or narrow format; "": any
}

// The gateway's own patterns, those of Demands among them. They are compiled once, since thousands of tools have them. Messages
// explain them instead of quoting them.
const (
	PatternSegment = `^([^/]*[^/.][^/]*|\.{3,})$` // of a text that is one segment of a path: not empty, and none of "." and ".."
	PatternNoSlash = "^[^/]*$"                    // of a text that is a part of one
	PatternASCII   = "^[ -~]*$"                   // of a text that is sent as a header
	// PatternSegments is of a text that is one or more segments of a path: none of them is empty, "." or "..".
	PatternSegments = `^(\.{0,2}[^/.]|\.{3})[^/]*(/(\.{0,2}[^/.]|\.{3})[^/]*)*$`
	// PatternNoneOrSegments is of such a text or "".
	PatternNoneOrSegments = `^((\.{0,2}[^/.]|\.{3})[^/]*(/(\.{0,2}[^/.]|\.{3})[^/]*)*)?$`

	PatternMediaType = `^([\w.+\-]+/[\w.+\-]+( *; *[\w\-]+="?[ !#-:<-~]*"?)*)?$` // of the media type of a file, "" among them
)

var ownPatterns = map[string]*regexp.Regexp{
	PatternSegments:       regexp.MustCompile(PatternSegments),
	PatternNoneOrSegments: regexp.MustCompile(PatternNoneOrSegments),
	PatternSegment:        regexp.MustCompile(PatternSegment),
	PatternNoSlash:        regexp.MustCompile(PatternNoSlash),
	PatternASCII:          regexp.MustCompile(PatternASCII),
	PatternMediaType:      regexp.MustCompile(PatternMediaType),
}

// The formats whose texts fit the patterns: narrowFormats each of them, asciiFormats PatternASCII.
var (
	narrowFormats = []string{"uuid", "date", "date-time", "ipv4"}
	asciiFormats  = []string{"byte", "base64", "base64url", "email", "hostname", "ipv6", "uri", "url", "uri-reference", "time", "duration", "json-pointer"}
)

// anyType is what a schema without a type takes.
const anyType = stringType | numberType | booleanType | objectType | arrayType | nullType

// overrides reports whether a keyword of the document asks for less than the owner's demands, which are written in its place.
func (x *extra) overrides(keyword string, v *tree.Node) bool {
	if x == nil {
		return false
	}
	switch keyword {
	case "minLength":
		return x.demands.MinLength && v.Text() == "0"
	case "minItems":
		return x.demands.MinItems && v.Text() == "0"
	case "minProperties":
		return x.demands.MinProperties && v.Text() == "0"
	}
	return false
}

// refusesNull reports whether the owner of a schema takes null from its values.
func (x *extra) refusesNull() bool { return x != nil && x.demands.NotNull }

// demands writes what the owner of a schema demands of its values. typed tells that the type is written.
func (e *emitter) demands(n *tree.Node, d Demands, set types, typed bool) {
	if d == (Demands{}) {
		return
	}
	if set == 0 {
		if set = e.c.typesOf(n); set == 0 {
			set = anyType
		}
	}
	if d.NotNull && !typed && set&nullType != 0 {
		e.member("type")
		set &^= nullType
		if names := set.names(); len(names) == 1 {
			e.raw(`"` + names[0] + `"`)
		} else {
			e.names(names)
		}
	}
	target := e.c.resolve(n)
	said := func(keyword string) *tree.Node {
		if own := n.Get(keyword); own != nil {
			return own
		}
		return target.Get(keyword)
	}
	least := func(demanded bool, of types, keyword string) {
		if own := said(keyword); demanded && set&of != 0 && (own == nil || own.Text() == "0") {
			e.member(keyword)
			e.raw("1")
		}
	}
	listed := said("enum") != nil || said("const") != nil
	narrow := slices.Contains(narrowFormats, said("format").Text()) || d.Pattern == PatternASCII && slices.Contains(asciiFormats, said("format").Text())
	patterned := d.Pattern != "" && set&stringType != 0 && !listed && !narrow
	least(d.MinLength && !listed && !(patterned && (d.Pattern == PatternSegment || d.Pattern == PatternSegments)), stringType, "minLength")
	least(d.MinItems, arrayType, "minItems")
	least(d.MinProperties, objectType, "minProperties")
	if patterned {
		own := said("pattern")
		if n != nil && e.patternless == n {
			own = nil
		}
		e.demandPattern(n, own, d.Pattern)
	}
}

// demandPattern writes a pattern that texts must match beside own, that of the document, if this does not ask for it already; own may be
// nil. A schema has one pattern: another stands in a composition of its own.
func (e *emitter) demandPattern(n, own *tree.Node, pattern string) {
	write := func() { e.out = jsonscan.AppendString(e.out, pattern) }
	parsed, err := ecmaregexp.Parse(own.Text())
	if own == nil || own.Kind() != tree.String || unclean(own.Text()) || err != nil || parsed.JavaScript == "" || n.Get("pattern") == nil {
		if own == nil || err != nil || !covers(parsed, pattern) {
			e.member("pattern")
			write()
		}
		return
	}
	if covers(parsed, pattern) {
		return
	}
	for _, keyword := range []string{"allOf", "anyOf", "oneOf"} { // of one schema, which are the same
		if n.Get(keyword) == nil {
			e.member(keyword)
			e.raw(`[{"pattern":`)
			write()
			e.raw(`}]`)
			return
		}
	}
}

// NamesSlash reports whether a pattern asks for slashes in so many words, as that of a resource name does: "depots/[^/]+".
func NamesSlash(pattern string) bool {
	if !strings.Contains(pattern, "/") {
		return false
	}
	parsed, err := ecmaregexp.Parse(pattern)
	return err == nil && parsed.RE2 != "" && parsed.Names('/')
}

// PermitsSlash reports whether a pattern matches texts with slashes as well as texts without: it says nothing about them.
func PermitsSlash(pattern string) bool {
	parsed, err := ecmaregexp.Parse(pattern)
	if err != nil || parsed.RE2 == "" || parsed.Size > coveredProgram {
		return false
	}
	re, err := regexp.Compile(parsed.RE2)
	return err == nil && re.MatchString("a") && re.MatchString("a/b.c")
}

// coveredProgram is the largest program that is run to find out whether a pattern covers another.
const coveredProgram = 1000

// covers reports whether the texts of an expression match one of the gateway's own patterns, too. It is false where that can't be told.
func covers(own ecmaregexp.Expression, pattern string) bool {
	switch pattern {
	case PatternNoSlash:
		return own.Excludes('/', '/')
	case PatternASCII:
		return own.Excludes(0, ' '-1) && own.Excludes('~'+1, unicode.MaxRune)
	case PatternSegment, PatternSegments:
		if own.Size > coveredProgram || !own.Excludes('/', '/') {
			return false
		}
		re, err := regexp.Compile(own.RE2)
		return err == nil && !re.MatchString("") && !re.MatchString(".") && !re.MatchString("..")
	}
	return false
}
