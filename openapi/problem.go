package openapi

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"drawbridge/openapi/schema"
	"drawbridge/openapi/tree"
)

// A Position is a place in a file.
type Position = tree.Position

// A Problem is something in a document that was repaired, left out or guessed. The operations that it touches are still
// served, except those listed in API.Skipped.
type Problem struct {
	Position tree.Position // where it stands; the zero Position when it concerns the whole document
	Pointer  string        // RFC 6901 pointer from the root of the file that Position names
	Code     string        // one of a closed set of kebab-case words, for counting and for tests
	Message  string        // what was found and what was done about it

	// Of the code "more": how many problems of which code are not listed, because there are too many.
	Count int
	Of    string
}

// The codes of the problems that are found here; those of the packages tree and schema come beside them.
const (
	codeBodyEmpty         = "body-empty"                // a request body without content
	codeBodyKind          = "body-kind"                 // a request body that is not an object: left out
	codeBodyMedia         = "body-media-types"          // a body that is another one in other media types: one is sent
	codeBodyParameter     = "body-parameter"            // a parameter in "body" or "formData" in 3.x: read as the request body
	codeBodySeveral       = "body-several"              // more than one body: the first is sent
	codeCollectionFormat  = "collection-format"         // a collectionFormat that is not known: csv is used
	codeExtension         = "extension"                 // an extension that can't be used: left out
	codeFormMedia         = "form-media"                // form parameters of 2.0 beside media types that hold none: a form is sent
	codeHeaderCase        = "header-case"               // a header again, in other letters: left out
	codeHeaderForbidden   = "header-forbidden"          // a header that a caller may not set (R6): left out
	codeParameterContent  = "parameter-content"         // a parameter with content of several media types: the first is used
	codeParameterOptional = "path-parameter-optional"   // a path parameter that is not required: it is, since a path has no gaps
	codeParameterDangling = "parameter-dangling"        // a parameter that is missing: left out
	codeParameterKind     = "parameter-kind"            // a parameter that is not an object: left out
	codeParameterLocation = "parameter-location"        // a location that is not supported: left out
	codeParameterName     = "parameter-name"            // a parameter without a name: left out
	codeParameterReserved = "parameter-reserved"        // a parameter that the gateway sends itself (R5): left out
	codeParameterStyle    = "parameter-style"           // a parameter that can't be written: left out
	codeOperationID       = "operation-id"              // an operationId that another operation has, too: names of tools get words of their paths
	codePathIllegal       = "path-illegal"              // a character that can't stand in a URI: percent-encoded
	codePathName          = "path-parameter-name"       // a path parameter that the path spells differently: read as its variable
	codePathQuery         = "path-query"                // a query parameter that the query of the path has already: left out
	codePathSlash         = "path-slash"                // a value of a path parameter has a slash: sent as "%2F"
	codePathNoSlash       = "path-no-slash"             // a path that does not begin with "/": read as if it did
	codePathUndeclared    = "path-parameter-undeclared" // a variable of the path without parameter: a string is asked for
	codePathUnused        = "path-parameter-unused"     // a path parameter that the path doesn't have: left out
	codePathVariable      = "path-variable"             // a variable of a path as a framework writes it: read as one
	codeQueryMap          = "query-map"                 // a map in the query as grpc-gateway describes it: read as an object
	codeSecurityDangling  = "security-dangling"         // a security scheme that is missing
	codeSecurityUndefined = "security-undefined"        // a requirement of a scheme that is not declared
	codeServer            = "server-unusable"           // a server that can't be used (S7)
	codeServerPath        = "server-path"               // a server of a discovered service that is no instance of it
	codeServerVariable    = "server-variable"           // the configuration names a variable that no server has
	codeStandard          = "standard"                  // found by the validation of the standard (Document.Report)
	codeStyle             = "style-unknown"             // a style that the location doesn't have: its default is used
	codeCharset           = "body-charset"              // a charset that is unknown: ASCII alone is sent
	codeXMLName           = "xml-name"                  // what can't be a name in XML: left out
	codeXMLRoot           = "xml-root"                  // a root element without a name: "root" is used
)

// String returns "file:line:col: pointer: message", so that editors jump to the place.
func (p Problem) String() string { return prefix(p.Position, p.Pointer) + p.Message }

// ProblemCounts returns how many problems of each code the document has, with those that are not listed.
func (a *API) ProblemCounts() map[string]int {
	counts := make(map[string]int)
	for _, p := range a.Problems {
		if p.Code == tree.CodeMore {
			counts[p.Of] += p.Count
		} else {
			counts[p.Code]++
		}
	}
	return counts
}

func prefix(at tree.Position, pointer string) string {
	var b strings.Builder
	if at.File != "" {
		b.WriteString(at.String())
		b.WriteString(": ")
	}
	if pointer != "" {
		b.WriteString(pointer)
		b.WriteString(": ")
	}
	return b.String()
}

// newProblem copies what a warning of the tree holds, whose strings may be slices of the source.
func newProblem(w tree.Warning) Problem {
	return Problem{Position: w.Position, Pointer: strings.Clone(w.Pointer), Code: w.Code, Message: strings.Clone(w.Message), Count: w.Count, Of: w.Of}
}

func problemAt(at *tree.Node, code, format string, args ...any) Problem {
	return Problem{Position: at.Position(), Pointer: strings.Clone(at.Pointer()), Code: code, Message: fmt.Sprintf(format, args...)}
}

// cause returns why a reference can't be followed. Its position is left out: it stands before the message already.
func cause(err error) string {
	var e *tree.RefError
	if errors.As(err, &e) {
		return fmt.Sprintf("$ref %q: %s", e.Ref, e.Message)
	}
	return err.Error()
}

// problems collects what the compilation of operations finds, from several goroutines. A problem of something that
// several operations share is found several times and kept once.
type problems struct {
	all *problems // of the document, if these are of one operation; they are added there too

	mu     sync.Mutex
	seen   map[Problem]struct{}
	counts map[string]int // by code, beyond what is kept too
}

// Bounds of one kind of mistake, which a generated document repeats ten thousand times: how many are listed, and how
// many are kept to choose those from, the first of the document.
const (
	mostOfOneCode = 500
	keptOfOneCode = 20 * mostOfOneCode
)

func (ps *problems) add(p Problem) {
	if ps.all != nil {
		ps.all.add(p)
	}
	ps.mu.Lock()
	defer ps.mu.Unlock()
	if ps.seen == nil {
		ps.seen, ps.counts = make(map[Problem]struct{}), make(map[string]int)
	}
	if _, known := ps.seen[p]; known {
		return
	}
	if ps.counts[p.Code]++; ps.counts[p.Code] <= keptOfOneCode {
		ps.seen[p] = struct{}{}
	}
}

// warn is add for a warning of another package.
func (ps *problems) warn(w tree.Warning) { ps.add(newProblem(w)) }

func (ps *problems) at(n *tree.Node, code, format string, args ...any) {
	ps.add(problemAt(n, code, format, args...))
}

// A refPlace is where a reference stands, as the walk of the tree and those who use it name it alike.
type refPlace struct{ file, pointer string }

func (p Problem) reference() refPlace {
	return refPlace{p.Position.File, strings.TrimSuffix(p.Pointer, "/$ref")}
}

// sorted returns what was collected by file, line, column and text. A reference that leads nowhere is found by the walk
// of the tree and again by what uses it, which also knows what became of it, so the first is left out.
func (ps *problems) sorted() []Problem {
	ps.mu.Lock()
	defer ps.mu.Unlock()
	used := make(map[refPlace]bool)
	for p := range ps.seen {
		switch p.Code {
		case schema.CodeSchemaRef, codeParameterDangling, codeSecurityDangling:
			used[p.reference()] = true
		}
	}
	all := make([]Problem, 0, len(ps.seen))
	for p := range ps.seen {
		if (p.Code == tree.CodeDanglingRef || p.Code == tree.CodeRefLoop) && used[p.reference()] {
			continue
		}
		all = append(all, p)
	}
	slices.SortFunc(all, func(a, b Problem) int {
		return cmp.Or(
			cmp.Compare(a.Position.File, b.Position.File),
			cmp.Compare(a.Position.Line, b.Position.Line),
			cmp.Compare(a.Position.Column, b.Position.Column),
			cmp.Compare(a.Message, b.Message),
			cmp.Compare(a.Pointer, b.Pointer),
		)
	})
	return ps.few(slices.CompactFunc(all, func(a, b Problem) bool { return a.Position == b.Position && a.Message == b.Message }))
}

// few shortens the list to the first of each code, and says at its end what is left out.
func (ps *problems) few(all []Problem) []Problem {
	listed := make(map[string]int)
	kept := slices.DeleteFunc(all, func(p Problem) bool {
		listed[p.Code]++
		return listed[p.Code] > mostOfOneCode
	})
	for _, code := range slices.Sorted(maps.Keys(listed)) {
		n := listed[code]
		if n > mostOfOneCode {
			n += max(0, ps.counts[code]-keptOfOneCode)
			kept = append(kept, Problem{Code: tree.CodeMore, Of: code, Count: n - mostOfOneCode,
				Message: fmt.Sprintf("%d more problems of the kind %q are left out", n-mostOfOneCode, code)})
		}
	}
	return kept
}
