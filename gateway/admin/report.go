package admin

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Fate is the result of loading an operation.
type Fate string

// Values of [Fate], explained in docs/load-report.md.
const (
	Exposed  Fate = "exposed"  // a tool that matches the document
	Changed  Fate = "changed"  // a tool, but something was repaired, renamed, omitted or reduced
	Excluded Fate = "excluded" // no tool, because of the configuration
	HeldBack Fate = "held"     // no tool, because it is not approved (tools.lock)
	Skipped  Fate = "skipped"  // no tool, because none can be made of it
)

// OperationCounts counts operations by fate.
type OperationCounts struct {
	Total    int `json:"total"`
	Exposed  int `json:"exposed"`
	Changed  int `json:"changed"`
	Excluded int `json:"excluded"`
	HeldBack int `json:"held"`
	Skipped  int `json:"skipped"`
}

// Of returns the number of operations with a fate.
func (f OperationCounts) Of(fate Fate) int {
	switch fate {
	case Exposed:
		return f.Exposed
	case Changed:
		return f.Changed
	case Excluded:
		return f.Excluded
	case HeldBack:
		return f.HeldBack
	case Skipped:
		return f.Skipped
	}
	return 0
}

// Add counts one more operation with a fate.
func (f *OperationCounts) Add(fate Fate) {
	f.Total++
	switch fate {
	case Exposed:
		f.Exposed++
	case Changed:
		f.Changed++
	case Excluded:
		f.Excluded++
	case HeldBack:
		f.HeldBack++
	case Skipped:
		f.Skipped++
	}
}

// String summarizes the fates in numbers that add up to the number of operations.
func (f OperationCounts) String() string {
	count := func(n int, noun string) string {
		if n == 1 {
			return "1 " + noun
		}
		return fmt.Sprintf("%d %ss", n, noun)
	}
	text := count(f.Total, "operation") + ": " + count(f.Exposed+f.Changed, "tool")
	if f.Changed > 0 {
		text += fmt.Sprintf(" (%d changed)", f.Changed)
	}
	text += fmt.Sprintf(", %d excluded", f.Excluded)
	if f.HeldBack > 0 {
		text += fmt.Sprintf(", %d held back", f.HeldBack)
	}
	return text + fmt.Sprintf(", %d skipped", f.Skipped)
}

// Report is the load report of one API: the fate of each operation, with reasons. Its texts come
// from the document and must be treated as data; each is truncated at [MaxText] bytes.
type Report struct {
	API API `json:"api"`
	// Problems are what was repaired, omitted or guessed, by file, line and column; of each code
	// the first 500.
	Problems []Problem `json:"problems"`
	// Operations are all operations in the document's order, the skipped ones last.
	Operations []Operation `json:"operations"`
	// Overlays are the actions of the overlays of the document, in the order in which they were applied.
	Overlays []OverlayAction `json:"overlays,omitempty"`
	// Advice lists violations of the standard without consequences, if requested.
	Advice []Problem `json:"advice,omitempty"`
}

// OverlayAction is an action of an overlay, at the position of its target.
type OverlayAction struct {
	Action   string `json:"action"` // update, copy, remove, or none for one without effect
	Target   string `json:"target"` // JSONPath query
	Matched  int    `json:"matched"`
	Optional bool   `json:"optional,omitempty"` // the target need not select anything
	Place
}

// MaxText is the maximum size of a text in a Report in bytes.
const MaxText = 1000

// Place is a position in a document.
type Place struct {
	File    string `json:"file,omitempty"`
	Line    int    `json:"line,omitempty"`    // from 1; 0 for the document as a whole
	Column  int    `json:"column,omitempty"`  // in characters, from 1
	Pointer string `json:"pointer,omitempty"` // RFC 6901, from the root of File
}

// Prefix returns "file:line:col: pointer: ", as far as known, in the format that editors recognize.
func (p Place) Prefix() string {
	var b strings.Builder
	switch {
	case p.Line > 0:
		fmt.Fprintf(&b, "%s:%d:%d: ", p.File, p.Line, p.Column)
	case p.File != "":
		b.WriteString(p.File + ": ")
	}
	if p.Pointer != "" {
		b.WriteString(p.Pointer + ": ")
	}
	return b.String()
}

// Problem is a defect of a document.
type Problem struct {
	Code    string `json:"code"` // from a closed set
	Message string `json:"message"`
	Place
	// Setting is the position of the configuration value that can't be applied; nil if the problem
	// is only in the document.
	Setting    *Setting `json:"setting,omitempty"`
	Operations int      `json:"operations"` // the number of affected operations

	// For the code "more": the number of problems of a code that are not listed.
	Of    string `json:"of,omitempty"`
	Count int    `json:"count,omitempty"`
}

// Text returns the text after the position. The position of a setting comes first, because it can
// be fixed there.
func (p Problem) Text() string {
	if p.Setting == nil {
		return p.Prefix() + p.Message
	}
	text := p.Setting.Prefix() + p.Message
	if at := strings.TrimSuffix(p.Prefix(), ": "); at != "" {
		text += " (" + at + ")"
	}
	return text
}

// Setting is the position of a configuration value.
type Setting struct {
	File   string `json:"file"`
	Line   int    `json:"line"`   // from 1
	Column int    `json:"column"` // in characters, from 1
	Key    string `json:"key"`    // such as rules[0].set.job
}

// Prefix returns "file:line:col: ", in the format that editors recognize.
func (s *Setting) Prefix() string { return fmt.Sprintf("%s:%d:%d: ", s.File, s.Line, s.Column) }

// Operation is the result of loading one operation.
type Operation struct {
	Method string `json:"method,omitempty"` // "" for a path item that is missing
	Path   string `json:"path"`
	ID     string `json:"id,omitempty"` // operationId
	Fate   Fate   `json:"fate"`
	Tool   string `json:"tool,omitempty"`
	Place
	// Problems are indexes in Report.Problems of the problems of the operation; at most 100 are
	// listed.
	Problems []int `json:"problems,omitempty"`
	// Reasons are the other reasons of the fate: why it is skipped, what excludes it, which names
	// differ.
	Reasons []Reason `json:"reasons,omitempty"`
	// Resource is the URI, or URI template, under which it can be read.
	Resource string `json:"resource,omitempty"`
	// Uncallable is the reason that calls of the tool fail at present, such as a missing base URL.
	Uncallable string `json:"uncallable,omitempty"`
	// Access is what a call of the tool requires, and how it reaches its service; nil without a
	// tool.
	Access *ToolAccess `json:"access,omitempty"`
}

// Skipped reports whether no tool can be made of the operation.
func (o Operation) Skipped() bool { return o.Fate == Skipped }

// HeldBack reports whether the operation is no tool because it is not approved.
func (o Operation) HeldBack() bool { return o.Fate == HeldBack }

// Reason is a reason for the fate of an operation.
type Reason struct {
	Code    string `json:"code"` // from a closed set
	Message string `json:"message"`
}

// Counts is the number of occurrences by code.
type Counts map[string]int

// Codes returns the codes, the most frequent first, then by name.
func (c Counts) Codes() []string {
	return slices.SortedFunc(maps.Keys(c), func(a, b string) int {
		return cmp.Or(cmp.Compare(c[b], c[a]), cmp.Compare(a, b))
	})
}

// Sum returns the total.
func (c Counts) Sum() (n int) {
	for _, count := range c {
		n += count
	}
	return n
}
