package openapi

import (
	"errors"
	"fmt"
	"strings"

	"drawbridge/openapi/text"
	"drawbridge/openapi/tree"
)

// The codes of the reasons for which an operation is skipped.
const (
	codeSkipBody      = "operation-body"      // its request body can't be sent
	codeSkipInternal  = "operation-internal"  // a bug in this program
	codeSkipKind      = "operation-kind"      // something else than an operation object
	codeSkipLimit     = "operation-limit"     // one of the limits of S3
	codeSkipMethod    = "operation-method"    // a method that can't be called
	codeSkipMissing   = "operation-missing"   // a reference to it, or to its path item, has no target
	codeSkipParameter = "operation-parameter" // a required parameter can't be sent
	codeSkipPath      = "operation-path"      // a path that can't be written
	codeSkipSchema    = "operation-schema"    // no schema of the arguments can be made
	codeSkipServer    = "operation-server"    // its server is of an origin that isn't allowed
)

// SkipServer is the code of an operation whose server is on another origin than those that calls may go to.
const SkipServer = codeSkipServer

// Skipped is an operation that could not be made callable.
type Skipped struct {
	Method, Path, ID string // as in the document; ID is "" if there is none
	Tags             []string
	Position         tree.Position
	Pointer, Reason  string
	Code             string // of a closed set, like that of a Problem
}

// size returns the approximate length of its texts in bytes.
func (s *Skipped) size() int64 {
	n := len(s.Method) + len(s.Path) + len(s.ID) + len(s.Pointer) + len(s.Reason)
	for _, tag := range s.Tags {
		n += textBytes + len(tag)
	}
	return int64(n)
}

// shortCopy copies a text of the document, cut off if it is longer than any that people write.
func shortCopy(raw string) string {
	return strings.Clone(text.Truncate(raw, skippedText))
}

// String returns "file:line:col: pointer: GET /path is skipped: reason".
func (s Skipped) String() string {
	name := strings.TrimSpace(s.Method + " " + s.Path) // a missing path item has no method
	return fmt.Sprintf("%s%s is skipped: %s", prefix(s.Position, s.Pointer), name, s.Reason)
}

// A skipError ends the compilation of one operation for its reason. at is the position of the cause; nil for the
// operation itself. code is "" until it is known.
type skipError struct {
	at     *tree.Node
	reason error
	code   string
}

func (e *skipError) Error() string { return e.reason.Error() }

// Unwrap returns what was wrapped into the reason.
func (e *skipError) Unwrap() error { return errors.Unwrap(e.reason) }

func skip(at *tree.Node, format string, args ...any) error {
	return &skipError{at: at, reason: fmt.Errorf(format, args...)}
}

// coded sets the code of a reason to skip an operation, if it has none.
func coded(code string, err error) error {
	switch e := (*skipError)(nil); {
	case err == nil:
	case !errors.As(err, &e):
		return &skipError{reason: err, code: code}
	case e.code == "":
		e.code = code
	}
	return err
}
