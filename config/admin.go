package config

import (
	"bytes"
	"path/filepath"
	"reflect"
)

// DefaultAdminListen returns admin.listen of a configuration that does not say it.
func DefaultAdminListen() Address {
	var a Admin
	(&loader{}).defaults(reflect.ValueOf(&a).Elem())
	return a.Listen
}

// AdminListen returns admin.listen of a configuration file of which nothing else need be right, for who looks for a gateway that
// runs with an earlier text of it. false: not even that can be read.
func AdminListen(location string, getenv func(string) string) (Address, bool) {
	data, err := readFile(location)
	if err != nil {
		return "", false
	}
	l := &loader{file: location, dir: filepath.Dir(location), getenv: getenv}
	var cfg Config
	root := l.parse(bytes.TrimPrefix(data, []byte("\ufeff")))
	if root == nil {
		return "", false
	}
	l.root(root, &cfg)
	return cfg.Admin.Listen, cfg.Admin.Listen != "" && !l.failed["admin"] && !l.failed["admin.listen"]
}
