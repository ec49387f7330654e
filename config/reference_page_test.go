package config

import (
	"bytes"
	"cmp"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// notation explains the types and marks of the tables.
const notation = "Durations are written as `300ms`, `30s` or `1h30m`, sizes as bytes or as `64KiB`, `8MiB` or `1GB`. **Restart** marks keys that are read only when the process starts."

// TestReference holds the index of keys at the end of docs/configuration.md, and the page of each key of the root, against the types.
func TestReference(t *testing.T) {
	manual, err := os.ReadFile(manualFile)
	if err != nil {
		t.Fatal(err)
	}
	const heading = "\n## Reference\n"
	before, _, ok := bytes.Cut(manual, []byte(heading))
	if !ok {
		t.Fatalf("%s has no heading for the reference", manualFile)
	}
	index, pages := newReference(t).markdown()
	compareFile(t, manualFile, slices.Concat(before, []byte(heading), []byte(index)))
	for name, text := range pages {
		compareFile(t, filepath.Join(pagesDir, name+".md"), []byte(text))
	}
	files, err := os.ReadDir(pagesDir)
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		if _, ok := pages[strings.TrimSuffix(file.Name(), ".md")]; !ok {
			t.Errorf("%s/%s is the page of no key; remove it", pagesDir, file.Name())
		}
	}
}

// referenceSection is where the reference describes a struct type.
type referenceSection struct {
	path    string // of its keys; empty for the root
	page    string // the key of the root
	heading string
}

// anchor is the name of the heading in links: lower case, without signs.
func (p referenceSection) anchor() string {
	return regexp.MustCompile(`[^a-z0-9_-]`).ReplaceAllString(strings.ReplaceAll(strings.ToLower(p.heading), " ", "-"), "")
}

// under returns the type that a key holds, and the path of that type's keys.
func under(t reflect.Type, path string) (reflect.Type, string) {
	for {
		switch t.Kind() {
		case reflect.Slice:
			path += "[]"
		case reflect.Map:
			path += ".NAME"
		case reflect.Pointer:
		default:
			return t, path
		}
		t = t.Elem()
	}
}

// referenceSections returns where each struct type is described: at the first key that holds it.
func referenceSections() map[reflect.Type]referenceSection {
	all := map[reflect.Type]referenceSection{reflect.TypeFor[Config](): {heading: "The root"}}
	known := structs()
	for _, t := range known {
		for _, f := range fieldsOf(t) {
			ft, path := under(t.Field(f.index).Type, join(all[t].path, f.name))
			if _, done := all[ft]; done || !slices.Contains(known, ft) {
				continue
			}
			p := referenceSection{path: path, page: cmp.Or(all[t].page, f.name), heading: "`" + path + "`"}
			if ft == reflect.TypeFor[Selector]() {
				p.heading = "A selector"
			}
			all[ft] = p
		}
	}
	return all
}

// markdown returns the index of all keys, and a page for each key of the root with a table for each struct type.
func (r *reference) markdown() (index string, pages map[string]string) {
	all := referenceSections()
	var list strings.Builder
	list.WriteString("\nA page for each key of the root describes all keys below it. " + notation + "\n\n### The root\n\n| key | type | default | description |\n|---|---|---|---|\n")
	texts, order := map[string]*strings.Builder{}, []string{}
	for _, f := range fieldsOf(reflect.TypeFor[Config]()) {
		sf := reflect.TypeFor[Config]().Field(f.index)
		description := r.fields["Config."+sf.Name]
		fmt.Fprintf(&list, "| [`%s`](configuration/%s.md) | %s | %s | %s%s |\n", f.name, f.name, valueWords(sf.Type, f), defaultWords(sf, f), description, restartWords(sf))
		texts[f.name], order = &strings.Builder{}, append(order, f.name)
		fmt.Fprintf(texts[f.name], "# Configuration: %s\n\n%s\n\n[Configuration](../configuration.md) has examples, and an index of all keys. %s\n", f.name, description, notation)
	}
	keys := map[string][]string{}
	for _, t := range structs() {
		p := all[t]
		if p.page == "" {
			continue
		}
		link := fmt.Sprintf("[%s](configuration/%s.md#%s)", p.heading, p.page, p.anchor())
		if t == reflect.TypeFor[APIDefaults]() {
			fmt.Fprintf(texts[p.page], "\n## %s\n\nThe keys of [`apis[]`](apis.md#apis), except %s.\n", p.heading, strings.Join(inCode(slices.Sorted(maps.Keys(notShared))), ", "))
			keys[p.page] = append(keys[p.page], "#### "+p.heading+"\n\n"+link+": the keys of `apis[]`")
			continue
		}
		fmt.Fprintf(texts[p.page], "\n## %s\n\n| key | type | default | description |\n|---|---|---|---|\n", p.heading)
		names := []string{}
		for _, f := range fieldsOf(t) {
			sf := t.Field(f.index)
			names = append(names, f.name)
			words := valueWords(sf.Type, f)
			if ft, _ := under(sf.Type, ""); all[ft].page != "" {
				file := ""
				if all[ft].page != p.page {
					file = all[ft].page + ".md"
				}
				words = fmt.Sprintf("[%s](%s#%s)", words, file, all[ft].anchor())
			}
			fmt.Fprintf(texts[p.page], "| `%s` | %s | %s | %s%s |\n", f.name, words, defaultWords(sf, f),
				strings.ReplaceAll(r.fields[t.Name()+"."+sf.Name], "|", `\|`), restartWords(sf))
		}
		keys[p.page] = append(keys[p.page], "#### "+p.heading+"\n\n"+link+": "+strings.Join(inCode(names), ", "))
	}
	list.WriteString("\n### Index of keys\n")
	pages = map[string]string{}
	for _, name := range order {
		for _, entry := range keys[name] {
			list.WriteString("\n" + entry + "\n")
		}
		pages[name] = texts[name].String()
	}
	return list.String(), pages
}

// restartWords marks a key that is read only when a process starts.
func restartWords(sf reflect.StructField) string {
	if reloadEffect(sf.Tag.Get("reload")) == reloadRestart {
		return " **Restart.**"
	}
	return ""
}

func defaultWords(sf reflect.StructField, f field) string {
	switch {
	case f.needed:
		return "required"
	case f.hasPreset:
		return "`" + f.preset + "`"
	}
	return sf.Tag.Get("absent")
}

func valueWords(t reflect.Type, f field) string {
	if e, ok := reflect.Zero(t).Interface().(enum); ok {
		return "`" + strings.Join(e.values(), "`, `") + "`"
	}
	bounds := ""
	if f.low != "" {
		bounds = fmt.Sprintf(" %s–%s", f.low, f.high)
	}
	switch t {
	case reflect.TypeFor[Secret]():
		return "secret"
	case reflect.TypeFor[Address]():
		return "host:port"
	case reflect.TypeFor[File]():
		return "path"
	case reflect.TypeFor[ByteSize]():
		return "size" + bounds
	case reflect.TypeFor[TokenCount]():
		return "tokens" + bounds
	case reflect.TypeFor[Duration]():
		return "duration" + bounds
	}
	if _, ok := reflect.Zero(t).Interface().(single); ok {
		return strings.TrimPrefix(expected(t), "a ")
	}
	switch t.Kind() {
	case reflect.Pointer:
		return valueWords(t.Elem(), f)
	case reflect.Bool:
		return "boolean"
	case reflect.Int:
		return "integer" + bounds
	case reflect.Slice:
		of := valueWords(t.Elem(), f)
		switch t.Elem() {
		case reflect.TypeFor[Secret]():
			of = "secrets"
		case reflect.TypeFor[string](), reflect.TypeFor[Field]():
			of = "strings"
		case reflect.TypeFor[URL](), reflect.TypeFor[Origin](), reflect.TypeFor[CallerOrigin]():
			of = "URLs"
		case reflect.TypeFor[Network]():
			of = "networks"
		case reflect.TypeFor[File]():
			of = "paths"
		case reflect.TypeFor[Location]():
			of = "URLs or paths"
		case reflect.TypeFor[Pointer]():
			of = "JSON Pointers"
		case reflect.TypeFor[PassedHeader](), reflect.TypeFor[SlashParameter](), reflect.TypeFor[Icon]():
			of = "strings or mappings"
		case reflect.TypeFor[Algorithm](), reflect.TypeFor[IDTokenClaim](), reflect.TypeFor[SharedUse](), reflect.TypeFor[Signal]():
		default:
			of = "mappings"
		}
		return "list of " + of
	case reflect.Map:
		switch t.Elem().Kind() {
		case reflect.Struct:
			return "mapping"
		case reflect.Slice:
			return "mapping of lists of strings"
		case reflect.Pointer:
			if t.Elem() == reflect.TypeFor[*RequestValue]() {
				return "mapping of strings or mappings"
			}
			return "mapping of mappings"
		}
		return "mapping of strings"
	default:
		return strings.TrimPrefix(expected(t), "a ") + bounds
	}
}

func inCode(keys []string) (out []string) {
	for _, key := range keys {
		out = append(out, "`"+key+"`")
	}
	return out
}
