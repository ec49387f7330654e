package jsonpath

import (
	"errors"
	"fmt"
)

// Work counts the cost of queries. Its error ends the selection.
type Work interface {
	// Take takes a number of steps, each worth about the visit of a node.
	Take(steps int) error
}

// Limits of one query.
const (
	// MaxBytes is the maximum length of a query, in bytes.
	MaxBytes = 16 << 10

	maxDepth        = 32      // nesting of filters, parentheses and function calls
	maxSelected     = 500_000 // nodes between two segments
	maxPattern      = 1_000   // bytes of a regular expression
	maxProgram      = 10_000  // instructions of a compiled regular expression
	maxPatterns     = 64      // compiled regular expressions that a selection keeps
	selectSteps     = 6       // for a node that is selected
	textPerStep     = 64      // bytes of a text that are read, parsed or compared in one step
	digitsPerStep   = 8       // characters of a number that are parsed in one step
	matchPerStep    = 8       // instructions of a regular expression times bytes of a text, in one step
	compileSteps    = 5       // for a byte of a regular expression and an instruction of its program
	maxPathNumber   = 1<<53 - 1
	maxShownPattern = 60
)

var (
	errTooLong         = fmt.Errorf("it is longer than %d bytes", MaxBytes)
	errTooManySelected = fmt.Errorf("selects more than %d values before its last segment; narrow it", maxSelected)

	// ErrTooDeep is the error of a query whose filters, parentheses or functions are nested too deep.
	ErrTooDeep = errors.New("filters, parentheses and functions are nested more than 32 levels deep")
)
