package toolsearch

import (
	"encoding/json"

	"drawbridge/gateway/catalog"
)

// maxDescribed is the most tools that are described at once.
const maxDescribed = 10

// Describe answers describe_tools: a text for each name, which is the tool's definition as in tools/list for clients with
// the features f, or says that there is no such tool. found is the number of definitions. The error is an [*ArgumentError].
func (s *Scope) Describe(args json.RawMessage, f catalog.Features) (texts [][]byte, found int, err error) {
	a := newArguments(args)
	names := a.texts("names", maxDescribed)
	if err := a.err(); err != nil {
		return nil, 0, err
	}
	for _, name := range names {
		t := s.lookup(name)
		if t == nil {
			texts = append(texts, []byte(s.Unknown(name)))
			continue
		}
		texts = append(texts, t.Definition(f))
		found++
	}
	return texts, found, nil
}
