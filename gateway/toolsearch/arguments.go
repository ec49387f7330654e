package toolsearch

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"drawbridge/openapi/jsonscan"
	"drawbridge/openapi/text"
)

// ArgumentError lists all that is wrong with the arguments of one of the tools.
type ArgumentError struct{ Faults []string }

// Error returns the faults for the model that sent the arguments.
func (e *ArgumentError) Error() string {
	return "The arguments don't fit: " + strings.Join(e.Faults, "; ") + "."
}

// arguments reads the arguments of a call and collects what is wrong with them.
type arguments struct {
	object []byte // nil if there are none
	known  []string
	faults []string
}

func (a *arguments) fault(format string, args ...any) {
	a.faults = append(a.faults, fmt.Sprintf(format, args...))
}

// value returns an argument, nil if it is absent or null.
func (a *arguments) value(name string) []byte {
	a.known = append(a.known, name)
	if v := jsonscan.Lookup(a.object, name); jsonscan.KindOf(v) != jsonscan.Null {
		return v
	}
	return nil
}

// text returns an argument that is a string.
func (a *arguments) text(name string, required bool) string {
	v := a.value(name)
	switch kind := jsonscan.KindOf(v); {
	case kind == jsonscan.String:
		text := strings.TrimSpace(string(jsonscan.Unquote(v)))
		if required && text == "" {
			a.fault("%s must not be empty", name)
		}
		return text
	case kind != 0:
		a.fault("%s must be a string, not %s", name, kind)
	case required:
		a.fault("%s is missing: it must be a string", name)
	}
	return ""
}

// number returns an argument that is a whole number of at least 1, cut at most, and whether it was cut. Models that write
// numbers as strings are understood.
func (a *arguments) number(name string, otherwise, most int) (n int, cut bool) {
	v := a.value(name)
	if v == nil {
		return otherwise, false
	}
	if jsonscan.KindOf(v) == jsonscan.String {
		v = jsonscan.Unquote(v)
	}
	n, err := strconv.Atoi(string(v))
	if err != nil || n < 1 {
		a.fault("%s must be a whole number from 1 to %d", name, most)
		return otherwise, false
	}
	return min(n, most), n > most
}

// flag returns an argument that is true or false.
func (a *arguments) flag(name string) bool {
	v := a.value(name)
	if kind := jsonscan.KindOf(v); kind != 0 && kind != jsonscan.Bool {
		a.fault("%s must be true or false, not %s", name, kind)
	}
	return string(v) == "true"
}

// choice returns an argument that is one of several strings, the first if it is absent.
func (a *arguments) choice(name string, of ...string) string {
	given := a.text(name, false)
	if given == "" {
		return of[0]
	}
	if !slices.Contains(of, given) {
		a.fault("%s must be one of %s, not %q", name, strings.Join(of, ", "), text.Truncate(given, 64))
	}
	return given
}

// texts returns an argument that is a list of 1 to most strings; one string stands for a list of one.
func (a *arguments) texts(name string, required bool, most int) (all []string) {
	v := a.value(name)
	switch kind := jsonscan.KindOf(v); kind {
	case jsonscan.String:
		all = append(all, string(jsonscan.Unquote(v)))
	case jsonscan.Array:
		for element := range jsonscan.Elements(v) {
			if jsonscan.KindOf(element) != jsonscan.String {
				a.fault("%s must hold strings only", name)
				return nil
			}
			all = append(all, string(jsonscan.Unquote(element)))
		}
		if len(all) == 0 || len(all) > most {
			a.fault("%s must hold 1 to %d strings, not %d", name, most, len(all))
		}
	case 0:
		if required {
			a.fault("%s is missing: it must be a list of strings", name)
		}
	case jsonscan.Null, jsonscan.Bool, jsonscan.Number, jsonscan.Object:
		a.fault("%s must be a list of strings, not %s", name, kind)
	}
	return all
}

// nested returns an argument that is an object. Models that write it as a string with JSON inside are understood.
func (a *arguments) nested(name string) []byte {
	v := a.value(name)
	switch kind := jsonscan.KindOf(v); kind {
	case 0:
		return nil
	case jsonscan.Object:
		return v
	case jsonscan.Array:
		for range jsonscan.Elements(v) {
			a.fault("%s must be an object, not %s", name, kind)
			break
		}
		return nil // [] is how PHP writes an empty object (pains row 166)
	case jsonscan.String:
		inner := jsonscan.Unquote(v)
		info, err := jsonscan.Scan(inner, jsonscan.Options{Unique: true})
		if err == nil && info.Kind == jsonscan.Object {
			return inner
		}
		a.fault("%s must be an object, not a string", name)
	case jsonscan.Null, jsonscan.Bool, jsonscan.Number:
		a.fault("%s must be an object, not %s", name, kind)
	}
	return nil
}

// err returns what is wrong, including arguments that were not asked for; nil if nothing is.
func (a *arguments) err() error {
	if a.object != nil {
		for name := range jsonscan.Members(a.object) {
			if !slices.Contains(a.known, string(name)) {
				a.fault("%q is not an argument; there are %s", text.Truncate(string(name), 64), strings.Join(a.known, ", "))
			}
		}
	}
	if len(a.faults) == 0 {
		return nil
	}
	return &ArgumentError{a.faults}
}
