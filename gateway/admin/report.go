package admin

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Fate is what became of an operation.
type Fate string

// The fates of an operation. docs/load-report.md says more of each.
const (
	Exposed  Fate = "exposed"  // a tool that says what the document says
	Changed  Fate = "changed"  // a tool, but something was repaired, renamed, left out or reduced
	Excluded Fate = "excluded" // no tool, because the configuration says so
	HeldBack Fate = "held"     // no tool, because nobody has approved it (tools.lock)
	Skipped  Fate = "skipped"  // no tool, because none can be made of it
)

// Fates counts operations by fate.
type Fates struct {
	Total    int `json:"total"`
	Exposed  int `json:"exposed"`
	Changed  int `json:"changed"`
	Excluded int `json:"excluded"`
	HeldBack int `json:"held"`
	Skipped  int `json:"skipped"`
}

// Of returns how many have the fate f.
func (f Fates) Of(fate Fate) int {
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

// Add counts one more operation of a fate.
func (f *Fates) Add(fate Fate) {
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

// String says what became of all operations, in numbers that add up to theirs.
func (f Fates) String() string {
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

// Report is the load report of one API: what became of each operation, and why. Its texts come from the document, and
// are data alone; each is cut at [MaxText] bytes.
type Report struct {
	API API `json:"api"`
	// Problems are what was repaired, left out or guessed, by file, line and column; of each code the first 500.
	Problems []Problem `json:"problems"`
	// Operations are all operations in the document's order, the skipped ones last.
	Operations []Operation `json:"operations"`
	// Advice lists where the document breaks the standard without consequence, if that was asked for.
	Advice []Problem `json:"advice,omitempty"`
}

// MaxText is the most bytes of a text in a Report.
const MaxText = 1000

// Place is where something stands.
type Place struct {
	File    string `json:"file,omitempty"`
	Line    int    `json:"line,omitempty"`    // from 1; 0: the document as a whole
	Column  int    `json:"column,omitempty"`  // in characters, from 1
	Pointer string `json:"pointer,omitempty"` // RFC 6901, from the root of File
}

// Prefix returns "file:line:col: pointer: ", so that editors jump there, as far as the place is known.
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

// Problem is something in a document that is not as it should be.
type Problem struct {
	Code    string `json:"code"` // of a closed set
	Message string `json:"message"`
	Place
	// Setting is where the configuration says what can't be used; nil for what only the document says.
	Setting    *Setting `json:"setting,omitempty"`
	Operations int      `json:"operations"` // how many operations it touches

	// Of the code "more": how many problems of which code are not listed.
	Of    string `json:"of,omitempty"`
	Count int    `json:"count,omitempty"`
}

// Text returns the problem after its place. That of a setting comes first, because there it can be mended.
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

// Setting is the place of a value of the configuration.
type Setting struct {
	File   string `json:"file"`
	Line   int    `json:"line"`   // from 1
	Column int    `json:"column"` // in characters, from 1
	Key    string `json:"key"`    // such as rules[0].set.job
}

// Prefix returns "file:line:col: ", so that editors jump there.
func (s *Setting) Prefix() string { return fmt.Sprintf("%s:%d:%d: ", s.File, s.Line, s.Column) }

// Operation is what became of one operation.
type Operation struct {
	Method string `json:"method,omitempty"` // "" for a path item that is missing
	Path   string `json:"path"`
	ID     string `json:"id,omitempty"` // operationId
	Fate   Fate   `json:"fate"`
	Tool   string `json:"tool,omitempty"`
	Place
	// Problems are places in Report.Problems of what touches the operation; at most 100 are listed.
	Problems []int `json:"problems,omitempty"`
	// Reasons are what else made the fate: why it is skipped, who excludes it, which names are others.
	Reasons []Reason `json:"reasons,omitempty"`
	// Resource is the URI, or the template for URIs, under which it can be read.
	Resource string `json:"resource,omitempty"`
	// Uncallable tells why calls of the tool fail as things are, such as that nobody said where they go.
	Uncallable string `json:"uncallable,omitempty"`
	// Access is what a call of the tool needs, and how it reaches its service; nil for what is no tool.
	Access *ToolAccess `json:"access,omitempty"`
}

// Skipped tells whether no tool can be made of the operation.
func (o Operation) Skipped() bool { return o.Fate == Skipped }

// HeldBack tells that the operation is no tool because nobody has approved it.
func (o Operation) HeldBack() bool { return o.Fate == HeldBack }

// Reason is why an operation has its fate.
type Reason struct {
	Code    string `json:"code"` // of a closed set
	Message string `json:"message"`
}

// Counts is how many there are of each code.
type Counts map[string]int

// Codes returns the codes, the most frequent first, else by name.
func (c Counts) Codes() []string {
	return slices.SortedFunc(maps.Keys(c), func(a, b string) int {
		return cmp.Or(cmp.Compare(c[b], c[a]), cmp.Compare(a, b))
	})
}

// Sum returns how many there are in all.
func (c Counts) Sum() (n int) {
	for _, count := range c {
		n += count
	}
	return n
}
