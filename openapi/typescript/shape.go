package typescript

import (
	"regexp"
	"slices"
	"strings"

	"drawbridge/openapi/jsonscan"
	"drawbridge/openapi/jsonschema"
	"drawbridge/openapi/schema"
	"drawbridge/openapi/text"
)

// shape is how a schema is seen: all that applies to one value, merged. Exactly one of literal, enum and alternatives is set, or else the
// value is of one of the kinds; without any, it may be anything.
type shape struct {
	merged       *jsonschema.Merged
	literal      []byte               // of const
	enum         [][]byte             // values
	alternatives []*jsonschema.Schema // of which the value fits one
	kinds        []string             // JSON types
	members      []jsonschema.Member  // of an object
	either       [][]string           // optional members of which the value must have one of these groups
	items        *jsonschema.Schema   // of an array
	values       *jsonschema.Schema   // of members that are not declared, if the schema describes them
}

// anything is the shape of a value about which nothing is known.
var anything = &shape{merged: &jsonschema.Merged{}}

// shapeOf returns the shape of a schema.
func shapeOf(s *jsonschema.Schema) *shape {
	if !s.IsObject() {
		return anything
	}
	c := jsonschema.Merge(s)
	sh := &shape{merged: c}
	if value := c.First("const").Value; value != nil {
		sh.literal = value
		return sh
	}
	if list := c.First("enum").Value; jsonscan.KindOf(list) == jsonscan.Array {
		for value := range jsonscan.Elements(list) {
			sh.enum = append(sh.enum, value)
		}
		if len(sh.enum) > 0 {
			return sh
		}
	}
	sh.kinds = c.First("type").Texts()
	alternatives := c.First("anyOf").Schemas()
	if len(alternatives) > 0 && !c.Has("properties") {
		sh.alternatives = alternatives
		return sh
	}
	sh.object(s, alternatives)
	sh.items = c.First("items").Schema()
	return sh
}

// object sets what is known of the members of an object.
func (sh *shape) object(s *jsonschema.Schema, alternatives []*jsonschema.Schema) {
	sh.members = s.Members()
	if len(sh.kinds) == 0 && (len(sh.members) > 0 || sh.merged.Has("additionalProperties")) {
		sh.kinds = []string{"object"}
	}
	if values := sh.merged.First("additionalProperties").Schema(); values.IsObject() && len(values.Keywords()) > 0 {
		sh.values = values
	}
	if len(alternatives) > 0 && len(alternatives) <= maxUnion {
		sh.require(alternatives)
	}
}

// require marks the members that every alternative requires as required, and notes which others one of them must have.
func (sh *shape) require(alternatives []*jsonschema.Schema) {
	required := make([][]string, len(alternatives))
	for i, a := range alternatives {
		for part, role := range a.Applied() {
			if role == jsonschema.Always {
				required[i] = append(required[i], part.Required()...)
			}
		}
	}
	for i, m := range sh.members {
		if !m.Required && !slices.ContainsFunc(required, func(names []string) bool { return !slices.Contains(names, m.Name) }) {
			sh.members[i].Required = true
		}
	}
	var either [][]string
	for _, names := range required {
		var own []string
		for _, m := range sh.members {
			if !m.Required && slices.Contains(names, m.Name) {
				own = append(own, m.Name)
			}
		}
		if len(own) == 0 {
			return // one alternative needs nothing more
		}
		either = append(either, own)
	}
	sh.either = either
}

// is reports whether the value may be of a JSON type.
func (sh *shape) is(kind string) bool { return slices.Contains(sh.kinds, kind) }

// constant returns the only value that a member may have, nil if there are others.
func (sh *shape) constant(name string) []byte {
	for _, properties := range sh.merged.Values("properties") {
		for _, p := range properties.Parts {
			if p.Name != name {
				continue
			}
			m := jsonschema.Merge(p.Schema)
			if value := m.First("const").Value; value != nil {
				return value
			}
			var values [][]byte
			for value := range jsonscan.Elements(m.First("enum").Value) {
				values = append(values, value)
			}
			if len(values) == 1 {
				return values[0]
			}
		}
	}
	return nil
}

// formats are the formats that a caller must know to write a value, with their names in a signature.
var formats = map[string]string{
	"date-time": "date-time", "date": "date", "time": "time", "duration": "duration", "uuid": "uuid",
	"byte": "base64", "base64": "base64", "base64url": "base64url", "binary": "binary",
}

// format returns the name of the format of a text, "" if a caller need not know it.
func (sh *shape) format() string {
	if encoding := formats[sh.merged.First("contentEncoding").Text()]; encoding != "" {
		return encoding
	}
	if format := formats[sh.merged.First("format").Text()]; format != "" {
		return format
	}
	prose := text.Prefix(sh.merged.Nearest("description").Text(), maxProse)
	if strings.Contains(prose, "64") && base64InProse.MatchString(prose) { // most descriptions don't pay for the expression
		return "base64"
	}
	return ""
}

// base64InProse finds descriptions of texts that are base64 although no format says so.
var base64InProse = regexp.MustCompile(`(?i)\bbase-?64(-?url)?([- ]?(url|safe|string|encoded|data|representation|\()|$)|\bencoded (as|in|with|using) base-?64`)

// maxProse is the length in bytes of the beginning of a description that is read.
const maxProse = 300

// isSegment reports whether a text is one segment of a path, which has no slash.
func (sh *shape) isSegment() bool {
	return slices.ContainsFunc(sh.merged.Values("pattern"), func(k jsonschema.Keyword) bool { return k.Text() == schema.PatternSegment })
}
