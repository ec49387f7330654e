package tree

import (
	"bytes"
	"errors"
	"fmt"
	"io"

	"go.yaml.in/yaml/v4"

	"drawbridge/openapi/pacing"
)

// yamlParser parses YAML 1.2 through yaml.Node into nodes: merge keys and aliases are expanded into copies, so that the
// result is a tree, and scalars are typed as a JSON consumer expects (scalar.go).
type yamlParser struct {
	*reader
	keys  map[string]string   // names repeat thousands of times: keep one copy
	open  map[*yaml.Node]bool // anchored containers that are currently read
	alias int                 // > 0 while the target of an alias is read
}

// yamlNodeCost is the memory of yaml.Node relative to Node, including their data. Since the YAML library builds its
// whole tree before values can be counted, the text is measured beforehand against Limits.Nodes / yamlNodeCost.
const (
	yamlNodeCost = 3
	yamlFlowCost = 4
)

// parseYAML reads the first document of the text.
func (r *reader) parseYAML(data []byte) (*Node, error) {
	if err := r.measureYAML(data); err != nil {
		return nil, err
	}
	loader, err := yaml.NewLoader(&pacedReader{bytes.NewReader(data), r.budget.Pace}, yaml.WithPlugin(&yamlLimits{depth: r.budget.Depth}))
	if err != nil {
		return nil, err
	}
	var doc yaml.Node
	if err := loader.Load(&doc); err != nil {
		if errors.Is(err, io.EOF) {
			return nil, &SyntaxError{Position: Position{File: r.file, Line: 1, Column: 1}, Message: emptyFile}
		}
		return nil, r.yamlError(err)
	}
	top := &doc
	if doc.Kind == yaml.DocumentNode {
		if len(doc.Content) == 0 {
			return nil, &SyntaxError{Position: Position{File: r.file, Line: 1, Column: 1}, Message: emptyFile}
		}
		top = doc.Content[0]
	}
	p := &yamlParser{reader: r, keys: map[string]string{}, open: map[*yaml.Node]bool{}}
	root := r.newRoot(uint32(top.Line), uint32(top.Column))
	if err := p.value(root, top, 0); err != nil {
		return nil, err
	}
	var second yaml.Node
	if loader.Load(&second) == nil {
		r.warn.addAt(Position{File: r.file, Line: second.Line, Column: second.Column}, CodeYAMLDocuments,
			"a second YAML document starts here; only the first is read")
	}
	return root, nil
}

// pacedReader gives the YAML library a little of the text at a time, since it has no other way to yield.
type pacedReader struct {
	text *bytes.Reader
	pace *pacing.Pace
}

func (r *pacedReader) Read(p []byte) (int, error) {
	r.pace.Step()
	return r.text.Read(p[:min(len(p), 256)])
}

// measureYAML limits the number of values without parsing, by counting the characters that can begin one. Prose has
// them too, so the count is rather too high than too low.
func (r *reader) measureYAML(data []byte) error {
	limit := max(r.budget.Nodes/yamlNodeCost, 10_000)
	n, line, start := 0, 1, 0
	flow := 0
	for i, c := range data {
		switch c {
		case '\n':
			line++
			start = i + 1
			n++
		case ',', '[', '{':
			n++
			flow++
		case ':', '-', '?':
			if i+1 == len(data) || data[i+1] <= ' ' {
				n++
			}
		}
		// The text in brackets may turn out to be a key at the closing bracket, so the library keeps all of it in
		// tokens, which cost several times more again.
		if n > limit || flow > limit/yamlFlowCost {
			return &LimitError{
				Position: Position{File: r.file, Line: line, Column: max(i-start+1, 1)},
				Message: fmt.Sprintf("more than about %d values in YAML, or %d in brackets; convert the document to JSON, which may have %d",
					limit, limit/yamlFlowCost, r.budget.Nodes),
			}
		}
	}
	return nil
}

// yamlLimits stops the YAML library early; it implements yaml.LoaderLimitsPlugin.
type yamlLimits struct{ depth int }

var errYAMLDepth = errors.New("nested too deep")

func (l *yamlLimits) CheckDepth(depth int, _ *yaml.DepthContext) error {
	if depth > l.depth+1 {
		return errYAMLDepth
	}
	return nil
}

// CheckAlias allows everything: Load into a yaml.Node expands nothing, and the budget counts expansions.
func (l *yamlLimits) CheckAlias(int, int) error { return nil }

func (r *reader) yamlError(err error) error {
	p := Position{File: r.file, Line: 1, Column: 1}
	what := err.Error()
	if load := (*yaml.LoadError)(nil); errors.As(err, &load) {
		if load.Mark.Line > 0 {
			p.Line, p.Column = load.Mark.Line, max(load.Mark.Column, 1)
		}
		what = load.Message
	}
	if errors.Is(err, errYAMLDepth) || bytes.Contains([]byte(what), []byte(errYAMLDepth.Error())) {
		return r.tooDeep(&Node{line: uint32(p.Line), col: uint32(p.Column)})
	}
	return &SyntaxError{Position: p, Message: "broken YAML: " + what}
}

// value reads y into n.
func (p *yamlParser) value(n *Node, y *yaml.Node, depth int) error {
	if err := p.countNode(n); err != nil {
		return err
	}
	if p.alias > 0 {
		if err := p.countAlias(n); err != nil {
			return err
		}
	}
	if y.Anchor != "" && y.Kind != yaml.ScalarNode {
		p.open[y] = true
		defer delete(p.open, y)
	}
	switch y.Kind {
	case yaml.ScalarNode:
		n.kind, n.text = typeScalar(y)
		if n.kind == String && nonFinite(y) {
			p.warn.add(n, CodeYAMLNumber, "%s has no JSON form; read as text", y.Value)
		}
		if p.alias > 0 {
			// An alias to a long text is free here, but not when the document is encoded.
			return p.budget.addBytes(p.position(n), len(n.text))
		}
		return nil
	case yaml.AliasNode:
		if y.Alias == nil || p.open[y.Alias] {
			return &SyntaxError{Position: p.position(n), Message: fmt.Sprintf("the alias *%s stands inside of what it stands for", y.Value)}
		}
		p.alias++
		err := p.value(n, y.Alias, depth)
		p.alias--
		return err
	case yaml.SequenceNode:
		return p.sequence(n, y, depth+1)
	default: // yaml.MappingNode
		return p.mapping(n, y, depth+1)
	}
}

func (p *yamlParser) countAlias(n *Node) error {
	if p.budget.aliases++; p.budget.aliases > p.budget.Aliases {
		return tooMany(p.position(n), p.budget.Aliases, "values that come from YAML aliases")
	}
	return nil
}

func (p *yamlParser) sequence(n *Node, y *yaml.Node, depth int) error {
	if depth > p.budget.Depth {
		return p.tooDeep(n)
	}
	n.kind = Array
	mark := len(p.arena.stack)
	for i, item := range y.Content {
		kid := p.arena.node()
		kid.up, kid.line, kid.col, kid.index = n, uint32(item.Line), uint32(item.Column), uint32(i)
		if err := p.value(kid, item, depth); err != nil {
			return err
		}
		p.arena.push(kid)
	}
	p.arena.close(n, mark, nil)
	return nil
}

func (p *yamlParser) mapping(n *Node, y *yaml.Node, depth int) error {
	if depth > p.budget.Depth {
		return p.tooDeep(n)
	}
	n.kind = Object
	mark := len(p.arena.stack)
	merges := false
	for i := 0; i+1 < len(y.Content); i += 2 {
		key, value := y.Content[i], y.Content[i+1]
		if isMerge(key) {
			merges = true
			continue
		}
		if err := p.member(n, key, value, depth); err != nil {
			return err
		}
	}
	if merges {
		seen := make(map[string]bool, len(y.Content))
		for _, kid := range p.arena.stack[mark:] {
			seen[kid.key] = true
		}
		p.alias++
		err := p.mergeInto(n, y, seen, depth)
		p.alias--
		if err != nil {
			return err
		}
	}
	p.arena.close(n, mark, p.warn.duplicate)
	return nil
}

// member reads one member of n onto the stack.
func (p *yamlParser) member(n *Node, key, value *yaml.Node, depth int) error {
	if key.Kind == yaml.AliasNode && key.Alias != nil {
		key = key.Alias
	}
	if key.Kind != yaml.ScalarNode {
		p.warn.addAt(Position{File: p.file, Line: key.Line, Column: key.Column}, CodeYAMLKey,
			"a list or mapping as the name of a member has no JSON form; left out")
		return nil
	}
	kid := p.arena.node()
	kid.up, kid.line, kid.col = n, uint32(key.Line), uint32(key.Column)
	kid.key = p.name(key.Value)
	if err := p.noteKey(kid); err != nil {
		return err
	}
	if err := p.value(kid, value, depth); err != nil {
		return err
	}
	p.arena.push(kid)
	return nil
}

func (p *yamlParser) name(s string) string {
	if k, ok := p.keys[s]; ok {
		return k
	}
	p.keys[s] = s
	return s
}

func isMerge(key *yaml.Node) bool {
	return key.Kind == yaml.ScalarNode && key.Value == "<<" &&
		key.Style&(yaml.SingleQuotedStyle|yaml.DoubleQuotedStyle) == 0
}

// mergeInto adds the members from the merge keys of mapping y that seen doesn't have yet
// (https://yaml.org/type/merge.html): a mapping's own members win, then earlier sources over later ones.
func (p *yamlParser) mergeInto(n *Node, y *yaml.Node, seen map[string]bool, depth int) error {
	for i := 0; i+1 < len(y.Content); i += 2 {
		if isMerge(y.Content[i]) {
			if err := p.mergeFrom(n, y.Content[i+1], seen, depth); err != nil {
				return err
			}
		}
	}
	return nil
}

func (p *yamlParser) mergeFrom(n *Node, source *yaml.Node, seen map[string]bool, depth int) error {
	at := &Node{line: uint32(source.Line), col: uint32(source.Column)}
	if depth > p.budget.Depth {
		return p.tooDeep(at)
	}
	if err := p.countAlias(at); err != nil {
		return err
	}
	if source.Kind == yaml.AliasNode && source.Alias != nil {
		source = source.Alias
	}
	if p.open[source] {
		return &SyntaxError{Position: p.position(at), Message: "a merge key \"<<\" stands inside of what it merges"}
	}
	switch source.Kind {
	case yaml.SequenceNode:
		for _, item := range source.Content {
			if err := p.mergeFrom(n, item, seen, depth+1); err != nil {
				return err
			}
		}
		return nil
	case yaml.MappingNode:
		p.open[source] = true
		defer delete(p.open, source)
		for i := 0; i+1 < len(source.Content); i += 2 {
			key := source.Content[i]
			// Counted even if nothing is added: the work is the cost.
			if err := p.countAlias(at); err != nil {
				return err
			}
			if isMerge(key) || seen[key.Value] {
				continue
			}
			if err := p.member(n, key, source.Content[i+1], depth); err != nil {
				return err
			}
		}
		for i := 0; i+1 < len(source.Content); i += 2 {
			seen[source.Content[i].Value] = true
		}
		return p.mergeInto(n, source, seen, depth+1)
	default:
		p.warn.addAt(p.position(at), CodeYAMLMerge, "\"<<\" merges mappings only; ignored")
		return nil
	}
}
