package schema

import (
	"cmp"
	"slices"
	"strings"

	"drawbridge/openapi/text"
	"drawbridge/openapi/tree"
)

// Bounds of what is said of the values of an enum, in characters.
const (
	maxMeaning  = 160 // of one value
	maxMeanings = 700 // of all of them
)

// meanings returns a sentence with the meanings of the values of an enum; "" if the document has none, or text explains them already.
// The standard has no keyword for them, but generators have extensions: x-enumNames (NSwag), x-enum-varnames and
// x-enum-descriptions (OpenAPI Generator), x-enumDescriptions (Redoc), x-ms-enum (AutoRest).
func meanings(n *tree.Node, text string) string {
	if n.Get("enum").Len() == 0 || !slices.ContainsFunc(slices.Concat(valueNames, valueDescriptions, []string{"x-ms-enum"}), func(extension string) bool { return n.Get(extension) != nil }) {
		return ""
	}
	values := enumValues(n.Get("enum"))
	names := wordsOf(n, values, valueNames...)
	descriptions := wordsOf(n, values, valueDescriptions...)
	addVariants(n.Get("x-ms-enum").Get("values"), values, names, descriptions)
	var b strings.Builder
	said := true
	for i, v := range values {
		value, name, description := v.text, names[i], descriptions[i]
		if sameWords(name, value) {
			name = ""
		}
		if sameWords(description, value) || sameWords(description, name) {
			description = ""
		}
		meaning := name
		switch {
		case name == "":
			meaning = description
		case description != "":
			meaning += " (" + description + ")"
		}
		if meaning == "" || unclean(value) {
			continue
		}
		said = said && strings.Contains(text, value) && strings.Contains(text, name) && strings.Contains(text, description)
		meaning = value + " = " + meaning
		if b.Len()+len(meaning) > maxMeanings {
			b.WriteString(", …")
			break
		}
		if b.Len() > 0 {
			b.WriteString(", ")
		}
		b.WriteString(meaning)
	}
	if b.Len() == 0 || said {
		return ""
	}
	return "Values: " + b.String() + "."
}

// The extensions that name and describe the values of an enum.
var (
	valueNames        = []string{"x-enumNames", "x-enum-varnames"}
	valueDescriptions = []string{"x-enum-descriptions", "x-enumDescriptions"}
)

// enumValue is a value of an enum as a model writes it.
type enumValue struct {
	text string
	at   int // in the enum
}

// enumValues returns the values of an enum but for null, which some generators give no name.
func enumValues(enum *tree.Node) (values []enumValue) {
	for i, v := range enum.Items() {
		if v.Kind() != tree.Null {
			values = append(values, enumValue{valueText(v), i})
		}
	}
	return values
}

func valueText(v *tree.Node) string {
	if v.Kind() == tree.String {
		return text.TruncateWords(v.Text(), maxMeaning)
	}
	return text.TruncateWords(string(v.AppendJSON(nil)), maxMeaning)
}

// wordsOf returns what the first of the extensions that is there says of each value: by value, or in a list, which is not for this
// enum if it has another length.
func wordsOf(n *tree.Node, values []enumValue, extensions ...string) []string {
	words := make([]string, len(values))
	for _, extension := range extensions {
		switch e := n.Get(extension); {
		case e.Kind() == tree.Object:
			for i, v := range values {
				words[i] = meaningOf(e.Get(v.text))
			}
			return words
		case e.Kind() == tree.Array && e.Len() == n.Get("enum").Len():
			for i, v := range values {
				words[i] = meaningOf(e.At(v.at))
			}
			return words
		case e.Kind() == tree.Array && e.Len() == len(values):
			for i := range values {
				words[i] = meaningOf(e.At(i))
			}
			return words
		}
	}
	return words
}

// addVariants adds what the values of x-ms-enum say to what isn't said yet.
func addVariants(variants *tree.Node, values []enumValue, names, descriptions []string) {
	if variants.Kind() != tree.Array {
		return
	}
	places := make(map[string]int, len(values))
	for i, v := range slices.Backward(values) {
		places[v.text] = i // the first that reads so
	}
	for _, variant := range variants.Items() {
		i, ok := places[valueText(variant.Get("value"))]
		if !ok {
			continue
		}
		names[i] = cmp.Or(names[i], meaningOf(variant.Get("name")))
		descriptions[i] = cmp.Or(descriptions[i], meaningOf(variant.Get("description")))
	}
}

// meaningOf returns a text in one line, without its full stop.
func meaningOf(n *tree.Node) string {
	return strings.TrimRight(text.TruncateWords(strings.Join(strings.Fields(Prose(n.Text(), 0)), " "), maxMeaning), ". ")
}
