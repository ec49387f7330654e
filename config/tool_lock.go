package config

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v4"
)

// Bounds of a lock file.
const (
	maxLock  = 32 << 20 // bytes
	maxTitle = 100      // characters of what is excerpted for readers
)

// Lock is the file of approved tools (tools.lock, S10).
type Lock struct {
	// Version is that of the file. An old one approves no tool, and only shows other changes: see Unknown.
	Version int
	tools   map[string]LockedTool
}

// LockedTool is an approved tool. Digests are hexadecimal.
type LockedTool struct {
	Name   string
	API    string
	Method string
	Path   string
	Words  string // digest of title and description
	Schema string // digest of schemas and annotations
	// Request is a digest of what calls send and where to, as far as the document decides it: server, places and forms of the
	// arguments, media types.
	Request string
	// Access is a digest of what decides who may call and by which rules: tags, security requirements, extensions.
	Access string
	// Answers is a digest of what the document says of answers: what a model is told that a call returns, or that a status means.
	Answers string
	// Title and Description are for readers of the file. A part of them is kept, and not compared.
	Title, Description string
	// Former are other names of the tool, which it may be approved under; FormerAPI is the name that the release before gave its API, "" if
	// it has that. They are not written.
	Former    []string
	FormerAPI string
}

// NewLock makes a lock of tools. Of two with one name the last counts.
func NewLock(tools []LockedTool) *Lock {
	l := &Lock{Version: lockVersion, tools: make(map[string]LockedTool, len(tools))}
	for _, t := range tools {
		t.Title, t.Description = excerpt(t.Title), excerpt(t.Description)
		l.tools[t.Name] = t
	}
	return l
}

// Unknown names the parts that the file does not approve as this version of drawbridge does, since an older one wrote it; "": nothing.
func (l *Lock) Unknown() string {
	switch {
	case l.Version < 2:
		return "request, access and answers"
	case l.Version < lockVersion:
		return "access and answers" // its digests of access took a tag for a security requirement
	}
	return ""
}

// Tools returns the tools by name.
func (l *Lock) Tools() []LockedTool {
	var all []LockedTool
	for _, t := range l.tools {
		all = append(all, t)
	}
	slices.SortFunc(all, func(a, b LockedTool) int { return cmp.Compare(a.Name, b.Name) })
	return all
}

// Of returns the tool of a name; false: none of it is approved.
func (l *Lock) Of(name string) (LockedTool, bool) {
	t, ok := l.tools[name]
	return t, ok
}

// Approval returns what is approved of a tool, under its name or else under a former one; false: none of it is.
func (l *Lock) Approval(t LockedTool) (LockedTool, bool) {
	approved, ok := l.Of(t.Name)
	if ok && t.isOperationOf(approved) {
		return approved, true
	}
	for _, name := range t.Former {
		if former, known := l.Of(name); known && t.isOperationOf(former) {
			return former, true
		}
	}
	return approved, ok
}

// isOperationOf reports whether a tool is of the same operation as the approved one.
func (t LockedTool) isOperationOf(approved LockedTool) bool {
	return t.Method == approved.Method && t.Path == approved.Path && (approved.API == t.API || approved.API == t.FormerAPI)
}

// Differs lists in what a tool is another than the approved one: method, path, API, words, schema, request, access, answers.
// A property that an old lock does not have is no difference.
func (t LockedTool) Differs(approved LockedTool) []string {
	var names []string
	api := t.API
	if t.FormerAPI != "" && t.FormerAPI == approved.API {
		api = t.FormerAPI
	}
	for _, part := range [][3]string{
		{"API", api, approved.API}, {"method", t.Method, approved.Method}, {"path", t.Path, approved.Path},
		{"title or description", t.Words, approved.Words}, {"schema", t.Schema, approved.Schema},
		{"request", t.Request, approved.Request}, {"access", t.Access, approved.Access},
		{"description of answers", t.Answers, approved.Answers},
	} {
		if unknown := part[2] == ""; part[1] != part[2] && !unknown {
			names = append(names, part[0])
		}
	}
	return names
}

func excerpt(text string) string { return oneLine(strings.Join(strings.Fields(text), " "), maxTitle) }

// fields are the keys of a tool in the file, in their order.
func (t *LockedTool) fields() []lockField {
	return []lockField{
		{"api", &t.API, true}, {"method", &t.Method, true}, {"path", &t.Path, true}, {"title", &t.Title, false},
		{"description", &t.Description, false}, {"words", &t.Words, true}, {"schema", &t.Schema, true},
		{"request", &t.Request, true}, {"access", &t.Access, true}, {"answers", &t.Answers, true},
	}
}

type lockField struct {
	key   string
	value *string
	need  bool
}

// Encode writes the file: the same tools always give the same bytes, and a tool is a few lines of its own.
func (l *Lock) Encode() []byte {
	var b bytes.Buffer
	b.WriteString("# The tools that drawbridge serves (tools.lock). \"drawbridge lock\" writes this file; look at what it changes before you keep it.\n")
	fmt.Fprintf(&b, "version: %d\ntools:\n", lockVersion)
	for _, t := range l.Tools() {
		fmt.Fprintf(&b, "  %s:\n", lockString(t.Name))
		for _, f := range t.fields() {
			fmt.Fprintf(&b, "    %s: %s\n", f.key, lockString(*f.value))
		}
	}
	if len(l.tools) == 0 {
		b.WriteString("  {}\n")
	}
	return b.Bytes()
}

// lockString writes a string so that YAML reads the same again. Invisible and bidirectional characters are written as escapes:
// paths are as their documents have them, and YAML refuses or folds some characters that JSON lets stand.
func lockString(s string) string { return strconv.Quote(strings.ToValidUTF8(s, "\uFFFD")) }

// ReadLock reads a lock file. The error tells the file, and the place of what is wrong; [os.ErrNotExist] is among what it wraps.
func ReadLock(path string) (*Lock, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("%s: can't be read: %w", path, errors.Unwrap(err))
	}
	defer func() { _ = f.Close() }() // nothing was written
	data, err := io.ReadAll(io.LimitReader(f, maxLock+1))
	if err != nil {
		return nil, fmt.Errorf("%s: can't be read: %s", path, reason(err))
	}
	if len(data) > maxLock {
		return nil, fmt.Errorf("%s: is larger than 32 MiB", path)
	}
	return parseLock(path, data)
}

// parseLock reads the text of a lock file.
func parseLock(path string, data []byte) (*Lock, error) {
	root, second, err := documents(data)
	wrong := func(n *yaml.Node, format string, args ...any) error {
		return fmt.Errorf("%s:%d:%d: %s", path, n.Line, n.Column, fmt.Sprintf(format, args...))
	}
	switch {
	case err != nil:
		return nil, fmt.Errorf("%s: is not valid YAML: %s", path, oneLine(strings.TrimPrefix(err.Error(), "yaml: "), 200))
	case root == nil || root.Kind != yaml.MappingNode:
		return nil, fmt.Errorf("%s: is no lock file: drawbridge lock writes one", path)
	case second != nil:
		return nil, wrong(second, "begins a second YAML document (---)")
	}
	l := &Lock{Version: versionOf(root), tools: map[string]LockedTool{}}
	if l.Version < 1 {
		return nil, fmt.Errorf("%s: has none of the versions 3, 2 and 1, which this version of drawbridge reads", path)
	}
	for i := 0; i+1 < len(root.Content); i += 2 {
		switch key, value := root.Content[i], root.Content[i+1]; key.Value {
		case "version":
		case "tools":
			if err := l.read(value, wrong); err != nil {
				return nil, err
			}
		default:
			return nil, wrong(key, "%s: unknown key", oneLine(key.Value, 60))
		}
	}
	return l, nil
}

// lockVersion is the version of the files that are written.
const lockVersion = 3

// versionOf returns the version of a file, 0 if it is none that is read.
func versionOf(root *yaml.Node) int {
	for i := 0; i+1 < len(root.Content); i += 2 {
		if root.Content[i].Value == "version" {
			return slices.Index([]string{"", "1", "2", "3"}, root.Content[i+1].Value)
		}
	}
	return 0
}

// read reads the tools.
func (l *Lock) read(n *yaml.Node, wrong func(*yaml.Node, string, ...any) error) error {
	if n.Kind != yaml.MappingNode {
		return wrong(n, "tools: expected a mapping")
	}
	for i := 0; i+1 < len(n.Content); i += 2 {
		key, value := n.Content[i], n.Content[i+1]
		name := oneLine(key.Value, 200)
		if _, twice := l.tools[key.Value]; twice {
			return wrong(key, "tools.%s: is there twice", name)
		}
		if value.Kind != yaml.MappingNode {
			return wrong(value, "tools.%s: expected a mapping", name)
		}
		t := LockedTool{Name: key.Value}
		fields := t.fields()
		fields = slices.DeleteFunc(fields, func(f lockField) bool {
			return l.Version < 3 && f.key == "answers" || l.Version < 2 && (f.key == "request" || f.key == "access")
		})
		for j := 0; j+1 < len(value.Content); j += 2 {
			k, v := value.Content[j], value.Content[j+1]
			at := slices.IndexFunc(fields, func(f lockField) bool { return f.key == k.Value })
			if at < 0 {
				return wrong(k, "tools.%s.%s: unknown key", name, oneLine(k.Value, 60))
			}
			if v.Kind != yaml.ScalarNode {
				return wrong(v, "tools.%s.%s: expected a string", name, k.Value)
			}
			*fields[at].value = v.Value
		}
		for _, f := range fields {
			if f.need && *f.value == "" {
				return wrong(value, "tools.%s.%s: is missing", name, f.key)
			}
		}
		if l.Version < 3 {
			t.Access = ""
		}
		l.tools[t.Name] = t
	}
	return nil
}
