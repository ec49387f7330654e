package config

import (
	"regexp"
	"strings"
)

// Resource is how an operation is read as a resource.
type Resource struct {
	// The URI, or a URI template (RFC 6570): {name}, and {?a,b} at its end, are arguments.
	URI URITemplate `yaml:"uri,omitempty" absent:"drawbridge://API and the path, with all path and query arguments"`
	// The name, at most 200 bytes.
	Name string `yaml:"name,omitempty" absent:"that of the tool" length:"200"`
	// The title, at most 200 bytes.
	Title string `yaml:"title,omitempty" absent:"that of the tool" length:"200"`
	// The description, at most 4096 bytes.
	Description string `yaml:"description,omitempty" absent:"that of the tool" length:"4096"`
	// The media type that lists show, and that applies to a response without one.
	MIMEType string `yaml:"mime_type,omitempty" absent:"from the document"`
	// How often the resource is polled while a client is subscribed; 0s disables subscriptions.
	Poll Duration `yaml:"poll" default:"1m" min:"1s" max:"24h" zero:"never"`
	// Whether the operation is also a tool.
	Tool bool `yaml:"tool" default:"true"`

	off bool // written as false
}

var mediaType = regexp.MustCompile(`\A[A-Za-z0-9!#$&^_.+-]{1,100}/[A-Za-z0-9!#$&^_.+-]{1,100}\z`)

// reservedSchemes are the schemes of what the gateway serves itself: an answer of a service must not pass for instructions of the operator, or for
// a file of the caller.
var reservedSchemes = map[string]string{"drawbridge-link:": "links to answers", "drawbridge-file:": "stored files", "skill:": "skills"}

func (r *Resource) validate(c cursor) {
	uri := strings.ToLower(r.URI.String())
	for prefix, what := range reservedSchemes {
		if strings.HasPrefix(uri, prefix) && c.ok("uri") {
			c.errorf("uri", "can't begin with %s, by which %s are known", prefix, what)
		}
	}
	if (strings.HasPrefix(uri, "https:") || strings.HasPrefix(uri, "http:")) && c.ok("uri") {
		c.warnf("uri", "tells clients that they can fetch it from the web themselves, past the gateway; take a scheme of your own, such as shop:")
	}
	if r.MIMEType != "" && c.ok("mime_type") && !mediaType.MatchString(r.MIMEType) {
		c.errorf("mime_type", "%s must be a media type without parameters, such as text/plain", quote(r.MIMEType))
	}
}

// Links selects the responses that are returned as links, at least those of one kind. An answer of an operation whose method is not safe never is.
type Links struct {
	// Responses larger than this.
	Over ByteSize `yaml:"over,omitempty" min:"1KiB" max:"1GiB" absent:"no limit on size"`
	// All responses that are neither JSON nor text.
	Binary bool `yaml:"binary" default:"false"`
	// How long a link can be read. Each read sends the request again.
	TTL Duration `yaml:"ttl" default:"10m" min:"1s" max:"24h"`
}

func (l *Links) validate(c cursor) {
	if l.Over == 0 && !l.Binary && !c.faulty("") {
		c.errorf("", "gives nothing as a link; say over, or binary: true")
	}
}

func (r *Resource) short() short { return switchedOff(&r.off) }

// On reports whether there is a resource: one may be nil, or written as false.
func (r *Resource) On() bool { return r != nil && !r.off }
