package config

import (
	"cmp"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"go.yaml.in/yaml/v4"

	"drawbridge/openapi/text"
)

// Bounds of a configuration file. They are far beyond what anybody writes and keep a hostile or mistaken file cheap.
const (
	maxFile     = 1 << 20  // bytes of a configuration file
	maxDocument = 64 << 20 // bytes of a file that may turn out to be an OpenAPI document
	maxDepth    = 64       // nesting of YAML
	maxValues   = 50_000   // values read, with those that aliases repeat
	maxItems    = 10_000   // items of one list
	maxProblems = 100      // problems reported, of each severity
)

// loader is the state of one Load.
type loader struct {
	file   string // as given
	dir    string // what relative paths in the file are relative to
	getenv func(string) string
	// rootType is the type of a whole configuration, by which the error of a misplaced key names its place.
	rootType reflect.Type
	// verbatim tells that ${ stands for itself: in files of prompts, which have much to say of shells and templates.
	verbatim bool

	granted *grant                 // an included file is read: what it may use; nil for the main file
	shares  []fileShare            // once the included files are read: all files, the main file last
	kept    map[string][]*partText // parts that stay, see [Kept]
	secrets map[string]secretFile  // that were read, by path
	texts   map[string][]*partText // that were read, by part

	problems       Problems
	count          [2]int              // of all problems, also those not kept, by severity
	positions      map[string]position // of each key path that the file gives
	failed         map[string]bool     // key paths with an error, so that validation does not add to it
	misread        map[string]bool     // key paths of values that could not be read
	files          []string            // files read
	hidden         []hidden            // values that no message shows
	values         int
	withoutSecrets bool                // what is missing is noted: see [LoadOptions]
	unset          map[string]bool     // key paths whose value is missing, and noted
	noted          map[string]bool     // references that were noted
	baseURL        string              // of the only API; "" for that of the file
	former         map[ownedKey]string // defaults of an earlier version, where they differ
	fromDocument   bool                // an extension of a document is read, whose author is not the operator
}

// add records a problem at a position.
func (l *loader) add(s Severity, at position, key, format string, args ...any) {
	if s == Error {
		l.fail(key)
	}
	if l.count[s]++; l.count[s] > maxProblems {
		return
	}
	file, key := placed(l.shares, key)
	l.problems = append(l.problems, Problem{
		Severity: s, File: cmp.Or(file, l.file), Line: at.line, Column: at.column,
		Key: oneLine(key, 200), Message: oneLine(l.masked(fmt.Sprintf(format, args...)), 600),
	})
}

// fail notes that the value at a key path has an error.
func (l *loader) fail(key string) {
	if l.failed == nil {
		l.failed = map[string]bool{}
	}
	l.failed[key] = true
}

// oneLine returns s without control characters and not longer than so many runes: keys and references of a mistaken file
// may be anything.
func oneLine(s string, most int) string {
	return text.TruncateRunes(strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return ' '
		}
		return r
	}, strings.ToValidUTF8(s, "\ufffd")), most)
}

// errorf records an error of the value at a key path, or of its absence: then at the nearest enclosing value.
func (l *loader) errorf(key, format string, args ...any) {
	l.add(Error, l.at(key), key, format, args...)
}

// warnf records a warning in the same way.
func (l *loader) warnf(key, format string, args ...any) {
	l.add(Warning, l.at(key), key, format, args...)
}

func (l *loader) at(key string) position { return nearestPosition(l.positions, key) }

// given reports whether the file has the key.
func (l *loader) given(key string) bool {
	_, ok := l.positions[key]
	return ok
}

// ok reports whether none of the keys has an error, or a value that is missing.
func (l *loader) ok(keys ...string) bool {
	return !slices.ContainsFunc(keys, func(k string) bool { return l.failed[k] || l.unset[k] })
}

func (l *loader) report() Problems {
	l.problems.sort(l.file)
	for s, n := range l.count {
		if n > maxProblems {
			l.problems = append(l.problems, Problem{
				Severity: Severity(s), File: l.file, Message: fmt.Sprintf("and %d more %ss", n-maxProblems, Severity(s)),
			})
		}
	}
	return l.problems
}

// mark records the position of a value.
func (l *loader) mark(key string, n *yaml.Node) {
	if l.positions == nil {
		l.positions = map[string]position{}
	}
	l.positions[key] = positionOf(n)
}

// hidden is a value that came from outside the file, which may be a secret, and the reference to show in its place.
type hidden struct {
	forms     []string // in lower and upper case too, since hosts and methods are folded; and as quoted in a message
	reference string
}

// hide keeps a value out of every later message, whatever the check that writes it repeats. A shorter value is no secret,
// and would be found in the words of the message.
func (l *loader) hide(value, reference string) {
	const shortest = 6
	if len(value) < shortest || slices.ContainsFunc(l.hidden, func(h hidden) bool { return h.reference == reference }) {
		return
	}
	forms := []string{value, strings.ToLower(value), strings.ToUpper(value)}
	for _, form := range forms {
		forms = append(forms, strings.Trim(strconv.Quote(form), `"`))
	}
	l.hidden = append(l.hidden, hidden{forms, reference})
}

// masked returns a message with references where it has the values that they stand for.
func (l *loader) masked(message string) string {
	for _, h := range l.hidden {
		for _, form := range h.forms {
			message = strings.ReplaceAll(message, form, h.reference)
		}
	}
	return message
}

// faulty reports whether a key below this one has an error.
func (l *loader) faulty(key string) bool {
	for k := range l.failed {
		if strings.HasPrefix(k, key+".") {
			return true
		}
	}
	return false
}
