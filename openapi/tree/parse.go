package tree

import (
	"bytes"
	"errors"
	"strings"
	"unsafe"
)

// Parse parses one file, JSON or YAML, and repairs nothing. data belongs to the
// tree afterwards and must not be changed. The error is a *SyntaxError or a
// *LimitError.
func Parse(location string, data []byte, limits Limits) (*Node, error) {
	r := &reader{file: location, budget: newBudget(limits), warn: newWarnings()}
	return r.parse(data)
}

// parse parses data as JSON, or else as YAML, or else as YAML with tabs replaced.
func (r *reader) parse(data []byte) (*Node, error) {
	start := Position{File: r.file, Line: 1, Column: 1}
	if err := r.budget.addBytes(start, len(data)); err != nil {
		return nil, err
	}
	data, err := r.decode(data)
	if err != nil {
		return nil, err
	}
	r.arena = newArena(len(data))
	var jsonErr error
	if looksLikeJSON(data) {
		nodes, refs, codes := r.budget.nodes, r.budget.refs, len(r.warn.list)
		// The tree keeps slices of the text instead of copies; data is not written any more (see Load and Parse), so
		// the bytes may serve as a string.
		p := &jsonParser{reader: r, src: unsafe.String(unsafe.SliceData(data), len(data))}
		root, err := p.parse()
		if err == nil {
			return root, nil
		}
		if limit := (*LimitError)(nil); errors.As(err, &limit) {
			return nil, err
		}
		if meantAsJSON(data) {
			jsonErr = err
		}
		r.budget.nodes, r.budget.refs = nodes, refs
		r.warn.list = r.warn.list[:codes]
		r.arena = newArena(len(data))
	}
	root, err := r.parseYAML(data)
	if syntax := (*SyntaxError)(nil); errors.As(err, &syntax) && bytes.IndexByte(data, '\t') >= 0 {
		r.arena = newArena(len(data))
		if again, err2 := r.parseYAML(replaceTabs(data)); err2 == nil {
			root, err = again, nil
			r.warn.addAt(syntax.Position, CodeYAMLTabs, "YAML allows no tab here; tabs are read as spaces")
		}
	}
	if err != nil && jsonErr != nil {
		// The author meant JSON: YAML's error would only confuse.
		return nil, jsonErr
	}
	if broken := (*SyntaxError)(nil); err == nil && errors.As(jsonErr, &broken) {
		r.warn.addAt(broken.Position, CodeBrokenJSON, "%s; read as YAML", broken.Message)
	}
	return root, err
}

// looksLikeJSON reports whether the text may be JSON, and meantAsJSON whether its author certainly meant JSON: YAML may
// also begin with a quoted name or a number.
func looksLikeJSON(data []byte) bool {
	data = bytes.TrimLeft(data, " \t\r\n")
	return len(data) > 0 && strings.IndexByte(`{["-0123456789tfn`, data[0]) >= 0
}

func meantAsJSON(data []byte) bool {
	data = bytes.TrimLeft(data, " \t\r\n")
	return data[0] == '{' || data[0] == '['
}

// replaceTabs replaces every tab: by tabWidth spaces in the indentation of a line, by one elsewhere.
func replaceTabs(data []byte) []byte {
	width := tabWidth(data)
	out := make([]byte, 0, len(data)+len(data)/8)
	indent := true
	for _, c := range data {
		switch {
		case c == '\t' && indent:
			out = append(out, "        "[:width]...)
		case c == '\t':
			out = append(out, ' ')
		default:
			indent = c == '\n' || indent && c == ' '
			out = append(out, c)
		}
	}
	return out
}

// tabWidth returns the most likely width of a tab in the indentation: the least of 2, 4 and 8 with which lines after a
// key without a value are indented further than that key.
func tabWidth(data []byte) int {
	best, least := 2, -1
	for _, width := range [...]int{2, 4, 8} {
		wrong, opener := 0, -1 // opener is the indentation of a key without a value on the line before, or -1
		for line := range bytes.Lines(data) {
			text := bytes.TrimLeft(line, " \t")
			if len(bytes.TrimSpace(text)) == 0 || text[0] == '#' {
				continue
			}
			indent, tabs := 0, false
			for _, c := range line[:len(line)-len(text)] {
				if c == '\t' {
					indent, tabs = indent+width, true
				} else {
					indent++
				}
			}
			if opener >= 0 && tabs && indent <= opener && text[0] != '-' {
				wrong++
			}
			opener = -1
			if bytes.HasSuffix(bytes.TrimRight(text, " \t\r\n"), []byte(":")) {
				opener = indent
			}
		}
		if least < 0 || wrong < least {
			best, least = width, wrong
		}
	}
	return best
}
