package readiness

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"drawbridge/openapi/jsonscan"
)

// maxSelected is the number of operations that the lines for the configuration name.
const maxSelected = 200

// settings returns lines for the configuration: what an overlay must not or can't say. That a POST only reads is a
// promise of the operator (docs/extensions.md), that a service takes more than the document declares is known to them alone, and fields of
// an answer are chosen by the gateway.
func (a *Assessment) settings(api string) (lines []string) {
	ids := map[string]int{}
	for _, s := range a.subjects {
		ids[s.Operation.ID]++
	}
	for _, kind := range []struct {
		code Code
		set  string
	}{
		{ReadByPost, "{annotations: {read_only: true}}"},
		{TypeDoubtful, "{validation: lenient}"},
		{FieldChoiceMissing, "{result: {select_argument: true}}"},
	} {
		var selected []string
		for _, s := range a.subjects {
			if len(selected) < maxSelected && slices.ContainsFunc(s.findings, func(f found) bool { return f.code == kind.code }) {
				if selector := s.selector(api, ids[s.Operation.ID] == 1); selector != "" {
					selected = append(selected, selector)
				}
			}
		}
		for _, match := range selected {
			lines = append(lines, fmt.Sprintf("  - {match: %s, set: %s}", match, kind.set))
		}
	}
	if len(lines) > 0 {
		lines = slices.Insert(lines, 0, "rules:")
	}
	return lines
}

// selector returns the selector of an operation in a rule, "" if there is none that selects it alone. unique reports that no other operation
// has its operationId.
func (s *subject) selector(api string, unique bool) string {
	const wildcards = "*?[\\"
	switch id := s.Operation.ID; {
	case unique && id != "" && !strings.ContainsAny(id, wildcards):
		return fmt.Sprintf("{api: %s, operation: %s}", yamlText(api), yamlText(id))
	case strings.ContainsAny(s.Operation.Path, wildcards):
		return ""
	}
	return fmt.Sprintf("{api: %s, method: %s, path: %s}", yamlText(api), s.Operation.Method, yamlText(s.Operation.Path))
}

var plainScalar = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9_.-]*$`)

// yamlText returns a text as a scalar of YAML.
func yamlText(text string) string {
	if plainScalar.MatchString(text) && !slices.Contains([]string{"true", "false", "null", "yes", "no", "on", "off", "y", "n"}, strings.ToLower(text)) {
		return text
	}
	return string(jsonscan.AppendString(nil, text))
}
