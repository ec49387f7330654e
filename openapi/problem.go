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

// A Position is a position in a file.
type Position = tree.Position

// A Problem is something in a document that was repaired, left out or guessed. The operations that it concerns are
// still served, except those listed in API.Skipped.
type Problem struct {
	Position tree.Position // the zero Position if it concerns the whole document
	Pointer  string        // RFC 6901 pointer from the root of the file that Position names
	Code     string        // one of a closed set of kebab-case codes, for counting and for tests
	Message  string        // the fault and its treatment

	// For the code "more": the number and the code of problems that are not listed, because there are too many.
	Count int
	Of    string
}

// The codes of the problems that this package finds, in addition to those of the packages tree and schema.
const (
	codeBodyEmpty         = "body-empty"                // a request body without content
	codeBodyKind          = "body-kind"                 // a request body that is not an object: left out
	codeBodyMedia         = "body-media-types"          // a body that differs in other media types: one is sent
	codeBodyParameter     = "body-parameter"            // a parameter in "body" or "formData" in 3.x: read as the request body
	codeBodySeveral       = "body-several"              // more than one body: the first is sent
	codeCollectionFormat  = "collection-format"         // a collectionFormat that is not known: csv is used
	codeExtension         = "extension"                 // an extension that can't be used: left out
	codeFormMedia         = "form-media"                // form parameters of 2.0 with media types that can't encode them: a form is sent
	codeHeaderCase        = "header-case"               // a duplicate header in different case: left out
	codeHeaderForbidden   = "header-forbidden"          // a header that a caller may not set (R6): left out
	codeParameterContent  = "parameter-content"         // a parameter with content of several media types: the first is used
	codeParameterOptional = "path-parameter-optional"   // a path parameter that is not required: it is required, since a path has no gaps
	codeParameterDangling = "parameter-dangling"        // a parameter that is missing: left out
	codeParameterKind     = "parameter-kind"            // a parameter that is not an object: left out
	codeParameterLocation = "parameter-location"        // a location that is not supported: left out
	codeParameterName     = "parameter-name"            // a parameter without a name: left out
	codeParameterReserved = "parameter-reserved"        // a parameter that the gateway sends itself (R5): left out
	codeParameterStyle    = "parameter-style"           // a parameter that can't be written: left out
	codeOperationID       = "operation-id"              // an operationId of another operation: names of tools get words of their paths
	codePathIllegal       = "path-illegal"              // a character that is not allowed in a URI: percent-encoded
	codePathName          = "path-parameter-name"       // a path parameter that the path spells differently: treated as its variable
	codePathQuery         = "path-query"                // a query parameter that the query of the path already has: left out
	codePathSlash         = "path-slash"                // a value of a path parameter has a slash: sent as "%2F"
	codePathNoSlash       = "path-no-slash"             // a path that does not begin with "/": treated as if it did
	codePathUndeclared    = "path-parameter-undeclared" // a variable of the path without a parameter: it becomes a string argument
	codePathUnused        = "path-parameter-unused"     // a path parameter that the path doesn't have: left out
	codePathVariable      = "path-variable"             // a variable of a path in the notation of a framework: converted
	codeQueryMap          = "query-map"                 // a map in the query as grpc-gateway describes it: treated as an object
	codeSecurityDangling  = "security-dangling"         // a security scheme that is missing
	codeSecurityUndefined = "security-undefined"        // a requirement of a scheme that is not declared
	codeServer            = "server-unusable"           // a server that can't be used (S7)
	codeServerPath        = "server-path"               // a server of a discovered service that is not an instance of it
	codeServerVariable    = "server-variable"           // the configuration names a variable that no server has
	codeStandard          = "standard"                  // found by the validation of the standard (Document.Report)
	codeStyle             = "style-unknown"             // a style that the location doesn't have: its default is used
	codeCharset           = "body-charset"              // an unknown charset: only ASCII is sent
	codeXMLName           = "xml-name"                  // an invalid name in XML: left out
	codeXMLRoot           = "xml-root"                  // a root element without a name: "root" is used
)

// String returns "file:line:col: pointer: message", the form that editors jump to.
func (p Problem) String() string { return prefix(p.Position, p.Pointer) + p.Message }

// ProblemCounts returns the number of problems of each code, including those that are not listed.
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

// newProblem copies a warning of the tree, whose strings may be slices of the source.
func newProblem(w tree.Warning) Problem {
	return Problem{Position: w.Position, Pointer: strings.Clone(w.Pointer), Code: w.Code, Message: strings.Clone(w.Message), Count: w.Count, Of: w.Of}
}

func problemAt(at *tree.Node, code, format string, args ...any) Problem {
	return Problem{Position: at.Position(), Pointer: strings.Clone(at.Pointer()), Code: code, Message: fmt.Sprintf(format, args...)}
}

// cause returns the reason why a reference can't be followed, without its position, which already precedes the message.
func cause(err error) string {
	var e *tree.RefError
	if errors.As(err, &e) {
		return fmt.Sprintf("$ref %q: %s", e.Ref, e.Message)
	}
	return err.Error()
}

// problems collects the problems found by the compilation of operations, from several goroutines. A problem of a part
// that several operations share is found several times and kept once.
type problems struct {
	all *problems // of the document, if these are of one operation; problems are also added there

	mu     sync.Mutex
	seen   map[Problem]struct{}
	counts map[string]int // by code, including those that are not kept
}

// Limits of one kind of mistake, which a generated document repeats ten thousand times: how many are listed, and how
// many are kept to select those from, the first of the document.
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

// A refPlace is the position of a reference, in the form that the walk of the tree and its users share.
type refPlace struct{ file, pointer string }

func (p Problem) reference() refPlace {
	return refPlace{p.Position.File, strings.TrimSuffix(p.Pointer, "/$ref")}
}

// sorted returns the collected problems by file, line, column and text. A reference without a target is found by the
// walk of the tree and again by its user, which also knows the consequence, so the first is left out.
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

// few shortens the list to the first of each code, and appends the numbers of omitted ones.
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
