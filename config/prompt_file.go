package config

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"unicode/utf8"

	"go.yaml.in/yaml/v4"
)

// maxPrompts is the most prompts of a configuration.
const maxPrompts = 1000

// expandPrompts replaces each entry that names a file or directory by the prompts in it. It comes after validation, so that
// key paths are those of the file.
func (l *loader) expandPrompts(cfg *Config) {
	var all []Prompt
	for i := range cfg.Prompts {
		p, key := &cfg.Prompts[i], fmt.Sprintf("prompts[%d]", i)
		if !l.given(key + ".file") {
			p.origin = &promptOrigin{l.file, key, l.positions}
			all = l.appendPrompt(all, *p, key, key+".name")
			continue
		}
		if p.File == "" || !l.ok(key+".file") {
			continue
		}
		for _, path := range l.promptFiles(cfg, key+".file", string(p.File)) {
			if len(all) > maxPrompts {
				break
			}
			if read, ok := l.promptFile(cfg, key, path, p); ok {
				all = l.appendPrompt(all, read, key, key+".file")
			}
		}
	}
	if len(all) > maxPrompts {
		l.errorf("prompts", "has more than %d prompts", maxPrompts)
	}
	cfg.Prompts = all
}

// appendPrompt appends a prompt unless its name is that of one before.
func (l *loader) appendPrompt(all []Prompt, p Prompt, entry, key string) []Prompt {
	same := slices.IndexFunc(all, func(other Prompt) bool { return other.Name == p.Name && p.Name != "" })
	if same < 0 {
		return append(all, p)
	}
	other := all[same].origin
	where := other.file
	if other.prefix != "" {
		where = other.prefix
	}
	if p.origin.prefix == entry {
		l.errorf(key, "%s is already the name of the prompt of %s", quote(p.Name), where)
	} else {
		l.errorf(key, "the name %s of the prompt of %s is already that of the prompt of %s", quote(p.Name), p.origin.file, where)
	}
	return all
}

// promptFiles returns the files of an entry, and has them watched.
func (l *loader) promptFiles(cfg *Config, key, path string) []string {
	if !isDirectory(path) {
		if _, err := os.Stat(path); err == nil && !promptName(filepath.Base(path)) {
			l.errorf(key, "%s must be a directory, or a file whose name ends in .md, .yaml or .yml", quote(filepath.Base(path)))
			return nil
		}
		l.files = append(l.files, path)
		return []string{path}
	}
	l.files = append(l.files, withContents(path))
	names, err := promptNames(path)
	switch {
	case err != nil:
		l.errorf(key, "the directory %q can't be read: %s", path, reason(err))
	case len(names) == 0:
		l.warnf(key, "the directory %q holds no .md, .yaml or .yml file yet", path)
	}
	cfg.listed = append(cfg.listed, directory{path, names, promptNames})
	var files []string
	for _, name := range names {
		files = append(files, filepath.Join(path, name))
	}
	l.files = append(l.files, files...)
	return files
}

// promptFile reads the prompt of a file. Its problems have places in that file.
func (l *loader) promptFile(cfg *Config, entry, path string, given *Prompt) (Prompt, bool) {
	f := &loader{file: path, dir: filepath.Dir(path), verbatim: true, rootType: l.rootType}
	data, _, err := readRegular(path)
	if err != nil {
		l.errorf(entry+".file", "%q can't be read: %s", path, err)
		return Prompt{}, false
	}
	var p Prompt
	f.readPrompt(data, &p)
	if l.given(entry + ".scopes") {
		p.Scopes = given.Scopes
	}
	if l.given(entry + ".endpoints") {
		p.Endpoints = given.Endpoints
	}
	p.origin = &promptOrigin{file: path, positions: f.positions}
	if f.ok("") {
		f.walk(&p, "", cfg)
	}
	l.addProblemsOf(f)
	return p, f.count[Error] == 0
}

// addProblemsOf adds the problems of another file.
func (l *loader) addProblemsOf(f *loader) {
	for _, p := range f.problems {
		if l.count[p.Severity]++; l.count[p.Severity] <= maxProblems {
			l.problems = append(l.problems, p)
		}
	}
}

// readPrompt reads the text of a file of its own: YAML, or Markdown with YAML before it.
func (l *loader) readPrompt(data []byte, p *Prompt) {
	data = bytes.TrimPrefix(bytes.ReplaceAll(data, []byte("\r\n"), []byte("\n")), []byte("\ufeff"))
	name := filepath.Base(l.file)
	extension := filepath.Ext(name)
	l.defaults(reflect.ValueOf(p).Elem())
	front, body, line := data, []byte(nil), 0
	markdown := strings.EqualFold(extension, ".md")
	if markdown {
		var ok bool
		if front, body, line, ok = frontMatter(data); !ok {
			l.add(Error, position{1, 1}, "", "begins with --- for keys, and no other line --- ends them")
			return
		}
	}
	switch {
	case !markdown || len(bytes.TrimSpace(front)) > 0:
		root := l.parse(front)
		if root == nil {
			l.failedWhole()
			return
		}
		l.value(root, reflect.ValueOf(p).Elem(), "", field{})
		if !l.ok("") {
			return
		}
	default:
		l.mark("", &yaml.Node{Line: 1, Column: 1})
	}
	if l.given("file") {
		l.errorf("file", "can't stand here: the prompt is in this file")
		delete(l.positions, "file") // as if it were not given
	}
	if !l.given("name") {
		p.Name = strings.TrimSuffix(name, extension)
		l.mark("name", &yaml.Node{Line: 1, Column: 1})
	}
	if markdown {
		l.promptBody(p, body, line)
	}
}

// failedWhole notes that nothing of the file could be read, so that nothing more is said of it.
func (l *loader) failedWhole() {
	if l.failed == nil {
		l.failed = map[string]bool{}
	}
	l.failed[""] = true
}

// frontMatter takes apart a Markdown file: the YAML between two lines --- at its beginning, and the text, of which line is the
// first line, from 1. ok is false if there is no second of these lines.
func frontMatter(data []byte) (front, body []byte, line int, ok bool) {
	const fence = "---"
	isFence := func(line []byte) bool { return string(bytes.TrimRight(line, " \t\n")) == fence }
	end, n := 0, 0
	for text := range bytes.Lines(data) {
		if n == 0 && !isFence(text) {
			return nil, data, 1, true
		}
		end, n = end+len(text), n+1
		if n > 1 && isFence(text) {
			return data[:end-len(text)], data[end:], n + 1, true
		}
	}
	return nil, data, 1, n == 0
}

// promptBody makes the text of a Markdown file a message of the user. Line breaks around it are not part of it.
func (l *loader) promptBody(p *Prompt, body []byte, line int) {
	text := strings.TrimRight(string(body), " \t\n")
	trimmed := strings.TrimLeft(text, "\n")
	line += len(text) - len(trimmed)
	text = trimmed
	switch {
	case l.given("messages") && text != "":
		l.add(Error, position{line, 1}, "messages", "can't stand beside a text, which is the message")
		return
	case l.given("messages"):
		return
	case text == "":
		l.add(Error, position{line, 1}, "messages", "the file has neither messages nor a text")
		return
	}
	const key = "messages[0].text"
	if l.positions == nil {
		l.positions = map[string]position{}
	}
	l.positions["messages"], l.positions["messages[0]"], l.positions[key] = position{line, 1}, position{line, 1}, position{line, 1}
	p.Messages = []PromptMessage{{Role: RoleUser}}
	err := p.Messages[0].Text.parse(text)
	if err == nil {
		return
	}
	offset := 0
	var bad *templateError
	if errors.As(err, &bad) {
		offset = bad.offset
	}
	l.add(Error, positionIn([]byte(text), line, offset), key, "%s", err)
}

// positionIn returns the position of an offset in a text that begins with a line.
func positionIn(text []byte, line, offset int) position {
	before := text[:offset]
	return position{line + bytes.Count(before, []byte("\n")), utf8.RuneCount(before[bytes.LastIndexByte(before, '\n')+1:]) + 1}
}
