package catalog

import (
	"strings"
	"unicode"

	"drawbridge/openapi"
	"drawbridge/openapi/text"
)

// maxAside is the maximum number of characters of an id or a tag in a description.
const maxAside = 80

// describeAll describes the candidates that become tools. If several of an API would have the same
// description, each gets its first tag, unless others have the same, or else its method and path,
// so that a model can distinguish them.
func describeAll(candidates []*candidate, pace *openapi.Pace) {
	type key struct{ api, description string }
	same := make(map[key][]*candidate, len(candidates))
	for _, c := range candidates {
		if !c.exposed {
			continue
		}
		pace.Step()
		c.said = describe(c.shown(), c.choice, "")
		c.description = c.said
		if c.choice.Description != "" {
			continue
		}
		k := key{c.api, c.said}
		same[k] = append(same[k], c)
	}
	for _, group := range same {
		tags := map[string]int{}
		if len(group) > 1 {
			for _, c := range group {
				tags[firstTag(c.op)]++
			}
		}
		for _, c := range group {
			aside := c.lostID()
			switch tag := firstTag(c.op); {
			case len(group) == 1:
			case tag != "" && tags[tag] == 1:
				aside = join(aside, sentence("Tag: "+tag))
			default:
				aside = join(aside, sentence(text.TruncateWords(endpoint(c.op), maxDescription/4)))
			}
			if aside != "" {
				c.description = describe(c.shown(), c.choice, aside)
			}
		}
	}
}

// lostID returns a sentence with the operation's id if neither the tool's name, which is in other
// letters, nor the description contains it; else "".
func (c *candidate) lostID() string {
	id := oneLine(clean(c.op.ID))
	if c.choice.Name != "" || !strings.ContainsFunc(id, unicode.IsLetter) || strings.Contains(c.said, id) {
		return ""
	}
	if _, lost := transliterated(id); !lost {
		return ""
	}
	return sentence("Operation " + text.TruncateWords(id, maxAside))
}

func firstTag(op *openapi.Operation) string {
	if len(op.Tags) == 0 {
		return ""
	}
	return text.TruncateWords(oneLine(clean(op.Tags[0])), maxAside)
}

func join(a, b string) string { return strings.TrimLeft(a+" "+b, " ") }
