package config

import (
	"fmt"
	"slices"
	"strings"

	"go.yaml.in/yaml/v4"
)

// Subject is an operation as a [Selector] sees it.
type Subject struct {
	API       string   // the name of the API
	Claimed   string   // see [API.Claimed]
	Method    string   // the HTTP method
	Path      string   // the path template, as in the document
	Operation string   // the operationId; "" without one
	Tags      []string // the operation's tags
	// Deprecated reports whether the document calls the operation deprecated.
	Deprecated bool
	// Extensions are the names of the operation's extensions whose values are neither false nor null, and those of its path.
	Extensions []string
	// HiddenBy is the extension by which the document hides the operation from models, with its value; "" if it doesn't.
	HiddenBy string
	// Arguments returns the names of the operation's arguments, sorted; nil if it has none.
	Arguments func() []string
}

func (s Subject) takes(argument string) bool {
	return s.Arguments != nil && slices.Contains(s.Arguments(), argument)
}

// Selectors is a list of selectors. In a file, a single one may stand for a list of one.
type Selectors []Selector

func (Selectors) single() (kind yaml.Kind, noun string) { return yaml.MappingNode, "selector" }

// Match reports whether one of the selectors matches.
func (ss Selectors) Match(s Subject) bool {
	return slices.ContainsFunc(ss, func(sel Selector) bool { return sel.Match(s) })
}

// Selector picks operations. All keys that are given must match, and a key matches if one of its patterns does.
//
// In a pattern, * stands for any characters but /, and ** for any characters. A whole segment ** stands for any number
// of segments, none included, so /admin/** matches /admin, /admin/users and /admin/users/7. Everything else stands for
// itself. Only method ignores case.
type Selector struct {
	// The name of the API.
	API Patterns `yaml:"api,omitempty" absent:"any"`
	// One of the operation's tags. An operation without tags is not matched.
	Tag Patterns `yaml:"tag,omitempty" absent:"any"`
	// The HTTP method.
	Method Patterns `yaml:"method,omitempty" absent:"any"`
	// The path as written in the document, such as /orders/{id}.
	Path Patterns `yaml:"path,omitempty" absent:"any"`
	// The operationId. An operation without one is not matched.
	Operation Patterns `yaml:"operation,omitempty" absent:"any"`
	// Whether the document calls the operation deprecated.
	Deprecated *bool `yaml:"deprecated,omitempty" absent:"any" json:",omitempty"`
	// An extension of the operation or its path, such as x-internal, whose value is neither false nor null.
	Extension Patterns `yaml:"extension,omitempty" absent:"any" json:",omitempty"`
	// Allows the selector to match nothing.
	Optional bool `yaml:"optional" default:"false" json:"-" access:"none: whether a selector that matches nothing is an error"`

	configured bool // only names of APIs in the configuration match, and none that a discovered service claims
}

// Match reports whether the selector matches. The zero Selector matches nothing.
func (sel Selector) Match(s Subject) bool {
	return !sel.empty() &&
		(sel.API.allow(s.API) || !sel.configured && s.Claimed != "" && sel.API.allow(s.Claimed)) &&
		(len(sel.Tag) == 0 || slices.ContainsFunc(s.Tags, sel.Tag.allow)) &&
		sel.Method.allow(strings.ToUpper(s.Method)) &&
		sel.Path.allow(s.Path) &&
		(len(sel.Operation) == 0 || s.Operation != "" && sel.Operation.allow(s.Operation)) &&
		(sel.Deprecated == nil || *sel.Deprecated == s.Deprecated) &&
		(len(sel.Extension) == 0 || slices.ContainsFunc(s.Extensions, sel.Extension.allow))
}

func (sel Selector) empty() bool {
	return len(sel.API)+len(sel.Tag)+len(sel.Method)+len(sel.Path)+len(sel.Operation)+len(sel.Extension) == 0 && sel.Deprecated == nil
}

// selectorPatterns is a key of a selector with its patterns.
type selectorPatterns struct {
	key      string
	patterns *Patterns
}

// patterns returns the keys of a selector that have patterns.
func (sel *Selector) patterns() []selectorPatterns {
	return []selectorPatterns{
		{"api", &sel.API}, {"tag", &sel.Tag}, {"method", &sel.Method}, {"path", &sel.Path}, {"operation", &sel.Operation}, {"extension", &sel.Extension},
	}
}

// String returns the selector as it may be written, in flow style; "{}" if it is empty.
func (sel Selector) String() string {
	var keys []string
	for _, key := range sel.patterns() {
		for _, p := range *key.patterns {
			keys = append(keys, fmt.Sprintf("%s: %q", key.key, p))
		}
	}
	if sel.Deprecated != nil {
		keys = append(keys, fmt.Sprintf("deprecated: %t", *sel.Deprecated))
	}
	return "{" + strings.Join(keys, ", ") + "}"
}

// Patterns is a list of patterns of which one must match. In a file, a single one may stand for a list of one.
type Patterns []Pattern

func (Patterns) single() (kind yaml.Kind, noun string) { return yaml.ScalarNode, "string" }

// allow reports whether a pattern matches, or the list is empty.
func (ps Patterns) allow(text string) bool {
	return len(ps) == 0 || slices.ContainsFunc(ps, func(p Pattern) bool { return p.re != nil && p.re.MatchString(text) })
}

// Match reports whether a pattern matches.
func (ps Patterns) Match(text string) bool { return len(ps) > 0 && ps.allow(text) }
