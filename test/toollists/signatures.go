package main

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"drawbridge/gateway/catalog"
	"drawbridge/gateway/finder"
	"drawbridge/gateway/tokenizer"
	"drawbridge/gateway/toolsearch"
	"drawbridge/openapi"
	"drawbridge/openapi/jsonschema"
)

// required are the required arguments of tools, by how they are in the signatures.
type required struct{ all, typed, named int }

func (r *required) add(other required) {
	r.all += other.all
	r.typed += other.typed
	r.named += other.named
}

// signatures prints what signatures and descriptions of the tools of the corpus cost, and which required arguments signatures have.
func (s *settings) signatures() error {
	files, err := s.documents()
	if err != nil {
		return err
	}
	measured := 0
	var tokens, described, together, schemas, schemasTogether, counted []int
	var first, deeper required
	for _, file := range files {
		api, err := compile(file)
		if err != nil {
			fmt.Printf("skipped: %s\n", filepath.Base(file))
			continue
		}
		measured++
		c := catalog.Build([]catalog.API{api}, catalog.Options{})
		scope := &toolsearch.Scope{Tools: c.All(), Index: func() *finder.Index { return finder.OfTools(c.All(), nil) }, Allowed: func(*catalog.Tool) bool { return true }}
		for _, t := range c.All() {
			signature := t.Signature()
			tokens = append(tokens, tokenizer.Count([]byte(signature)))
			if strings.Contains(signature, "…+") {
				counted = append(counted, 1)
			}
			one, below := coverage(t, signature)
			if s.missing && one.named+below.named < one.all+below.all {
				fmt.Println(signature)
			}
			first.add(one)
			deeper.add(below)
			for format, list := range map[string]*[]int{"typescript": &described, "schema": &schemas} {
				n, err := describe(scope, map[string]any{"names": []string{t.Name}, "format": format})
				if err != nil {
					return err
				}
				*list = append(*list, n)
			}
		}
		for several := range slices.Chunk(c.All(), 10) {
			var names []string
			for _, t := range several {
				names = append(names, t.Name)
			}
			for format, list := range map[string]*[]int{"typescript": &together, "schema": &schemasTogether} {
				n, err := describe(scope, map[string]any{"names": names, "answers": true, "format": format})
				if err != nil {
					return err
				}
				*list = append(*list, n)
			}
		}
	}
	fmt.Printf("| signatures and descriptions of %d tools of %d documents | | goal | |\n|---|---|---|---|\n", len(tokens), measured)
	s.row("tokens of a signature, median", float64(quantile(tokens, 50)), 90, "%.0f")
	fmt.Printf("| tokens of a signature, p99 and largest | %d, %d | – | |\n", quantile(tokens, 99), slices.Max(tokens))
	share := func(n int, r required) float64 { return 100 * float64(r.all-n) / float64(max(r.all, 1)) }
	s.row(fmt.Sprintf("of %d required arguments, not in the signature with their types, in %%", first.all), share(first.typed, first), 0.1, "%.2f")
	s.row(fmt.Sprintf("of %d required members below them, not in the signature, in %%", deeper.all), share(deeper.named, deeper), 2, "%.2f")
	both := first
	both.add(deeper)
	s.row(fmt.Sprintf("of all these %d, not in the signature, in %%", both.all), share(both.named, both), 2, "%.2f")
	fmt.Printf("| signatures with optional arguments that are counted | %d | – | |\n", len(counted))
	fmt.Printf("| tokens of describe_tools with schemas, median and p99 | %d, %d | – | |\n", quantile(schemas, 50), quantile(schemas, 99))
	s.row("tokens of describe_tools with schemas, largest", float64(slices.Max(schemas)), 4000, "%.0f")
	s.row("tokens of describe_tools with schemas for 10 tools with answers, largest", float64(slices.Max(schemasTogether)), 4000, "%.0f")
	fmt.Printf("| tokens of describe_tools, median and p99 | %d, %d | – | |\n", quantile(described, 50), quantile(described, 99))
	s.row("tokens of describe_tools, largest", float64(slices.Max(described)), 4000, "%.0f")
	fmt.Printf("| tokens of describe_tools for 10 tools with answers, median and p99 | %d, %d | – | |\n", quantile(together, 50), quantile(together, 99))
	s.row("tokens of describe_tools for 10 tools with answers, largest", float64(slices.Max(together)), 4000, "%.0f")
	fmt.Println()
	return nil
}

// describe returns the tokens of an answer of describe_tools.
func describe(scope *toolsearch.Scope, arguments map[string]any) (tokens int, err error) {
	args, err := json.Marshal(arguments)
	if err != nil {
		return 0, err
	}
	texts, _, err := scope.Describe(args, catalog.AllFeatures)
	for _, text := range texts {
		tokens += tokenizer.Count(text)
	}
	return tokens, err
}

func quantile(all []int, percent int) int {
	sorted := slices.Sorted(slices.Values(all))
	return sorted[(len(sorted)-1)*percent/100]
}

// coverage returns how the required arguments of a tool are in its signature: those of the first level, and those below them.
func coverage(t *catalog.Tool, signature string) (first, deeper required) {
	input, _ := t.Published(openapi.ProfileFull)
	_, text, _ := strings.Cut(signature, "(")
	shown := readMembers(&text)
	root := jsonschema.Parse(input)
	var below func(s *jsonschema.Schema, shown []*member, depth int) required
	below = func(s *jsonschema.Schema, shown []*member, depth int) (r required) {
		for depth < 4 && len(jsonschema.Merge(s).First("items").Parts) > 0 {
			s = jsonschema.Merge(s).First("items").Schema()
		}
		if depth == 4 {
			return r
		}
		for _, m := range s.Members() {
			if !m.Required {
				continue
			}
			r.all++
			var inner []*member
			if i := slices.IndexFunc(shown, func(of *member) bool { return of.name == m.Name }); i >= 0 {
				r.named++
				if inner = shown[i].members; shown[i].typed {
					r.typed++
				}
			}
			more := below(m.Schema, inner, depth+1)
			if depth == 0 {
				deeper.add(more)
			} else {
				r.add(more)
			}
		}
		return r
	}
	first = below(root, shown, 0)
	return first, deeper
}

// member is one of a signature.
type member struct {
	name    string
	typed   bool
	members []*member
}

// readMembers reads the members of an object in a signature up to its end, and moves the text behind it.
func readMembers(text *string) (all []*member) {
	for *text != "" {
		*text = strings.TrimLeft(*text, ", ")
		name := ""
		if strings.HasPrefix(*text, `"`) {
			d := json.NewDecoder(strings.NewReader(*text))
			if d.Decode(&name) != nil {
				return all
			}
			*text = (*text)[d.InputOffset():]
		} else {
			end := strings.IndexAny(*text, "?:,)}] ")
			if end < 0 {
				return all
			}
			name, *text = (*text)[:end], (*text)[end:]
		}
		m := &member{name: name}
		*text = strings.TrimPrefix(*text, "?")
		if strings.HasPrefix(*text, ":") {
			m.typed = true
		}
		all = append(all, m)
		if !m.readType(text) {
			return all
		}
	}
	return all
}

// readType reads the type of a member, and reports whether another member follows.
func (m *member) readType(text *string) (more bool) {
	for depth := 0; *text != ""; {
		c := (*text)[0]
		switch {
		case c == '"':
			d := json.NewDecoder(strings.NewReader(*text))
			var s string
			if d.Decode(&s) != nil {
				return false
			}
			*text = (*text)[d.InputOffset():]
			continue
		case c == '{':
			*text = (*text)[1:]
			m.members = append(m.members, readMembers(text)...)
			continue
		case c == '(':
			depth++
		case c == ')' && depth > 0:
			depth--
		case c == ')', c == '}':
			*text = (*text)[1:]
			return false
		case c == ',' && depth == 0:
			*text = (*text)[1:]
			return true
		}
		*text = (*text)[1:]
	}
	return false
}
