package config

import (
	"fmt"
	"strconv"
	"strings"
)

// placeholder stands for a missing value. It is as long as the longest minimum of a secret.
const placeholder = "unset-unset-unset-unset-unset-unset"

// placeholderURL stands for a missing value where a URL is expected; the name has no address (RFC 6761 section 6.4).
const placeholderURL = "https://unset.invalid"

// missing is a reference whose value is not at hand.
type missing struct {
	reference string // as it is shown
	reason    error
}

// missing returns what stands for the value of a reference.
func (e *expansion) missing(reference string, reason error) string {
	e.unset = append(e.unset, missing{reference, reason})
	return placeholder
}

// note warns of what is missing, unless that was noted, and has nothing that depends on the key checked.
func (l *loader) note(key string, all ...missing) {
	for _, m := range all {
		if l.unset == nil {
			l.unset, l.noted = map[string]bool{}, map[string]bool{}
		}
		l.unset[key] = true
		if !l.noted[m.reference] {
			l.noted[m.reference] = true
			l.warnf(key, "%s: %s; what depends on it is not checked", m.reference, m.reason)
		}
	}
}

// secretMissing notes a file that can't be read, if that is not an error.
func (l *loader) secretMissing(key string, file File) bool {
	if !l.withoutSecrets {
		return false
	}
	_, _, err := readRegular(string(file))
	if err != nil {
		l.note(key, missing{strconv.Quote(string(file)), fmt.Errorf("can't be read: %w", err)})
	}
	return err != nil
}

// unsetBelow reports whether a value at or below a key is missing.
func (l *loader) unsetBelow(key string) bool {
	for k := range l.unset {
		if k == key || strings.HasPrefix(k, key+".") || strings.HasPrefix(k, key+"[") {
			return true
		}
	}
	return false
}
