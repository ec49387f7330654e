package toolsearch

import (
	"fmt"
	"strings"

	"drawbridge/openapi/text"
)

// maxInstructions is the maximum length of instructions in bytes.
const maxInstructions = 4096

// Instructions returns the instructions of a server whose list stands for the tools of the scope: those of the operator,
// then what APIs there are and how to find and call their tools, as far as that fits in 4,096 bytes.
func (s *Scope) Instructions(operators string) string {
	apis, total := s.counts(apiOf), 0
	for _, api := range apis {
		total += api.Tools
	}
	if operators != "" {
		operators += "\n\n"
	}
	for shown := len(apis); shown > 0; shown /= 2 {
		if text := operators + instructions(apis, total, shown); len(text) <= maxInstructions {
			return text
		}
	}
	return strings.TrimSuffix(operators, "\n\n")
}

func instructions(apis []count, total, shown int) string {
	names := make([]string, len(apis))
	for i, api := range apis {
		names[i] = api.Name
	}
	of := "the API " + names[0]
	if len(apis) > 1 {
		of = fmt.Sprintf("%d APIs: %s", len(apis), text.List(names, shown))
	}
	return fmt.Sprintf("This server has %d tools of %s. Its list shows only a few: find the others with %s, which knows every tool, "+
		"and see %s for all of their arguments. Call what you found with %s if it is read-only, else with %s. "+
		"Both take select, the fields of the answer that you need: items[0:20].id,items[0:20].owner.name,total.", total, of, Search, Describe, Read, Call)
}
