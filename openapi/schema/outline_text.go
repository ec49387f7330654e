package schema

import (
	"fmt"
	"slices"
	"strings"

	"drawbridge/openapi/jsonscan"
	"drawbridge/openapi/jsonschema"
)

// text returns the description: the schema's own, what kind of text an object is given as, and what the profile has no
// keywords for.
func (o *outline) text(c cut, level int, asText string) string {
	limit := maxDescription
	if c.short {
		limit = maxShortText
	}
	about := o.about
	if about == "" {
		about = o.title
	}
	if level > int(c.text) {
		return Clean(asText, limit)
	}
	notes := slices.Clone(o.notes)
	if asText != "" {
		notes = slices.Insert(notes, 0, asText)
	}
	if o.others != "" {
		if len(o.members) == 0 {
			notes = append(notes, "Its members: "+o.others+".")
		} else {
			notes = append(notes, "Other members: "+o.others+".")
		}
	}
	if asText == "" {
		notes = append(notes, o.otherTypes()...)
	}
	notes = append(notes, o.bounds()...)
	if kind := o.pick(); o.format != "" && !(portableFormat(kind, o.format) && len(o.values) == 0) {
		notes = append(notes, "Format: "+o.format+".")
	}
	if o.null {
		notes = append(notes, "May be null.")
	}
	rest := strings.Join(notes, " ")
	if about == "" {
		return Clean(rest, limit)
	}
	about = Clean(about, max(limit-len(rest)-1, limit/2))
	if last := about[max(0, len(about)-1)]; rest != "" && (last >= 'a' && last <= 'z' || last >= 'A' && last <= 'Z' || last >= '0' && last <= '9' || last == ')') {
		about += "."
	}
	return Clean(about+" "+rest, limit)
}

// otherTypes names the types that are allowed beside the one that is published.
func (o *outline) otherTypes() []string {
	var notes []string
	kind := o.pick()
	for t := stringType; t < nullType; t <<= 1 {
		if o.types&t != 0 && t != kind && !(t == integerType && o.types&numberType != 0) {
			notes = append(notes, "Or "+(&outline{types: t}).phrase()+".")
		}
	}
	return notes
}

// bounds puts bounds into words.
func (o *outline) bounds() []string {
	var notes []string
	add := func(low, high, unit string) {
		if last := max(low, high); last == "1" {
			unit = strings.TrimSuffix(unit, "s")
		}
		switch {
		case low == "" && high == "", low == "0" && high == "":
		case low != "" && low == high:
			notes = append(notes, fmt.Sprintf("Exactly %s%s.", low, unit))
		case low != "" && high != "":
			notes = append(notes, fmt.Sprintf("%s to %s%s.", low, high, unit))
		case low != "":
			notes = append(notes, fmt.Sprintf("At least %s%s.", low, unit))
		default:
			notes = append(notes, fmt.Sprintf("At most %s%s.", high, unit))
		}
	}
	low, high := o.low, o.high
	if o.above {
		notes = append(notes, "Above "+low+".")
		low = ""
	}
	if o.below {
		notes = append(notes, "Below "+high+".")
		high = ""
	}
	if low == "0" && high == "" {
		notes = append(notes, "At least 0.")
	}
	add(low, high, "")
	add(o.shortest, o.longest, " characters")
	add(o.fewest, o.most, " items")
	add(o.fewestNames, o.mostName, " members")
	for _, sets := range o.choices {
		if text := o.choice(sets); text != "" {
			notes = append(notes, text)
		}
	}
	return notes
}

// choice describes the members of which a caller must give one set, besides those that all alternatives require.
func (o *outline) choice(sets [][]string) string {
	var texts []string
	for _, set := range sets {
		var more []string
		for _, name := range set {
			if !slices.Contains(o.required, name) {
				more = append(more, name)
			}
		}
		if len(more) == 0 {
			return ""
		}
		if text := strings.Join(more, " and "); !slices.Contains(texts, text) {
			texts = append(texts, text)
		}
	}
	if len(texts) > maxAllowed {
		return ""
	}
	return "Give " + strings.Join(texts, ", or ") + "."
}

// keywordNote puts a keyword that has no place in the profile into words.
func keywordNote(k jsonschema.Keyword) string {
	const most = 100
	switch value := k.Value; k.Name {
	case "uniqueItems":
		return "No item twice."
	case "deprecated":
		return "Deprecated."
	case "contentEncoding":
		return "Encoded in " + k.Text() + "."
	case "multipleOf":
		return "A multiple of " + string(value) + "."
	case "pattern":
		if text := k.Text(); len(text) <= 2*most && ownPatterns[text] == nil {
			return "Matches `" + text + "`."
		}
	case "default":
		if len(value) <= most {
			return "Default: " + string(value) + "."
		}
	case "examples":
		for item := range jsonscan.Elements(value) {
			if len(item) <= most {
				return "Example: " + string(item) + "."
			}
			break
		}
	}
	return ""
}

// phrase names an alternative that is not published.
func (o *outline) phrase() string {
	switch kind := o.pick(); kind {
	case objectType:
		if len(o.members) > 0 {
			return "an object with " + joinNames(o.names(), 6)
		}
		return "an object"
	case arrayType:
		return "an array"
	case integerType:
		return "an integer"
	case booleanType:
		return "true or false"
	default:
		return "a " + kind.names()[0]
	}
}

func (o *outline) names() []string {
	var names []string
	for _, m := range o.members {
		names = append(names, m.name)
	}
	return names
}

// asText asks for an object as JSON text.
func (o *outline) asText() string {
	if len(o.members) == 0 {
		return `A JSON object.`
	}
	return "A JSON object with " + joinNames(o.names(), 12) + "."
}

// brief names the type of a schema.
func brief(s *jsonschema.Schema) string {
	k := s.Keyword("type")
	switch words := k.Texts(); {
	case words == nil:
		return "anything"
	case jsonscan.KindOf(k.Value) == jsonscan.Array:
		return typeList(words)
	default:
		return words[0]
	}
}

// joinNames lists a few names: "a, b, c and 4 more".
func joinNames(names []string, most int) string {
	if len(names) <= most {
		return strings.Join(names, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(names[:most], ", "), len(names)-most)
}
