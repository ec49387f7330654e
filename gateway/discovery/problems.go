package discovery

import (
	"errors"
	"fmt"
	"slices"
)

// maxProblems is the most problems that an error names.
const maxProblems = 5

// JoinProblems joins what is wrong with parts of an answer into one error, which names the first of them; nil if all are nil.
func JoinProblems(problems []error) error {
	problems = slices.DeleteFunc(slices.Clone(problems), func(err error) bool { return err == nil })
	if len(problems) > maxProblems {
		problems = append(problems[:maxProblems:maxProblems], fmt.Errorf("and %d more", len(problems)-maxProblems))
	}
	return errors.Join(problems...)
}
