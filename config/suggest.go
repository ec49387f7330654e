package config

import (
	"fmt"
	"reflect"
	"regexp"
	"slices"
	"strings"

	"go.yaml.in/yaml/v4"

	"drawbridge/openapi/text"
)

// unknown says what is wrong with a key that a mapping does not have, with the key that was probably meant, or where such a key can
// stand in a value of rootType.
func unknown(name *yaml.Node, parent string, fields []field, rootType reflect.Type) string {
	if name.ShortTag() == "!!merge" || name.Value == "<<" {
		return "merge keys are not supported; repeat the keys"
	}
	if name.Kind != yaml.ScalarNode {
		return fmt.Sprintf("expected a string as key, got %s", described(name))
	}
	place := listPosition.ReplaceAllString(join(parent, name.Value), "[]")
	keys := make([]string, len(fields))
	for i, f := range fields {
		keys[i] = f.name
	}
	near := text.Nearest(name.Value, keys)
	if place == "apis[].url" || place == "apis[].openapi" {
		near = "spec"
	}
	if near != "" {
		return "unknown key" + text.DidYouMean(near)
	}
	elsewhere := slices.DeleteFunc(places(rootType, "", name.Value), func(other string) bool { return far(parent, other) })
	if len(elsewhere) > 0 {
		return fmt.Sprintf("unknown key here; it is valid at %s", strings.Join(elsewhere[:min(len(elsewhere), 3)], ", "))
	}
	return fmt.Sprintf("unknown key; the keys here are %s", strings.Join(keys, ", "))
}

var listPosition = regexp.MustCompile(`\[\d+\]`)

// far tells whether a key stands so deep within something else that it is hardly what was meant here.
func far(parent, other string) bool {
	const deep = 2 // dots
	root := func(key string) string {
		return key[:len(key)-len(strings.TrimLeft(key, "abcdefghijklmnopqrstuvwxyz_"))]
	}
	return parent != "" && strings.Count(other, ".") > deep && root(parent) != root(other)
}

// places returns the key paths at which a key of this name can stand.
func places(t reflect.Type, path, name string) []string {
	var found []string
	for _, f := range fieldsOf(t) {
		at := join(path, f.name)
		if f.name == name {
			found = append(found, at)
		}
		ft := t.Field(f.index).Type
		for ft.Kind() == reflect.Pointer || ft.Kind() == reflect.Slice {
			if ft.Kind() == reflect.Slice {
				at += "[]"
			}
			ft = ft.Elem()
		}
		if ft.Kind() == reflect.Struct && !isText(ft) {
			found = append(found, places(ft, at, name)...)
		}
	}
	return found
}
