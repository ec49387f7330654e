package config

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"

	"go.yaml.in/yaml/v4"
)

// Load reads a configuration. The location is the path of a configuration file, or else the path or URL of an OpenAPI
// document or of a directory of them, which then stands for a configuration with that one entry and the defaults for all else. A file is
// taken for a document if it [IsDocument]. Variables come from getenv; an empty one counts as not set.
//
// The problems are in the order of the file. With an error among them the Config is nil. Load reads the files that the
// configuration refers to for secrets and certificates, but no OpenAPI document and nothing from the network.
func Load(location string, getenv func(string) string) (*Config, Problems) {
	return LoadWith(location, getenv, LoadOptions{})
}

// LoadOptions are settings of the command line for [LoadWith].
type LoadOptions struct {
	// WithoutSecrets is for a check where secrets are not at hand, such as that of a change in review. A variable that is not set, and a
	// secret file, key file or certificate that can't be read, is a warning, once. The rules that depend on it are not checked, and the
	// Config must not be served: it has placeholders. Steps that use a secret at load are left out. Locations of documents are needed all
	// the same.
	WithoutSecrets bool
	// BaseURL, unless it is "", is the base_url of the only API, whatever the file says.
	BaseURL string
	// Kept, if not nil, are the parts that stay as they are in use.
	Kept *Kept
	// AsOf, if not nil, is an earlier release whose defaults apply: for a comparison of what both releases make of one file.
	AsOf *Release
}

func newLoader(getenv func(string) string, o LoadOptions) *loader {
	l := &loader{getenv: getenv, withoutSecrets: o.WithoutSecrets, baseURL: o.BaseURL}
	if o.Kept != nil {
		l.kept, l.files = o.Kept.texts(), slices.Clone(o.Kept.Files)
	}
	if o.AsOf != nil {
		l.former = presetsAsOf(reflect.TypeFor[Config](), *o.AsOf)
	}
	return l
}

// BaseURLFlag is the flag that sets [LoadOptions.BaseURL], for messages.
const BaseURLFlag = "--base-url"

// setBaseURL sets the base URL of the only API.
func (l *loader) setBaseURL(cfg *Config) {
	if len(cfg.APIs) != 1 {
		l.errorf("", "%s is that of one API, and the configuration has %d; write base_url below the API that it is for", BaseURLFlag, len(cfg.APIs))
		return
	}
	var u URL
	if err := u.parse(l.baseURL); err != nil {
		l.errorf("", "%s: %s", BaseURLFlag, err)
		return
	}
	cfg.APIs[0].BaseURL, cfg.APIs[0].BaseURLs = &u, nil
	cfg.flags = map[string]string{"apis[0].base_url": BaseURLFlag}
}

// LoadWith is [Load] with options.
func LoadWith(location string, getenv func(string) string, o LoadOptions) (*Config, Problems) {
	l := newLoader(getenv, o)
	if isURL(location) || isDirectory(location) {
		return l.bare(location)
	}
	return loadFrom(location, true, l)
}

func loadFrom(location string, documents bool, l *loader) (*Config, Problems) {
	l.file, l.dir, l.rootType = location, filepath.Dir(location), reflect.TypeFor[Config]()
	data, err := l.mainText()
	if err != nil {
		l.add(Error, position{}, "", "can't be read: %s%s", reason(err), schemeHint(location, err))
		return nil, l.report()
	}
	switch document := IsDocument(data); {
	case document && documents:
		return l.bare(location)
	case document:
		l.add(Error, position{1, 1}, "", "is an OpenAPI document, not a configuration file; to serve one without a configuration give it as an argument, without --config")
		return nil, l.report()
	}
	l.files = append(l.files, location)
	var cfg Config
	if root := l.parse(data); root != nil {
		l.root(root, &cfg)
		l.texts = map[string][]*partText{"": {{location, data, l.secrets}}}
		l.readIncluded(&cfg)
	}
	return l.finish(&cfg)
}

// mainText returns the text of the main file.
func (l *loader) mainText() ([]byte, error) {
	if kept := l.kept[""]; kept != nil {
		l.secrets = maps.Clone(kept[0].secrets)
		return kept[0].data, nil
	}
	data, err := readFile(l.file)
	return bytes.TrimPrefix(data, []byte("\ufeff")), err
}

// schemeHint tells that a location of which there is no file may be a URL without its scheme: it begins like a host.
func schemeHint(location string, err error) string {
	host, _, hasPath := strings.Cut(location, "/")
	name, _, hasPort := strings.Cut(host, ":")
	if !errors.Is(err, fs.ErrNotExist) || !hasPath || strings.HasPrefix(name, ".") || !strings.Contains(name, ".") && !hasPort {
		return ""
	}
	return "; if it is a URL, begin it with https:// or http://"
}

// bare returns the configuration that has the OpenAPI document at location, a URL, a path or a directory, as its one entry and the defaults
// for all else.
func (l *loader) bare(location string) (*Config, Problems) {
	*l = loader{file: withoutUser(location), former: l.former, baseURL: l.baseURL}
	cfg := Config{APIs: make([]API, 1)}
	l.defaults(reflect.ValueOf(&cfg).Elem())
	l.defaults(reflect.ValueOf(&cfg.APIs[0]).Elem())
	if len(l.former) == 0 { // else the defaults of a release without short names are wanted
		cfg.Tools.Names = NamesShort
	}
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

// finish derives what depends on several values, checks everything and returns the result of a Load.
func (l *loader) finish(cfg *Config) (*Config, Problems) {
	if l.ok("") && l.baseURL != "" {
		l.setBaseURL(cfg)
	}
	if l.ok("") {
		l.derive(cfg)
		l.walk(cfg, "", cfg)
		l.expandPrompts(cfg)
		l.expandSkills(cfg)
		l.readWorkflows(cfg)
		l.expandDirectories(cfg)
	}
	if cfg.Server.StrictSecrets {
		l.strict()
	}
	if cfg.Tools.Lock != "" {
		l.files = append(l.files, cfg.Tools.Lock.String()) // those who build tools read it
	}
	cfg.file, cfg.positions, cfg.files, cfg.shares, cfg.texts = l.file, l.positions, l.sources(), l.shares, l.texts
	problems := l.report()
	if len(problems.Errors()) > 0 {
		for i := range problems {
			problems[i].files = cfg.files
		}
		return nil, problems
	}
	l.dropUnset(cfg)
	return cfg, problems
}

// derive fills in the defaults that are values of other keys.
func (l *loader) derive(cfg *Config) {
	for i := range cfg.APIs {
		l.deriveAPI(cfg, fmt.Sprintf("apis[%d]", i), &cfg.APIs[i])
	}
	for i := range cfg.Discovery {
		l.deriveProvider(cfg, DiscoveryKey(i), &cfg.Discovery[i])
	}
	cfg.deriveProxies()
	if cfg.Auth != nil {
		for i := range cfg.Auth.Issuers {
			if is := &cfg.Auth.Issuers[i]; is.Audiences == nil {
				is.Audiences = cfg.Resources()
			}
		}
	}
}

func (l *loader) deriveAPI(cfg *Config, key string, api *API) {
	if api.BaseURLs != nil && api.BaseURL == nil {
		api.BaseURL = api.BaseURLs.first()
	}
	if api.MaxAnswer == 0 {
		api.MaxAnswer = cfg.Limits.MaxAnswer
	}
	if api.MaxInFlight == 0 {
		api.MaxInFlight = cfg.Limits.MaxInFlight
	}
	if !l.given(key + ".max_queued") {
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
		c.derive(cfg.Auth)
	}
}

// deriveProvider completes the settings that APIs of services share, and the credentials for them.
func (l *loader) deriveProvider(cfg *Config, key string, d *Discovery) {
	if api := &d.API.api; !l.given(key + ".api") {
		l.defaults(reflect.ValueOf(api).Elem())
		api.Spec = placeholderURL
	}
	l.deriveAPI(cfg, key+".api", &d.API.api)
	_, sent := d.Settings()
	for i := range sent { // copies, with the same credentials
		_, credentials := sent[i].AllCredentials()
		for _, c := range credentials {
			c.derive(cfg.Auth)
		}
	}
}

func (l *loader) sources() []string {
	files := slices.Clone(l.files)
	slices.Sort(files)
	return slices.Compact(files)
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
			l.positions[fmt.Sprintf("apis[%d].spec", i)] = l.positions[key]
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
