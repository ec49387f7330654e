package config

import (
	"bytes"
	"fmt"
	"maps"
	"path/filepath"
	"reflect"
	"strconv"

	"go.yaml.in/yaml/v4"
)

// Included is a file that [Include] adds: the keys that a team decides about.
type Included struct {
	// The OpenAPI documents whose operations become tools. Each API needs a name.
	APIs []API `yaml:"apis,omitempty" absent:"none" empty:"leave it out, or list an OpenAPI document"`
	// Settings for the tools of the APIs of the same entry of include. The rules of the main file come after them.
	Rules []Rule `yaml:"rules,omitempty" absent:"none" empty:"leave it out"`
}

// readIncluded reads the included files. Their APIs come after those of the main file, and their rules before, so that the main file has the
// last word.
func (l *loader) readIncluded(cfg *Config) {
	if len(cfg.Include) == 0 || l.failed["include"] {
		return
	}
	main := fileShare{file: l.file, apis: span{0, len(cfg.APIs)}}
	var rules []Rule
	var all []*loader
	seen := map[string]int{}
	for i := range cfg.Include {
		in, key := &cfg.Include[i], fmt.Sprintf("include[%d]", i)
		if l.failed[key] || l.faulty(key) {
			continue
		}
		var readers []*loader
		own := Included{}
		for _, text := range l.includedTexts(key, in) {
			if other, twice := seen[text.file]; twice {
				l.errorf(key+".files", "%q is a file of include[%d] too, and a file has the grants of one entry", text.file, other)
				continue
			}
			seen[text.file] = i
			read, t := l.readIncludedFile(&text, in)
			l.texts[in.NamePrefix] = append(l.texts[in.NamePrefix], &partText{text.file, text.data, t.secrets})
			t.shares = []fileShare{{text.file, span{len(own.APIs), len(read.APIs)}, span{len(own.Rules), len(read.Rules)}}}
			own.APIs, own.Rules = append(own.APIs, read.APIs...), append(own.Rules, read.Rules...)
			readers = append(readers, t)
		}
		for _, t := range readers {
			t.validateGrants(&own, t.shares[0], in)
			t.shares[0].apis.first += len(cfg.APIs)
			t.shares[0].rules.first += len(rules)
			l.adopt(t, key)
		}
		all = append(all, readers...)
		cfg.APIs, rules = append(cfg.APIs, own.APIs...), append(rules, own.Rules...)
	}
	main.rules = span{len(rules), len(cfg.Rules)}
	l.positions, l.failed, l.unset = relocated(l.positions, main, true), relocated(l.failed, main, true), relocated(l.unset, main, true)
	for _, t := range all {
		share := t.shares[0]
		l.shares = append(l.shares, share)
		l.positions = merged(l.positions, relocated(t.positions, share, false))
		l.failed = merged(l.failed, relocated(t.failed, share, false))
		l.unset = merged(l.unset, relocated(t.unset, share, false))
	}
	l.shares = append(l.shares, main)
	cfg.Rules = append(rules, cfg.Rules...)
}

// includedTexts returns the files of an entry, sorted, with their texts if they stay as they are in use. Their directory is watched, for files that
// come and go.
func (l *loader) includedTexts(key string, in *Include) (texts []partText) {
	dir, pattern := filepath.Split(in.Files.String())
	l.files = append(l.files, filepath.Clean(dir))
	if kept := l.kept[in.NamePrefix]; kept != nil {
		for _, text := range kept {
			texts = append(texts, *text)
		}
		return texts
	}
	names, err := regularNames(filepath.Clean(dir), func(name string) bool {
		matches, err := filepath.Match(pattern, name)
		return err == nil && matches && documentName(name)
	})
	switch {
	case err != nil:
		l.errorf(key+".files", "the directory %q can't be read: %s", filepath.Clean(dir), reason(err))
	case len(names) == 0:
		l.errorf(key+".files", "%q matches no file", in.Files)
	}
	for _, name := range names {
		texts = append(texts, partText{file: filepath.Join(dir, name)})
	}
	return texts
}

// readIncludedFile reads an included file with what is granted to it, and completes its text. Links lead out of its directory no more than documents do.
func (l *loader) readIncludedFile(text *partText, in *Include) (*Included, *loader) {
	granted := &grant{in.EnvPrefix, in.Folder.String()}
	t := &loader{
		file: text.file, dir: filepath.Dir(text.file), secrets: maps.Clone(text.secrets), rootType: reflect.TypeFor[Included](), withoutSecrets: l.withoutSecrets, former: l.former, granted: granted,
		getenv: func(name string) string {
			if l.getenv == nil || granted.allowsVariable(name) != nil {
				return ""
			}
			return l.getenv(name)
		},
	}
	t.files = []string{text.file}
	read := &Included{}
	if text.data == nil {
		data, _, err := readBelow(t.dir, filepath.Base(text.file), maxFile+1)
		if err != nil {
			t.add(Error, position{}, "", "can't be read: %s", reason(err))
			return read, t
		}
		text.data = bytes.TrimPrefix(data, []byte("\ufeff"))
	}
	root := t.parse(text.data)
	switch {
	case root == nil:
	case root.Kind == yaml.SequenceNode:
		t.add(Error, positionOf(root), "", "expected a mapping with apis and rules, got a list: the names of APIs are granted by include, and a list has none")
	default:
		t.value(root, reflect.ValueOf(read).Elem(), "", field{})
	}
	for i := range read.APIs {
		read.APIs[i].include = in
	}
	return read, t
}

// adopt takes over what an included file had to say, but its places, which move with its lists.
func (l *loader) adopt(t *loader, key string) {
	l.problems = append(l.problems, t.problems...)
	for s, n := range t.count {
		l.count[s] += n
	}
	if t.count[Error] > 0 {
		l.fail(key)
	}
	l.files, l.hidden = append(l.files, t.files...), append(l.hidden, t.hidden...)
}

// relocated returns values by key paths of a file, by the key paths of the whole configuration. Paths of other lists and of the file itself are
// kept if others is set.
func relocated[T any](values map[string]T, p fileShare, others bool) map[string]T {
	all := make(map[string]T, len(values))
	for key, v := range values {
		m := inList.FindStringSubmatch(key)
		if m == nil {
			if others {
				all[key] = v
			}
			continue
		}
		n, _ := strconv.Atoi(m[2])
		all[fmt.Sprintf("%s[%d]%s", m[1], n+p.of(m[1]).first, m[3])] = v
	}
	return all
}

func merged[T any](a, b map[string]T) map[string]T {
	for k, v := range b {
		a[k] = v
	}
	return a
}
