package config

import (
	"fmt"
	"slices"
	"strings"
	"unicode"
)

// Bounds of a list of dropped arguments. Names of arguments are short.
const (
	maxDropped     = 64
	maxDroppedName = 128 // bytes
)

// DroppedArguments returns the arguments that clients add to calls of the API, and whether tools.drop_arguments lists them
// rather than the API's own drop_arguments.
func (c *Config) DroppedArguments(a *API) (names []string, general bool) {
	if a.DropArguments != nil {
		return a.DropArguments, false
	}
	return c.Tools.DropArguments, true
}

func (l *loader) dropArguments(key string, names []string) {
	if len(names) > maxDropped && l.ok(key) {
		l.errorf(key, "has %d names, and at most %d are allowed", len(names), maxDropped)
	}
	for i, name := range names {
		k := fmt.Sprintf("%s[%d]", key, i)
		switch at := strings.IndexFunc(name, unicode.IsControl); {
		case !l.ok(k):
		case at >= 0:
			l.errorf(k, "holds the control character %U", []rune(name[at:])[0])
		case len(name) > maxDroppedName:
			l.errorf(k, "is longer than %d bytes", maxDroppedName)
		case slices.Contains(names[:i], name):
			l.errorf(k, "%s is listed twice", quote(name))
		}
	}
}
