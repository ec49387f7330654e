package config

import (
	"cmp"
	"fmt"
	"net/url"
	"slices"
	"strings"
)

// The field tags of the types in this package are read by key_tag.go, by validation_tag.go, and by the test that writes the reference:
//
//	yaml     the key
//	default  the value when the key is absent, written as in the file
//	absent   what happens when the key is absent and there is no such value (for the reference only)
//	required "true": the key must be given
//	min, max bounds of a number, duration or size, both allowed
//	zero     0 is allowed below min; the text is its meaning
//	reload   what a change means for a running process, for the keys below, too: live, reconnect, recompile or restart (see reload.go)
//	access   what of a change gives more access, which package widening compares; without it any change does
//
// The tags of further rules, such as empty, count, length and unique, are explained in validation_tag.go.
//
// The first sentence of a field's comment must make sense without the field's name: it becomes a row of the reference.

// Config is a whole configuration with all defaults applied. It is immutable once loaded and safe for concurrent use.
type Config struct {
	// The public listener: addresses, TLS, sessions and shutdown.
	Server Server `yaml:"server" reload:"live" access:"section"`
	// The listener for operators: health, readiness, metrics and reload.
	Admin Admin `yaml:"admin" reload:"live" access:"section"`
	// Authentication and authorization of callers. Without it server.listen and server.public_url must be loopback, and
	// trusted_proxies empty.
	Auth *Auth `yaml:"auth,omitempty" reload:"live" absent:"anonymous, on loopback only" access:"joint: auth"`
	// The keys that sign the caller identity for services (apis[].identity).
	Identity *Identity `yaml:"identity,omitempty" reload:"live" absent:"no identity is sent" access:"none: secrets and keys are rotated; identity of apis is compared"`
	// The OpenAPI documents whose operations become tools.
	APIs []API `yaml:"apis" reload:"recompile" absent:"required, unless discovery finds services" access:"joint: apis"`
	// Registries whose services become APIs while the gateway runs.
	Discovery []Discovery `yaml:"discovery,omitempty" reload:"live" absent:"none" access:"known: name" empty:"leave it out, or give a provider" count:"50: has %d items; at most %d are allowed"`
	// Files of other teams with further APIs and rules, each with what it may use. See several-files.md.
	Include []Include `yaml:"include,omitempty" reload:"live" absent:"none" access:"known: name_prefix" empty:"leave it out, or include a file" count:"100: has %d entries; at most %d are allowed"`
	// Names, approval and confirmation of tools.
	Tools Tools `yaml:"tools" reload:"live" access:"section"`
	// How search_tools finds tools.
	Search *Search `yaml:"search,omitempty" reload:"live" absent:"by words alone" access:"section"`
	// Settings for the tools that a selector matches. Later rules override earlier ones.
	Rules []Rule `yaml:"rules,omitempty" reload:"live" absent:"none" access:"joint: rules"`
	// Further endpoints, each with a subset of the tools and its own scopes.
	Endpoints []MCPEndpoint `yaml:"endpoints,omitempty" reload:"live" absent:"only /mcp" empty:"leave it out" access:"each: name; with auth"`
	// Message templates that users pick and fill in.
	Prompts []Prompt `yaml:"prompts,omitempty" reload:"live" absent:"none" empty:"leave it out" access:"known: name; with auth"`
	// Folders of skills: instructions that models read before they use tools.
	Skills []Skill `yaml:"skills,omitempty" reload:"live" absent:"none" empty:"leave it out" access:"known: path; with auth"`
	// Arazzo descriptions, paths, at most 50. Each workflow in them becomes a tool that calls several operations.
	Workflows []File `yaml:"workflows,omitempty" reload:"live" absent:"none" empty:"leave it out" unique:"%q is listed twice" count:"50: has %d items; at most %d are allowed" access:"none: each step is a call with the scopes, the consent and the limits of its tool"`
	// Limits on time, size, rates and concurrency.
	Limits Limits `yaml:"limits" reload:"reconnect" access:"section"`
	// State that outlives a call, and that replicas share.
	State State `yaml:"state" reload:"restart" access:"section"`
	// Files that are kept beside calls, in server.state_dir: responses that are too large for a model. {} is enough.
	FileStore *FileStore `yaml:"files,omitempty" reload:"restart" absent:"nothing is stored" access:"section"`
	// The proxy for all HTTP connections of the gateway: to services, documents, authorization servers, and where traces,
	// embeddings and callbacks go. off means direct connections, environment the proxies of HTTPS_PROXY, HTTP_PROXY and
	// NO_PROXY, which are ignored otherwise.
	Proxy *Proxy `yaml:"proxy,omitempty" reload:"live" absent:"off" access:"joint: destination"`
	// Logs and traces.
	Telemetry Telemetry `yaml:"telemetry" reload:"live" access:"section"`
	// The audit log: one JSON record per call. {} is enough.
	Audit *Audit `yaml:"audit,omitempty" reload:"restart" absent:"none" access:"joint: audit"`

	file          string
	positions     map[string]position    // of the keys that the file gives
	flags         map[string]string      // flags that set the value of a key in place of the file
	shares        []fileShare            // the files that give apis and rules, the main file last; nil if there is only this one
	texts         map[string][]*partText // by the names of parts, see Kept
	files         []string
	directories   []directory // of documents
	listed        []directory // of prompts and skills
	workflowFiles []WorkflowFile
	entries       []int    // of the file, for each of APIs
	discovered    []string // key paths of the providers of the last of APIs
	authorities   []string // digests of those of clients
	// withoutServices is the configuration that WithServices was called for; nil if it was not.
	withoutServices *Config
}

// Telemetry is logs, and what goes to an OpenTelemetry collector.
type Telemetry struct {
	// The OpenTelemetry collector (OTLP over HTTP). The default paths are /v1/traces, /v1/metrics and /v1/logs; a path is that
	// of traces.
	OTLPEndpoint *URL `yaml:"otlp_endpoint,omitempty" reload:"restart" absent:"nothing is sent" access:"joint: destination"`
	// What is sent to the collector: traces, metrics, or both. Audit records are sent by audit.otlp.
	OTLPSignals []Signal `yaml:"otlp_signals" reload:"restart" default:"[traces]" access:"joint: destination" empty:"leave out otlp_endpoint" unique:"%q is listed twice"`
	// The proxy for the collector.
	Proxy *Proxy `yaml:"proxy,omitempty" reload:"restart" absent:"the root's proxy" access:"joint: destination"`
	// The minimum level of log records.
	LogLevel LogLevel `yaml:"log_level" default:"info" access:"none: no record has secrets, arguments or responses at any level"`
	// The format of log records on standard error. auto is text on a terminal, else json.
	LogFormat LogFormat `yaml:"log_format" reload:"restart" default:"auto" access:"none: the form of logs"`
}

func (t *Telemetry) validate(c cursor) {
	if !c.ok("otlp_endpoint") {
		return
	}
	if t.OTLPEndpoint == nil {
		for _, key := range []string{"proxy", "otlp_signals"} {
			if c.given(key) {
				c.errorf(key, "has no effect without telemetry.otlp_endpoint")
			}
		}
		return
	}
	if slices.Contains(t.OTLPSignals, SignalMetrics) && t.SignalURL(MetricsPath) == nil {
		c.errorf("otlp_endpoint", "must have no path, or one that ends with %s, since metrics are sent too", TracesPath)
	}
}

// Signal is a kind of telemetry that is sent to a collector.
type Signal string

// The values of [Signal].
const (
	SignalTraces  Signal = "traces"
	SignalMetrics Signal = "metrics"
)

func (Signal) values() []string { return []string{"traces", "metrics"} }

// The default paths of OTLP over HTTP.
const (
	TracesPath  = "/v1/traces"
	MetricsPath = "/v1/metrics"
	LogsPath    = "/v1/logs"
)

// SignalURL returns the URL of the collector for the signal with a default path; nil if there is no collector, or if the path that it
// has is no sibling of that of traces.
func (t *Telemetry) SignalURL(path string) *url.URL {
	if t.OTLPEndpoint == nil {
		return nil
	}
	u := *t.OTLPEndpoint.URL()
	switch parent, sibling := strings.CutSuffix(u.Path, TracesPath); {
	case u.Path == "" || u.Path == "/":
		u.Path = path
	case path == TracesPath:
	case sibling:
		u.Path, u.RawPath = parent+path, ""
	default:
		return nil
	}
	return &u
}

// Hosts returns the values of the Host header that are let in: the hosts of public_url or public_urls as written
// (with their ports, if they have any), the host of server.listen unless it stands for all interfaces, on a loopback address localhost,
// 127.0.0.1 and [::1], and server.allowed_hosts. An entry without a port stands for every port.
func (c *Config) Hosts() []string {
	var hosts []string
	for _, u := range c.configuredURLs() {
		if host := u.URL().Host; !slices.Contains(hosts, host) {
			hosts = append(hosts, host)
		}
	}
	if c.Server.Listen.Loopback() {
		hosts = append(hosts, "localhost", "127.0.0.1", "[::1]")
	}
	if host := c.Server.Listen.URLHost(); !c.Server.Listen.anyHost() && !slices.Contains(hosts, host) {
		hosts = append(hosts, host)
	}
	for _, host := range c.Server.AllowedHosts {
		if !slices.Contains(hosts, host) {
			hosts = append(hosts, host)
		}
	}
	return hosts
}

// AllowsSessionless reports whether requests of the legacy era are served without a session. By default they are only on a gateway that
// other machines can't reach: elsewhere a blind sender must not do without a session.
func (c *Config) AllowsSessionless() bool {
	if s := &c.Server; s.Sessionless == "" {
		return c.Auth == nil && len(c.configuredURLs()) == 0 && len(s.TrustedProxies) == 0
	}
	return c.Server.Sessionless == SessionlessAllow
}

// Origins returns the values of the Origin header that are let in: the origins of public_url or public_urls, and
// server.allowed_origins.
func (c *Config) Origins() []string {
	var origins []string
	for _, u := range c.configuredURLs() {
		if !slices.Contains(origins, u.Origin()) {
			origins = append(origins, u.Origin())
		}
	}
	for _, o := range c.Server.AllowedOrigins {
		if !slices.Contains(origins, o.String()) {
			origins = append(origins, o.String())
		}
	}
	return origins
}

// IsBare reports whether the configuration was not read from a file, but stands for an OpenAPI document or a directory of them.
func (c *Config) IsBare() bool {
	return !slices.Contains(c.files, c.file) || len(c.directories) > 0 && c.directories[0].path == c.file
}

// Files returns the paths of all files that the configuration was made from, apart from the OpenAPI documents: the
// file itself, secret files, certificates, prompts, directories of documents, those of prompts, which end in a
// separator, and folders of skills, which end in /... A change of one of them is a reason to load again.
func (c *Config) Files() []string { return slices.Clone(c.files) }

// Wrong returns an error of the value at a key path, such as rules[0].set.condition, with its place in the file: for what
// only those who use the value can find out.
func (c *Config) Wrong(key string, err error) error {
	return wrong(c.At(key), err)
}

// At returns the place of the value at a key path, or else of the nearest that encloses it, as a warning that has no message yet.
func (c *Config) At(key string) Problem {
	at := nearestPosition(c.positions, key)
	file, own := placed(c.shares, key)
	return Problem{Severity: Warning, File: cmp.Or(file, c.file), Line: at.line, Column: at.column, Key: own}
}

// Settings returns the settings of an operation: for each the value of the last rule that matches the operation and has the setting,
// else that of own, the settings of the document (see [ParseExtension]). Timeout 0, Name "" and so on mean that no rule has it; Scopes is nil then,
// and empty but not nil when a rule asks for no scopes.
func (c *Config) Settings(s Subject, own Settings) Settings {
	set := own
	for i := range c.Rules {
		r := &c.Rules[i]
		if r.Match.Match(s) {
			set.Apply(r.Set)
		}
	}
	return set
}

// RuleOf returns the key of the settings of the rule that has the property; "" if none has: where to point at, for what
// only those who use a setting can find out.
func (c *Config) RuleOf(has func(*Settings) bool) string {
	for i := range c.Rules {
		if has(&c.Rules[i].Set) {
			return fmt.Sprintf("rules[%d].set", i)
		}
	}
	return ""
}

// SetBy returns the key path of the settings of the last rule that matches an operation and has the property, such as
// rules[2].set; "" if none does.
func (c *Config) SetBy(s Subject, has func(*Settings) bool) string {
	for i := range slices.Backward(c.Rules) {
		if has(&c.Rules[i].Set) && c.Rules[i].Match.Match(s) {
			return fmt.Sprintf("rules[%d].set", i)
		}
	}
	return ""
}

// Origin returns a key path after the place where the file gives it, as "file:line:col: key"; for one that the file does
// not give, "default: key", or the flag that gives it.
func (c *Config) Origin(key string) string {
	if flag := c.flags[key]; flag != "" {
		return flag
	}
	_, ok := c.positions[key]
	p := c.At(key)
	if !ok {
		return "default: " + p.Key
	}
	return fmt.Sprintf("%s:%d:%d: %s", p.File, p.Line, p.Column, p.Key)
}
