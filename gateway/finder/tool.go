package finder

import (
	"slices"
	"strings"
)

// Tool holds the indexed texts of a tool. Texts may be empty and lists nil; they are read once and not kept.
type Tool struct {
	// Name is the name that clients call the tool by. It breaks ties between equal scores.
	Name string
	// ID is the operationId; Name is used instead if it is empty.
	ID string
	// API is the name of the API.
	API string
	// Method is the HTTP method in capitals, Path the path template.
	Method, Path string
	// Summary and Description are plain text.
	Summary, Description string
	// Configured has the texts that the operator has set. They are indexed beside those of the document.
	Configured Configured
	Tags       []string
	// Parameters are the names of arguments and of properties of the body, Explained their descriptions.
	Parameters, Explained []string
	// Properties are the names of properties in the response.
	Properties []string
	// Values are the values of enums in the arguments.
	Values []string
	// Kinds are those of Values that say what a thing is, and those of the other tools of its path.
	Kinds []string
}

// Configured are the name, title and description that an operator has set.
type Configured struct{ Name, Title, Description string }

// field is a part of a tool with a weight of its own.
type field uint8

const (
	fieldName field = iota
	fieldSummary
	fieldDescription
	fieldPath
	fieldTag
	fieldParameter
	fieldProperty
	fieldValue
	fieldExplained
	fieldAPI
	fields // number of fields
)

// weights are the weights of the fields. They were chosen on public query sets and are flat around these values
// (docs/contributing/finding.md).
var weights = [fields]float64{
	fieldName: 2.5, fieldSummary: 3, fieldDescription: 0.8, fieldPath: 2, fieldTag: 1.2, fieldParameter: 0.5, fieldProperty: 0.4,
	fieldValue: 0.3, fieldExplained: 0.2, fieldAPI: 1.2,
}

const (
	// maxDescription and maxExplained limit how much of long texts is indexed, in bytes: the beginning states the
	// purpose of a tool, and the rest its exceptions.
	maxDescription = 600
	maxExplained   = 1500
	// maxSummary limits, in bytes, how much of a description counts as a summary: of one that the operator has set, or of
	// the first sentence of the document's if there is no summary.
	maxSummary = 300
	// maxFrequency is the number of occurrences beyond which a word adds nothing.
	maxFrequency = 3
)

// texts returns the texts of a field.
func (t *Tool) texts(f field) []string {
	switch f {
	case fieldName:
		if t.ID != "" {
			return []string{t.ID, t.Configured.Name}
		}
		return []string{t.Name}
	case fieldSummary:
		summary := t.Summary
		if summary == "" {
			summary, _, _ = strings.Cut(prefix(t.Description, maxSummary), ". ")
		}
		return []string{summary, t.Configured.Title, prefix(t.Configured.Description, maxSummary)}
	case fieldDescription:
		return []string{prefix(t.Description, maxDescription)}
	case fieldPath:
		return t.segments()
	case fieldTag:
		return t.Tags
	case fieldParameter:
		return t.Parameters
	case fieldProperty:
		return t.Properties
	case fieldValue:
		return slices.Concat(t.Values, t.Kinds)
	case fieldExplained:
		left, all := maxExplained, []string(nil)
		for _, text := range t.Explained {
			if left <= 0 {
				break
			}
			all = append(all, prefix(text, left))
			left -= len(text)
		}
		return all
	case fieldAPI:
		return []string{t.API}
	default:
		return nil
	}
}

// prefix returns at most n bytes of a text, and no incomplete character.
func prefix(text string, n int) string {
	if len(text) <= n {
		return text
	}
	for n > 0 && text[n]&0xC0 == 0x80 {
		n--
	}
	return text[:n]
}
