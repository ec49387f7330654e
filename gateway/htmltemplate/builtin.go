package htmltemplate

import (
	"cmp"
	"fmt"
	"reflect"
)

// builtins are the functions of every template, with the meaning that they have in text/template. and and or evaluate all of their
// arguments.
var builtins = Functions{
	"and":   func(args ...any) any { return firstOf(args, false) },
	"or":    func(args ...any) any { return firstOf(args, true) },
	"not":   func(v any) bool { return !truth(reflect.ValueOf(v)) },
	"eq":    func(a, b any) bool { return basic(a) == basic(b) },
	"ne":    func(a, b any) bool { return basic(a) != basic(b) },
	"gt":    func(a, b int) bool { return cmp.Compare(a, b) > 0 },
	"len":   length,
	"index": index,
}

// firstOf returns the first of some values that counts as true or not, or the last.
func firstOf(args []any, want bool) any {
	for _, a := range args {
		if truth(reflect.ValueOf(a)) == want {
			return a
		}
	}
	return args[len(args)-1]
}

// basic returns a value such that a named string equals the same string, and a named number the same number.
func basic(v any) any {
	r := indirect(reflect.ValueOf(v))
	switch {
	case !r.IsValid():
		return nil
	case r.Kind() == reflect.String:
		return r.String()
	case r.CanInt():
		return r.Int()
	case r.CanUint():
		return int64(r.Uint()) //nolint:gosec // counts
	}
	return r.Interface()
}

func length(v any) (int, error) {
	r := indirect(reflect.ValueOf(v))
	switch r.Kind() {
	case reflect.Slice, reflect.Array, reflect.Map, reflect.String:
		return r.Len(), nil
	default:
		return 0, fmt.Errorf("a value of type %T has no length", v)
	}
}

// index returns a member of a map; the zero value if there is none.
func index(m, key any) (any, error) {
	r, k := indirect(reflect.ValueOf(m)), reflect.ValueOf(key)
	if r.Kind() != reflect.Map || !k.IsValid() || !k.Type().AssignableTo(r.Type().Key()) {
		return nil, fmt.Errorf("a value of type %T has no index of type %T", m, key)
	}
	if v := r.MapIndex(k); v.IsValid() {
		return v.Interface(), nil
	}
	return reflect.Zero(r.Type().Elem()).Interface(), nil
}
