package discovery

import (
	"encoding/json"
	"net/url"
	"slices"
	"strings"
)

// LinkSet is a link set in JSON (RFC 9264 section 4.2) with the relations that an API catalog (RFC 9727) has.
type LinkSet struct {
	Contexts []LinkContext `json:"linkset"`
}

// LinkContext is the links of one resource.
type LinkContext struct {
	Anchor      string `json:"anchor"`
	ServiceDesc []Link `json:"service-desc"`
	Item        []Link `json:"item"`
}

// Link is one link.
type Link struct {
	Href string `json:"href"`
	Type string `json:"type"`
}

// serviceDescriptions returns the references with the relation service-desc in the link set of an API catalog: those of the API
// with this base URL first.
func serviceDescriptions(text []byte, base *url.URL) []string {
	var set LinkSet
	if json.Unmarshal(text, &set) != nil {
		return nil
	}
	var own, others []string
	for _, context := range set.Contexts {
		for _, link := range context.ServiceDesc {
			if anchor, err := base.Parse(context.Anchor); err == nil && strings.TrimSuffix(anchor.Path, "/") == base.Path {
				own = append(own, link.Href)
			} else {
				others = append(others, link.Href)
			}
		}
	}
	return slices.Concat(own, others)
}

// linksTo returns the targets of the links with a relation in the fields of a Link header (RFC 8288 section 3).
func linksTo(fields []string, relation string) (targets []string) {
	for _, field := range fields {
		for rest := field; ; {
			_, after, ok := strings.Cut(rest, "<")
			target, parameters, closed := strings.Cut(after, ">")
			if !ok || !closed {
				break
			}
			// The parameters end where the next link begins; a comma in a quoted value ends none.
			parameters, rest = cutUnquoted(parameters, ',')
			if slices.Contains(strings.Fields(strings.ToLower(linkParameter(parameters, "rel"))), relation) {
				targets = append(targets, target)
			}
		}
	}
	return targets
}

// linkParameter returns the first value of a parameter of a link.
func linkParameter(parameters, name string) string {
	for parameters != "" {
		var one string
		one, parameters = cutUnquoted(parameters, ';')
		key, value, _ := strings.Cut(one, "=")
		if strings.EqualFold(strings.TrimSpace(key), name) {
			return strings.Trim(strings.TrimSpace(value), `"`)
		}
	}
	return ""
}

// cutUnquoted cuts a text around the first separator that is not within quotes.
func cutUnquoted(text string, separator byte) (before, after string) {
	quoted := false
	for i := range len(text) {
		switch {
		case text[i] == '"':
			quoted = !quoted
		case text[i] == separator && !quoted:
			return text[:i], text[i+1:]
		}
	}
	return text, ""
}
