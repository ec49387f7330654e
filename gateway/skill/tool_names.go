package skill

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"drawbridge/config"
	"drawbridge/gateway/call"
	"drawbridge/openapi/text"
)

// codeSpan matches a name between backquotes, as the text of a skill writes the names of tools.
var codeSpan = regexp.MustCompile("`([A-Za-z][A-Za-z0-9]*(?:[_.-][A-Za-z0-9]+)+)`")

// CheckTools returns the tools that skills name and the endpoint does not have: an allowed-tools that matches no tool, and names that are
// nearly those of tools. Skills may also name tools of hosts. builtin are the names of the built-in tools.
func (s *Set) CheckTools(e *call.Endpoint, builtin []string) (all config.Problems) {
	names := slices.Sorted(maps.Keys(e.Tools))
	isTool := func(name string) bool {
		return e.Tools[name] != nil || slices.Contains(builtin, name)
	}
	for _, one := range s.All {
		content := one.Content()
		report := func(at config.Problem, format string, args ...any) {
			at.Message = fmt.Sprintf(format, args...)
			all = append(all, at)
		}
		matched := false
		for _, allowed := range content.AllowedTools {
			name := toolName(allowed)
			if isTool(name) {
				matched = true
			} else if near := text.Nearest(name, names); near != "" {
				report(content.At("allowed-tools"), "there is no tool %q%s", name, text.DidYouMean(near))
			}
		}
		if len(content.AllowedTools) > 0 && !matched {
			report(content.At("allowed-tools"), "matches no tool of this gateway")
		}
		reported := map[string]bool{}
		for _, span := range codeSpan.FindAllSubmatchIndex(content.Text, -1) {
			name := string(content.Text[span[2]:span[3]])
			if near := text.Nearest(name, names); near != "" && !isTool(name) && !reported[name] {
				reported[name] = true
				report(content.AtText(span[2]), "the text names the tool %q, which does not exist%s", name, text.DidYouMean(near))
			}
		}
	}
	return all
}

// toolName returns the name in an item of allowed-tools, without the arguments that it allows and the server that hosts put in front.
func toolName(allowed string) string {
	name, _, _ := strings.Cut(allowed, "(")
	if rest, ok := strings.CutPrefix(name, "mcp__"); ok {
		if _, tool, ok := strings.Cut(rest, "__"); ok {
			return tool
		}
	}
	return strings.TrimSuffix(name, ",")
}
