package config

import (
	"cmp"
	"reflect"
	"slices"
)

// reloadEffect is what a change of a key means for a running process. The tag reload of a field names it, for all keys below that have
// no tag of their own.
type reloadEffect string

const (
	// reloadLive keys take effect with the configuration; no connection to a service ends, and no document is looked at for them.
	reloadLive reloadEffect = "live"
	// reloadReconnect keys belong to the client of an API: a change replaces it with its connections, and keeps the compiled document.
	reloadReconnect reloadEffect = "reconnect"
	// reloadRecompile keys are part of what documents are compiled to: a change replaces the client and compiles the document again.
	reloadRecompile reloadEffect = "recompile"
	// reloadRestart keys are read when a process starts, and never again.
	reloadRestart reloadEffect = "restart"
)

// visitEffect is called with a key, the effect of its change, and its field's index.
type visitEffect func(key string, effect reloadEffect, index []int)

// eachEffect visits the keys of a struct type, those below a key only if they differ in their effects.
func eachEffect(t reflect.Type, key string, inherited reloadEffect, index []int, visit visitEffect) {
	for _, f := range fieldsOf(t) {
		sf := t.Field(f.index)
		effect := effectOf(sf, inherited)
		at, below := append(slices.Clone(index), f.index), join(key, f.name)
		if tagged(sf.Type) {
			eachEffect(sf.Type, below, effect, at, visit)
		} else {
			visit(below, effect, at)
		}
	}
}

func effectOf(f reflect.StructField, inherited reloadEffect) reloadEffect {
	return cmp.Or(reloadEffect(f.Tag.Get("reload")), inherited)
}

// tagged reports whether a type is a struct whose keys have effects of their own.
func tagged(t reflect.Type) bool {
	return t.Kind() == reflect.Struct && slices.ContainsFunc(reflect.VisibleFields(t), func(f reflect.StructField) bool { return f.Tag.Get("reload") != "" })
}

// only returns a section of the configuration with the keys that have one of the effects; the others are zero. inherited is the effect of
// the section itself.
func only[T any](section T, inherited reloadEffect, effects ...reloadEffect) T {
	v := reflect.ValueOf(&section).Elem()
	eachEffect(v.Type(), "", inherited, nil, func(_ string, effect reloadEffect, index []int) {
		if !slices.Contains(effects, effect) {
			v.FieldByIndex(index).SetZero()
		}
	})
	return section
}

// sectionEffect returns the effect of a section of [Config], by the name of its field.
func sectionEffect(name string) reloadEffect {
	f, _ := reflect.TypeFor[Config]().FieldByName(name)
	return effectOf(f, "")
}

// Compiled returns the keys that decide what the API's document is compiled to. Between two configurations in which these are equal, a
// compiled document can be kept.
func (a API) Compiled() API { return only(a, sectionEffect("APIs"), reloadRecompile) }

// Compiled returns the limits that decide what documents are compiled to.
func (l Limits) Compiled() Limits { return only(l, sectionEffect("Limits"), reloadRecompile) }

// OfSources returns the limits that APIs are loaded and called by, without those on callers.
func (l Limits) OfSources() Limits {
	return only(l, sectionEffect("Limits"), reloadRecompile, reloadReconnect)
}
