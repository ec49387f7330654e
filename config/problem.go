package config

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// Severity tells an error, which keeps a configuration from being used, from a warning.
type Severity uint8

// The severities.
const (
	Error Severity = iota
	Warning
)

// String returns "error" or "warning".
func (s Severity) String() string {
	if s == Warning {
		return "warning"
	}
	return "error"
}

// Problem is one thing that is wrong with a configuration file. It never holds a secret or the value of a variable.
type Problem struct {
	Severity     Severity
	File         string // as it was given to [Load]
	Line, Column int    // from 1; 0 when the problem is the file as a whole
	Key          string // such as apis[0].spec; "" when the problem is the file as a whole
	Message      string

	files []string // of the configuration that it keeps from being used
}

// String returns "file:line:col: key.path: message", with "warning: " before the message of a warning.
func (p Problem) String() string {
	var b strings.Builder
	b.WriteString(p.File)
	if p.Line > 0 {
		fmt.Fprintf(&b, ":%d:%d", p.Line, p.Column)
	}
	b.WriteString(": ")
	if p.Key != "" {
		b.WriteString(p.Key)
		b.WriteString(": ")
	}
	if p.Severity == Warning {
		b.WriteString("warning: ")
	}
	b.WriteString(p.Message)
	return b.String()
}

// Problems is all that is wrong with a configuration file, in the order of the file.
type Problems []Problem

// Err returns the errors, one a line, as one error; nil without errors.
func (ps Problems) Err() error {
	errs := ps.Errors()
	if len(errs) == 0 {
		return nil
	}
	return &Refusal{errs}
}

// Refusal is the error of a configuration that can't be used.
type Refusal struct{ problems Problems }

// Error returns all problems, one a line.
func (r *Refusal) Error() string { return r.problems.String() }

// Files returns the paths of the files that the configuration was made from, as [Config.Files] does, those that are missing with them: when one
// of them changes, or comes, it may be good.
func (r *Refusal) Files() []string { return slices.Clone(r.problems[0].files) }

// Errors returns the problems that keep the configuration from being used.
func (ps Problems) Errors() Problems { return ps.only(Error) }

// Warnings returns the problems that don't.
func (ps Problems) Warnings() Problems { return ps.only(Warning) }

// String returns all problems, one a line.
func (ps Problems) String() string {
	lines := make([]string, len(ps))
	for i, p := range ps {
		lines[i] = p.String()
	}
	return strings.Join(lines, "\n")
}

func (ps Problems) only(s Severity) Problems {
	var out Problems
	for _, p := range ps {
		if p.Severity == s {
			out = append(out, p)
		}
	}
	return out
}

// sort puts the problems of the main file first, then those of others by the names of their files.
func (ps Problems) sort(main string) {
	rank := func(p Problem) string {
		if p.File == main {
			return ""
		}
		return p.File
	}
	slices.SortStableFunc(ps, func(a, b Problem) int {
		return cmp.Or(cmp.Compare(rank(a), rank(b)), cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column), cmp.Compare(a.Key, b.Key))
	})
}

// SplitErrors returns the errors that errors.Join has joined, however deep; nil if err is nil.
func SplitErrors(err error) (all []error) {
	if err == nil {
		return nil
	}
	joined, ok := err.(interface{ Unwrap() []error })
	if !ok {
		return []error{err}
	}
	for _, e := range joined.Unwrap() {
		all = append(all, SplitErrors(e)...)
	}
	return all
}
