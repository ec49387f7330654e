package config

import (
	"cmp"
	"maps"
	"reflect"
	"slices"
	"strings"

	"go.yaml.in/yaml/v4"

	"drawbridge/openapi/text"
)

// extensions are the keys of [Settings] that an operation of a trusted document can give itself, by the names of the
// extensions.
func extensions() map[string]string {
	return map[string]string{
		"x-sensitive-fields": "sensitive_fields",

		"x-mcp-annotations": "annotations",
		"x-mcp-async":       "job",
		"x-mcp-confirm":     "confirm",
		"x-mcp-inputs":      "inputs",
		"x-mcp-job":         "job",
		"x-mcp-resource":    "resource",
		"x-mcp-progress":    "progress",
	}
}

// ExtensionPrefix begins the names of extensions that are the gateway's: another one than [Extensions] is a mistake.
const ExtensionPrefix = "x-mcp-"

// Extensions returns the names of the extensions that are read of the operations of an API with trust_extensions, sorted.
func Extensions() []string { return slices.Sorted(maps.Keys(extensions())) }

// ExtensionKey returns the key of [Settings] that an extension stands for; "" if there is no extension of that name.
func ExtensionKey(name string) string { return extensions()[name] }

// ParseExtension reads the value of an extension, as JSON, into settings that count as a rule before all others. Its problems
// have as key the name of the extension and the path in its value, and no place. References to variables and files are
// text like any other: the document is not the operator's.
func ParseExtension(name string, value []byte) (Settings, Problems) {
	const at = "set"
	key := extensions()[name]
	l := &loader{fromDocument: true, rootType: reflect.TypeFor[Config]()}
	if key == "" {
		l.errorf(name, "unknown extension%s", cmp.Or(text.DidYouMean(text.Nearest(name, Extensions())), "; those of the gateway are "+strings.Join(Extensions(), ", ")))
		return Settings{}, l.report()
	}
	content, _, err := documents(value)
	if err != nil || content == nil {
		l.errorf(join(at, key), "can't be read")
		return Settings{}, l.renamed(join(at, key), name)
	}
	var set Settings
	node := &yaml.Node{Kind: yaml.MappingNode, Tag: "!!map", Content: []*yaml.Node{{Kind: yaml.ScalarNode, Tag: "!!str", Value: key}, content}}
	l.structure(node, reflect.ValueOf(&set).Elem(), at)
	if len(l.failed) == 0 {
		l.walk(&set, at, &Config{})
	}
	if set.Inputs != nil && len(set.Inputs) == 0 && l.ok(join(at, key)) {
		l.errorf(join(at, key), "is empty; leave it out") // a rule takes something back so, and before a document there is nothing
	}
	if set.Confirm != nil && !*set.Confirm {
		l.errorf(join(at, key), "is false: a document can ask for consent, and can't do without it")
	}
	if a := set.Annotations; a != nil && l.ok(join(at, key)) {
		a.validateTightening(cursor{loader: l, key: join(at, key)})
	}
	return set, l.renamed(join(at, key), name)
}

// renamed returns the problems with the name of an extension in place of the key that it stands for.
func (l *loader) renamed(key, name string) Problems {
	for i := range l.problems {
		p := &l.problems[i]
		p.Line, p.Column = 0, 0
		if rest, ok := strings.CutPrefix(p.Key, key); ok {
			p.Key = name + rest
		}
	}
	return l.report()
}
