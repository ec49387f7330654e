package projection

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"drawbridge/openapi/jsonscan"
	"drawbridge/openapi/text"
)

// Limits of a field list, which comes from a model.
const (
	// MaxFieldList is the maximum length of a list in bytes.
	MaxFieldList = 4096
	// maxPaths is the maximum number of paths, maxPathDepth that of the names in one.
	maxPaths, maxPathDepth = 100, 32
	// maxNodes bounds the states of a list with wildcards, whose combinations can multiply.
	maxNodes = 2000
)

// A FieldList selects the fields of an answer by their paths. It is immutable.
type FieldList struct {
	paths []fieldPath
	nodes []fieldNode // nodes[0] is the root
}

// fieldPath is one path of a list.
type fieldPath struct {
	text string   // as it was written
	path []string // its names
	wild []bool   // the name is *, which stands for every member
	// slices are those of the arrays before each name and behind the last one: of an array, of the arrays in it, and so on.
	slices [][]slice
}

// fieldNode is a place in an answer, with the paths that lead on from it.
type fieldNode struct {
	whole    bool           // the value is selected with all that it holds
	children map[string]int // nodes by the names of members
	any      int            // node of members with any other name, or 0
	ends     []int          // the paths that end here
	open     []int          // the paths that lead through here or end here
	slices   []slice        // of the array that the value is, of the arrays in it, and so on
	depth    int            // the number of names that lead here
}

// ParseFieldList reads a list of paths, separated by commas:
//
//	items.id,items.owner.name,total
//
// A path is a list of member names separated by dots. Arrays need no mark: a path leads to all of their elements, and [] or
// [*] behind a name says the same; [3] and [20:40] select elements by their positions, also of an answer that is an array or a text, whose
// elements are its lines. * stands for every member of an object. A name with a dot, a comma, a bracket, a blank, a
// quotation mark or an asterisk is written as a JSON string. The error names the path that is wrong.
func ParseFieldList(text string) (*FieldList, error) {
	if len(text) > MaxFieldList {
		return nil, fmt.Errorf("has %d bytes, more than %d", len(text), MaxFieldList)
	}
	l := &FieldList{}
	p := fieldParser{rest: text}
	for {
		path, err := p.path()
		if err != nil {
			return nil, err
		}
		if len(l.paths) == maxPaths {
			return nil, fmt.Errorf("has more than %d paths", maxPaths)
		}
		l.paths = append(l.paths, path)
		if p.rest == "" {
			break
		}
		p.rest = p.rest[1:] // the comma
	}
	if err := l.build(); err != nil {
		return nil, err
	}
	return l, nil
}

// fieldParser reads the paths of a list.
type fieldParser struct{ rest string }

// path reads a path up to a comma or the end of the list.
func (p *fieldParser) path() (fieldPath, error) {
	p.rest = strings.TrimLeft(p.rest, " \t\r\n")
	begin := p.rest
	if begin == "" || begin[0] == ',' {
		return fieldPath{}, fmt.Errorf("has an empty path; write paths such as items.id,total")
	}
	var f fieldPath
	wrong := func(reason string) (fieldPath, error) {
		raw, _, _ := strings.Cut(begin, ",")
		return fieldPath{}, fmt.Errorf("the path %q %s", text.Truncate(strings.TrimSpace(raw), 80), reason)
	}
	p.rest = strings.TrimPrefix(p.rest, "$") // JSONPath and jq begin their paths with $ and a dot
	p.rest = strings.TrimPrefix(p.rest, ".")
	marks, reason := p.elements()
	if reason != "" {
		return wrong(reason)
	}
	f.slices = append(f.slices, marks)
	if len(p.rest) < len(begin) {
		p.rest = strings.TrimPrefix(p.rest, ".")
	}
	alone := marks != nil && strings.TrimLeft(p.rest, " \t\r\n,") != p.rest || marks != nil && p.rest == "" // the answer is sliced, and all of it shown
	for !alone {
		name, wild, reason := p.name()
		if reason != "" {
			return wrong(reason)
		}
		if len(f.path) == maxPathDepth {
			return wrong(fmt.Sprintf("has more than %d names", maxPathDepth))
		}
		if marks, reason = p.elements(); reason != "" {
			return wrong(reason)
		}
		f.path, f.wild, f.slices = append(f.path, name), append(f.wild, wild), append(f.slices, marks)
		if !strings.HasPrefix(p.rest, ".") {
			break
		}
		p.rest = p.rest[1:]
	}
	f.text = strings.TrimSpace(begin[:len(begin)-len(p.rest)])
	p.rest = strings.TrimLeft(p.rest, " \t\r\n")
	if p.rest != "" && p.rest[0] != ',' {
		return wrong(fmt.Sprintf("goes on with %q, where a dot, a comma or the end of the list is expected", firstRune(p.rest)))
	}
	return f, nil
}

// elements reads marks for the elements of an array. The result is nil if they select all elements. The reason describes what is wrong with one.
func (p *fieldParser) elements() (marks []slice, reason string) {
	some := false
	for {
		inner, ok := strings.CutPrefix(p.rest, "[")
		if !ok {
			break
		}
		text, rest, closed := strings.Cut(inner, "]")
		s, ok := parseSlice(text)
		if !closed || !ok {
			return nil, "has brackets with something else than [], [3] or [20:40]"
		}
		p.rest = rest
		marks, some = append(marks, s), some || !s.all()
	}
	if !some {
		return nil, ""
	}
	return marks, ""
}

// name reads the name of a member. The reason says why there is none.
func (p *fieldParser) name() (name string, wild bool, reason string) {
	if strings.HasPrefix(p.rest, `"`) {
		end := jsonscan.Skip([]byte(p.rest), 0)
		quoted := []byte(p.rest[:end])
		if _, err := jsonscan.Scan(quoted, jsonscan.Options{}); err != nil {
			return "", false, "has a quoted name that is not a JSON string"
		}
		p.rest = p.rest[end:]
		return string(jsonscan.Unquote(quoted)), false, ""
	}
	end := strings.IndexAny(p.rest, ".,[]\" \t\r\n")
	if end < 0 {
		end = len(p.rest)
	}
	name, p.rest = p.rest[:end], p.rest[end:]
	switch {
	case name == "*":
		return name, true, ""
	case name == "":
		return "", false, "has an empty name"
	case strings.Contains(name, "*"):
		return "", false, fmt.Sprintf("has the name %q: * stands for a whole name only", text.Truncate(name, 40))
	case !utf8.ValidString(name):
		return "", false, "is not valid UTF-8"
	}
	return name, false, ""
}

func firstRune(s string) string {
	_, n := utf8.DecodeRuneInString(s)
	return s[:n]
}

// build makes the nodes: a deterministic automaton, so that a value is visited once, whatever the list says. The error says that there would
// be too many, or that paths select different elements of one array.
func (l *FieldList) build() error {
	all := make([]int, len(l.paths))
	for i := range all {
		all[i] = i
	}
	known := map[string]int{}
	_, err := l.node(all, 0, known)
	return err
}

// node returns the node of paths that have led through depth names.
func (l *FieldList) node(open []int, depth int, known map[string]int) (int, error) {
	key := strconv.Itoa(depth) + fmt.Sprint(open)
	if n, ok := known[key]; ok {
		return n, nil
	}
	if len(l.nodes) == maxNodes {
		return 0, errors.New("combines too many paths with *; write fewer")
	}
	for _, i := range open[1:] {
		if first := &l.paths[open[0]]; !slices.Equal(l.paths[i].slices[depth], first.slices[depth]) {
			return 0, fmt.Errorf("selects different elements of one array: %q and %q; write the same brackets in both, or make two calls", first.text, l.paths[i].text)
		}
	}
	n := len(l.nodes)
	known[key] = n
	l.nodes = append(l.nodes, fieldNode{open: open})
	var ends []int
	named, wild := map[string][]int{}, []int(nil)
	for _, i := range open {
		switch p := &l.paths[i]; {
		case len(p.path) == depth:
			ends = append(ends, i)
		case p.wild[depth]:
			wild = append(wild, i)
		default:
			named[p.path[depth]] = append(named[p.path[depth]], i)
		}
	}
	node := fieldNode{open: open, ends: ends, whole: ends != nil, children: make(map[string]int, len(named)), slices: l.paths[open[0]].slices[depth], depth: depth}
	var err error
	if wild != nil {
		if node.any, err = l.node(wild, depth+1, known); err != nil {
			return 0, err
		}
	}
	for name, paths := range named {
		paths = append(slices.Clone(wild), paths...)
		slices.Sort(paths)
		if node.children[name], err = l.node(paths, depth+1, known); err != nil {
			return 0, err
		}
	}
	l.nodes[n] = node
	return n, nil
}
