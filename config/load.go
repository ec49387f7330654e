package config

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"unicode"

	"go.yaml.in/yaml/v4"
	"go.yaml.in/yaml/v4/plugin/loaderlimits"

	"drawbridge/openapi/truncate"
)

// Bounds of a configuration file. They are far beyond what anybody writes and keep a hostile or mistaken file cheap.
const (
	maxFile     = 1 << 20  // bytes of a configuration file
	maxDocument = 64 << 20 // bytes of a file that may turn out to be an OpenAPI document
	maxDepth    = 64       // nesting of YAML
	maxValues   = 50_000   // values read, with those that aliases repeat
	maxItems    = 10_000   // items of one list
	maxProblems = 100      // problems reported, of each severity
)

// Load reads a configuration. The location is the path of a configuration file, or else the path or URL of an OpenAPI
// document or of a directory of them, which then stands for a configuration with that one entry (see [Bare]); a file is
// taken for a document if it [IsDocument]. Variables come from getenv; an empty one counts as not set.
//
// The problems are in the order of the file. With an error among them the Config is nil. Load reads the files that the
// configuration refers to for secrets and certificates, but no OpenAPI document and nothing from the network.
func Load(location string, getenv func(string) string) (*Config, Problems) {
	if isURL(location) || isDirectory(location) {
		return Bare(location)
	}
	return loadFrom(location, getenv, true)
}

// LoadFile is [Load] for the path of a configuration file alone: in the place of one nothing else is taken, neither an OpenAPI document nor a
// directory of them, which would be served without anything that the file says of access.
func LoadFile(path string, getenv func(string) string) (*Config, Problems) {
	return loadFrom(path, getenv, false)
}

func loadFrom(location string, getenv func(string) string, documents bool) (*Config, Problems) {
	l := &loader{file: location, dir: filepath.Dir(location), getenv: getenv}
	data, err := readFile(location)
	if err != nil {
		l.add(Error, position{}, "", "can't be read: %s", reason(err))
		return nil, l.report()
	}
	data = bytes.TrimPrefix(data, []byte("\ufeff"))
	switch document := IsDocument(data); {
	case document && documents:
		return Bare(location)
	case document:
		l.add(Error, position{1, 1}, "", "is an OpenAPI document, not a configuration file; to serve one without a configuration give it as an argument, without --config")
		return nil, l.report()
	}
	l.files = append(l.files, location)
	var cfg Config
	if root := l.parse(data); root != nil {
		l.root(root, &cfg)
	}
	return l.finish(&cfg)
}

// Bare returns the configuration that has the OpenAPI document at location, a URL, a path or a directory, as its one entry
// and the defaults for all else.
func Bare(location string) (*Config, Problems) {
	l := &loader{file: withoutUser(location)}
	cfg := Config{APIs: make([]API, 1)}
	l.defaults(reflect.ValueOf(&cfg).Elem())
	l.defaults(reflect.ValueOf(&cfg.APIs[0]).Elem())
	if location == "" {
		l.add(Error, position{}, "", "the location of the OpenAPI document is empty")
	} else if err := cfg.APIs[0].Spec.parse(location); err != nil {
		l.add(Error, position{}, "", "%s", err)
	}
	return l.finish(&cfg)
}

// withoutUser returns a location for messages: a password in a URL is refused, and not repeated.
func withoutUser(location string) string {
	scheme, rest, ok := strings.Cut(location, "://")
	authority, _, _ := strings.Cut(rest, "/")
	if at := strings.LastIndexByte(authority, '@'); ok && at >= 0 {
		return scheme + "://…" + rest[at:]
	}
	return location
}

// loader is the state of one Load.
type loader struct {
	file   string // as given
	dir    string // what relative paths in the file are relative to
	getenv func(string) string
	// verbatim tells that ${ stands for itself: in files of prompts, which have much to say of shells and templates.
	verbatim bool

	problems Problems
	count    [2]int              // of all problems, also those not kept, by severity
	seen     map[string]position // where each key path that the file gives stands
	failed   map[string]bool     // key paths with an error, so that validation does not add to it
	files    []string            // files read
	hidden   []hidden            // values that no message shows
	values   int
	foreign  bool // what is read is of a document, not the operator's
}

type position struct{ line, column int }

// add records a problem at a position.
func (l *loader) add(s Severity, at position, key, format string, args ...any) {
	if s == Error {
		if l.failed == nil {
			l.failed = map[string]bool{}
		}
		l.failed[key] = true
	}
	if l.count[s]++; l.count[s] > maxProblems {
		return
	}
	l.problems = append(l.problems, Problem{
		Severity: s, File: l.file, Line: at.line, Column: at.column,
		Key: oneLine(key, 200), Message: oneLine(l.masked(fmt.Sprintf(format, args...)), 600),
	})
}

// oneLine returns s without control characters and not longer than so many runes: keys and references of a mistaken file
// may be anything.
func oneLine(s string, most int) string {
	return truncate.Runes(strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return ' '
		}
		return r
	}, strings.ToValidUTF8(s, "\ufffd")), most)
}

// errorf records an error of the value at a key path, or of its absence: then at the nearest enclosing value.
func (l *loader) errorf(key, format string, args ...any) {
	l.add(Error, l.at(key), key, format, args...)
}

// warnf records a warning in the same way.
func (l *loader) warnf(key, format string, args ...any) {
	l.add(Warning, l.at(key), key, format, args...)
}

func (l *loader) at(key string) position { return nearestPlace(l.seen, key) }

// nearestPlace returns where the value at a key path stands, or else the nearest that encloses it.
func nearestPlace(places map[string]position, key string) position {
	for {
		if p, ok := places[key]; ok {
			return p
		}
		if key == "" {
			return position{}
		}
		key = key[:max(strings.LastIndexAny(key, ".["), 0)]
	}
}

// given reports whether the file has the key.
func (l *loader) given(key string) bool {
	_, ok := l.seen[key]
	return ok
}

// ok reports whether none of the keys has an error.
func (l *loader) ok(keys ...string) bool {
	return !slices.ContainsFunc(keys, func(k string) bool { return l.failed[k] })
}

func (l *loader) report() Problems {
	l.problems.sort(l.file)
	for s, n := range l.count {
		if n > maxProblems {
			l.problems = append(l.problems, Problem{
				Severity: Severity(s), File: l.file, Message: fmt.Sprintf("and %d more %ss", n-maxProblems, Severity(s)),
			})
		}
	}
	return l.problems
}

// finish derives what depends on several values, checks everything and returns the result of a Load.
func (l *loader) finish(cfg *Config) (*Config, Problems) {
	if l.ok("") {
		l.derive(cfg)
		l.validate(cfg)
		l.spread(cfg)
	}
	if cfg.Server.StrictSecrets {
		l.strict()
	}
	if cfg.Tools.Lock != "" {
		l.files = append(l.files, cfg.Tools.Lock.String()) // those who build tools read it
	}
	cfg.file, cfg.places, cfg.files = l.file, l.seen, l.sources()
	problems := l.report()
	if len(problems.Errors()) > 0 {
		for i := range problems {
			problems[i].files = cfg.files
		}
		return nil, problems
	}
	return cfg, problems
}

// derive fills in the defaults that are values of other keys.
func (l *loader) derive(cfg *Config) {
	for i := range cfg.APIs {
		api := &cfg.APIs[i]
		if api.MaxAnswer == 0 {
			api.MaxAnswer = cfg.Limits.MaxAnswer
		}
		if api.MaxInFlight == 0 {
			api.MaxInFlight = cfg.Limits.MaxInFlight
		}
		if !l.given(fmt.Sprintf("apis[%d].max_queued", i)) {
			api.MaxQueued = cfg.Limits.MaxQueued
		}
		if api.QueueTimeout == 0 {
			api.QueueTimeout = cfg.Limits.QueueTimeout
		}
		if api.MaxLoss == 0 {
			api.MaxLoss = cfg.Limits.MaxLoss
		}
		if api.SpecTimeout == 0 {
			api.SpecTimeout = cfg.Limits.SpecTimeout
		}
		_, credentials := api.AllCredentials()
		for _, c := range credentials {
			c.derive()
		}
	}
	if cfg.Auth != nil {
		for i := range cfg.Auth.Issuers {
			if is := &cfg.Auth.Issuers[i]; is.Audiences == nil && cfg.Resource() != "" {
				is.Audiences = []string{cfg.Resource()}
			}
		}
	}
}

func (l *loader) sources() []string {
	files := slices.Clone(l.files)
	slices.Sort(files)
	return slices.Compact(files)
}

// parse returns the root node of a YAML file, or nil after reporting why there is none.
func (l *loader) parse(data []byte) *yaml.Node {
	text := bytes.TrimSpace(data)
	switch {
	case len(data) > maxFile:
		l.add(Error, position{}, "", "is larger than 1 MiB and not an OpenAPI document")
		return nil
	case bytes.HasPrefix(text, []byte("<")):
		l.add(Error, position{1, 1}, "", "is a page of HTML or XML, not a configuration file or OpenAPI document")
		return nil
	}
	doc, second, err := documents(data)
	var syntax *yaml.LoadError
	switch {
	case errors.As(err, &syntax) && syntax.Mark.Line > 0:
		l.add(Error, position{syntax.Mark.Line, max(syntax.Mark.Column, 1)}, "", "is not valid YAML: %s%s",
			syntax.Message, tabHint(data, syntax.Mark.Line))
	case err != nil:
		l.add(Error, position{}, "", "is not valid YAML: %s", strings.TrimPrefix(err.Error(), "yaml: "))
	case doc == nil || doc.ShortTag() == "!!null":
		l.add(Error, position{1, 1}, "", "is empty; the least it needs is a list of OpenAPI documents, such as %q", example)
	case second != nil:
		l.add(Error, position{second.Line, second.Column}, "", "begins a second YAML document (---); only one is read")
	case doc.Kind == yaml.ScalarNode:
		l.add(Error, position{doc.Line, doc.Column}, "", "expected a list of OpenAPI documents or a mapping, got a string; "+
			"a list of one is %q", example) // not what it is: the file may be a secret
	default:
		return doc
	}
	return nil
}

const example = "- https://orders.internal/openapi.json"

// documents returns the root nodes of the first and the second YAML document in data; nil where there is none.
func documents(data []byte) (first, second *yaml.Node, err error) {
	loader, err := yaml.NewLoader(bytes.NewReader(data), yaml.WithPlugin(loaderlimits.New(
		loaderlimits.DepthFunc(func(depth int, _ *loaderlimits.DepthContext) error {
			if depth > maxDepth {
				return fmt.Errorf("nested more than %d levels deep", maxDepth)
			}
			return nil
		}))))
	if err != nil {
		return nil, nil, err
	}
	next := func() (*yaml.Node, error) {
		var doc yaml.Node
		if err := loader.Load(&doc); err != nil || len(doc.Content) == 0 {
			if errors.Is(err, io.EOF) {
				err = nil
			}
			return nil, err
		}
		return doc.Content[0], nil
	}
	if first, err = next(); err != nil || first == nil {
		return nil, nil, err
	}
	second, err = next()
	return first, second, err
}

// tabHint names the most frequent cause of a syntax error that the parser's message does not name.
func tabHint(data []byte, line int) string {
	for text := range bytes.Lines(data) {
		if line--; line == 0 {
			if indent := text[:len(text)-len(bytes.TrimLeft(text, " \t"))]; bytes.Contains(indent, []byte("\t")) {
				return "; indent with spaces, not with tabs"
			}
			break
		}
	}
	return ""
}

// root reads the root node: a list of documents, or a mapping.
func (l *loader) root(n *yaml.Node, cfg *Config) {
	if n.Kind == yaml.SequenceNode {
		l.defaults(reflect.ValueOf(cfg).Elem())
		l.mark("", n)
		cfg.APIs = make([]API, len(n.Content))
		for i, item := range n.Content {
			l.defaults(reflect.ValueOf(&cfg.APIs[i]).Elem())
			key := fmt.Sprintf("[%d]", i)
			if target := resolveAlias(item); target.Kind == yaml.MappingNode {
				l.mark(key, item)
				l.errorf(key, "expected a URL or path, got a mapping; a list of mappings goes under the key apis")
				continue
			}
			l.value(item, reflect.ValueOf(&cfg.APIs[i].Spec).Elem(), key, field{})
			// Validation names keys of the full form.
			l.seen[fmt.Sprintf("apis[%d].spec", i)] = l.seen[key]
		}
		return
	}
	l.value(n, reflect.ValueOf(cfg).Elem(), "", field{})
}

// IsDocument reports whether a file is an OpenAPI document: it has the key openapi or swagger at its root. It looks at
// the text because documents are read leniently elsewhere and may not be proper YAML.
func IsDocument(data []byte) bool {
	if text := bytes.TrimLeft(data, " \t\r\n"); len(text) == 0 || text[0] != '{' {
		return yamlDocument.Match(data)
	}
	dec := json.NewDecoder(bytes.NewReader(data))
	depth, key := 0, false
	for {
		t, err := dec.Token()
		if err != nil {
			// Flow-style YAML, or broken JSON.
			return false
		}
		if d, ok := t.(json.Delim); ok {
			if d == '{' || d == '[' {
				depth++
			} else {
				depth--
			}
			key = depth == 1
			continue
		}
		if depth != 1 {
			continue
		}
		if name, ok := t.(string); ok && key && (name == "openapi" || name == "swagger") {
			return true
		}
		key = !key
	}
}

var yamlDocument = regexp.MustCompile(`(?m)^["']?(?:openapi|swagger)["']?[ \t]*:`)

func readFile(path string) ([]byte, error) {
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0) // a pipe would be waited for
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }() // nothing was written
	switch info, err := f.Stat(); {
	case err != nil:
		return nil, err
	case info.IsDir():
		return nil, errors.New("is a directory, not a file")
	case !info.Mode().IsRegular():
		return nil, errors.New("is not a regular file")
	}
	data, err := io.ReadAll(io.LimitReader(f, maxDocument+1))
	if err == nil && len(data) > maxDocument {
		err = errors.New("it is larger than 64 MiB")
	}
	return data, err
}

// reason returns what went wrong with a file without repeating its path.
func reason(err error) string {
	var p *fs.PathError
	if errors.As(err, &p) {
		err = p.Err
	}
	return err.Error()
}
