package config

import (
	"fmt"
	"strings"
	"unicode"
)

// maxDroppedName bounds the name of a dropped argument, in bytes. Names of arguments are short.
const maxDroppedName = 128

// DroppedArguments returns the arguments that clients add to calls of the API, and whether tools.drop_arguments lists them
// rather than the API's own drop_arguments.
func (c *Config) DroppedArguments(a *API) (names []string, general bool) {
	if a.DropArguments != nil {
		return a.DropArguments, false
	}
	return c.Tools.DropArguments, true
}

// checkDropped refuses what is no name of an argument that clients may add.
func checkDropped(name string) error {
	if at := strings.IndexFunc(name, unicode.IsControl); at >= 0 {
		return fmt.Errorf("holds the control character %U", []rune(name[at:])[0])
	}
	if len(name) > maxDroppedName {
		return fmt.Errorf("is longer than %d bytes", maxDroppedName)
	}
	return nil
}
