package openapi

import (
	"errors"
	"fmt"
	"time"

	"drawbridge/openapi/pacing"
	"drawbridge/openapi/tree"
)

// loadBudget limits the work of reading and compiling one document. No real document that `make corpus` reads uses more than a quarter of
// it (TestCorpusBudget).
var loadBudget = pacing.Budget{Steps: 1_000_000, Bytes: 2, Time: 10 * time.Minute}

// stepsOfOperation is the number of steps of an operation without its schemas.
const stepsOfOperation = 64

// exceeded is the error of a document whose budget was used up while the part at n was processed; the error of a context is returned unchanged.
func (d *Document) exceeded(ended error, n *tree.Node) error {
	if e := (*pacing.Ended)(nil); errors.As(ended, &e) {
		return e.Err
	}
	return fmt.Errorf("%s%w", prefix(n.Position(), n.Pointer()), ended)
}
