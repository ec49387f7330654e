package openapi

import (
	"errors"
	"fmt"
	"time"

	"drawbridge/openapi/pacing"
	"drawbridge/openapi/tree"
)

// loadBudget is what reading and compiling one document may take. Of the real documents that `make corpus` reads none uses more than a
// quarter of it (TestCorpusBudget).
var loadBudget = pacing.Budget{Steps: 1_000_000, Bytes: 2, Time: 10 * time.Minute}

// stepsOfOperation is what an operation takes beside its schemas.
const stepsOfOperation = 64

// exceeded is the error of a document whose budget was used up while the part at n was worked at; that of a context stays as it is.
func (d *Document) exceeded(ended error, n *tree.Node) error {
	if e := (*pacing.Ended)(nil); errors.As(ended, &e) {
		return e.Err
	}
	return fmt.Errorf("%s%w", prefix(n.Position(), n.Pointer()), ended)
}
