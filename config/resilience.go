package config

import (
	"reflect"
	"slices"
	"strings"

	"go.yaml.in/yaml/v4"
)

// Breaker says when a service that fails is left alone.
type Breaker struct {
	// The share of calls that must fail, in per cent: calls that time out, can't connect, are cut off or get a response
	// that errors counts as a failure.
	Failures int `yaml:"failures" default:"50" min:"1" max:"100"`
	// How many calls must have ended within the window before the share is evaluated.
	Calls int `yaml:"calls" default:"20" min:"1" max:"100000"`
	// The time window that is evaluated.
	Window Duration `yaml:"window" default:"10s" min:"100ms" max:"10m"`
	// How long no calls are sent. Calls fail at once in the meantime.
	Pause Duration `yaml:"pause" default:"5s" min:"100ms" max:"10m"`
	// How many calls are sent after that, and must succeed before all are sent again.
	Probes int `yaml:"probes" default:"3" min:"1" max:"1000"`
	// Which responses are failures: gateway all 5xx except 500 and 501, which a caller's arguments may cause; all every
	// 5xx.
	Errors BreakerErrors `yaml:"errors" default:"gateway"`

	off bool // written as off
}

// BreakerErrors says which answers are failures of a service.
type BreakerErrors string

// The values of [BreakerErrors].
const (
	ErrorsGateway BreakerErrors = "gateway" // 5xx but 500 and 501
	ErrorsAll     BreakerErrors = "all"     // 5xx
)

func (BreakerErrors) values() []string { return []string{"gateway", "all"} }

func (b *Breaker) stop() { b.off = true }

// MarshalYAML writes it as it may be written.
func (b Breaker) MarshalYAML() (any, error) {
	type plain Breaker
	if b.off {
		return "off", nil
	}
	return plain(b), nil
}

// Off reports whether it was written as off: every call is sent.
func (b *Breaker) Off() bool { return b.off }

// Retries says how often a request is sent again that came to nothing.
type Retries struct {
	// How often one request is retried at most.
	Max int `yaml:"max" default:"2" min:"1" max:"10"`
	// The retry budget for all requests, in per cent of the calls, in addition to ten initial retries.
	Budget int `yaml:"budget" default:"10" min:"1" max:"100"`

	off bool // written as off
}

func (r *Retries) stop() { r.off = true }

// MarshalYAML writes it as it may be written.
func (r Retries) MarshalYAML() (any, error) {
	type plain Retries
	if r.off {
		return "off", nil
	}
	return plain(r), nil
}

// Off reports whether it was written as off: nothing is sent again.
func (r *Retries) Off() bool { return r.off }

// KeyHeader is the header in which a request carries a key by which its service knows it again.
type KeyHeader string

// The header for true, and what stands for false.
const (
	usualKeyHeader KeyHeader = "Idempotency-Key"
	noKeyHeader    KeyHeader = "none "
)

// Name returns the header's name; "" if there is none.
func (h KeyHeader) Name() string {
	if h == noKeyHeader {
		return ""
	}
	return string(h)
}

// MarshalYAML writes it as it may be written.
func (h KeyHeader) MarshalYAML() (any, error) {
	if h == noKeyHeader {
		return false, nil
	}
	return string(h), nil
}

// read reads true, false or a name.
func (h *KeyHeader) read(l *loader, n *yaml.Node, key string) {
	if n.Kind == yaml.ScalarNode && n.ShortTag() == "!!bool" {
		*h = noKeyHeader
		if n.Value == "true" {
			*h = usualKeyHeader
		}
		return
	}
	if n.Kind != yaml.ScalarNode || n.ShortTag() != "!!str" {
		l.mismatch(n, reflect.TypeFor[KeyHeader](), key)
		return
	}
	name := ""
	l.scalar(n, reflect.ValueOf(&name).Elem(), key, field{})
	switch {
	case !l.ok(key):
	case !headerToken(name) || len(name) > 64:
		l.errorf(key, "%s is not the name of a header: at most 64 characters of a token (RFC 9110)", quote(name))
	case forbiddenKeyHeader(name):
		l.errorf(key, "%s is a header with a meaning of its own", quote(name))
	default:
		*h = KeyHeader(name)
	}
}

// forbiddenKeyHeader reports whether a key in the header would say something else to the service.
func forbiddenKeyHeader(name string) bool {
	name = strings.ToLower(strings.ReplaceAll(name, "_", "-"))
	for _, prefix := range []string{"accept", "authorization", "connection", "content-", "cookie", "dpop", "expect", "forwarded", "host", "if-", "keep-alive",
		"mcp-", "origin", "proxy", "proxy-", "range", "te", "trailer", "transfer-", "traceparent", "tracestate", "baggage", "upgrade", "user-agent", "x-forwarded-", "x-http-method"} {
		if name == prefix || strings.HasSuffix(prefix, "-") && strings.HasPrefix(name, prefix) {
			return true
		}
	}
	return false
}

// keyed checks that the header of a rule's keys is none that the gateway sends for something else.
func (l *loader) keyed(cfg *Config, key string, r *Rule) {
	name := r.Set.IdempotencyKey.Name()
	if name == "" || !l.ok(key) {
		return
	}
	for i := range cfg.APIs {
		api := &cfg.APIs[i]
		concerned := api.Name == "" || slices.ContainsFunc(r.Match, func(sel Selector) bool { return sel.API.allow(api.Name) })
		if c := api.sentIn(name); c != "" && concerned {
			l.errorf(key, "%s is the header of apis[%d].%s", quote(name), i, c)
			return
		}
	}
}
