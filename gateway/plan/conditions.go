package plan

import (
	"errors"
	"strconv"
	"strings"

	"drawbridge/auth"
	"drawbridge/config"
)

// CompileConditions compiles the conditions of all rules, keyed by their text. The error joins all faults, with their
// positions.
func CompileConditions(c *config.Config) (map[string]*auth.Condition, error) {
	conditions := map[string]*auth.Condition{}
	var errs []error
	for n := range c.Rules {
		text := c.Rules[n].Set.Condition
		if text == "" || conditions[text] != nil {
			continue
		}
		condition, err := auth.NewCondition(text)
		if err != nil {
			for line := range strings.Lines(err.Error()) { // one line per error
				reason := strings.TrimPrefix(strings.TrimSpace(line), "condition: ")
				errs = append(errs, c.Wrong("rules["+strconv.Itoa(n)+"].set.condition", errors.New(reason)))
			}
			continue
		}
		conditions[text] = condition
	}
	return conditions, errors.Join(errs...)
}
