package config

// Resource is how an operation is read as a resource.
type Resource struct {
	// The URI, or a URI template (RFC 6570): {name}, and {?a,b} at its end, are arguments.
	URI URITemplate `yaml:"uri,omitempty" absent:"drawbridge://API and the path, with all path and query arguments"`
	// The name, at most 200 bytes.
	Name string `yaml:"name,omitempty" absent:"that of the tool"`
	// The title, at most 200 bytes.
	Title string `yaml:"title,omitempty" absent:"that of the tool"`
	// The description, at most 4096 bytes.
	Description string `yaml:"description,omitempty" absent:"that of the tool"`
	// The media type that lists show, and that applies to a response without one.
	MIMEType string `yaml:"mime_type,omitempty" absent:"from the document"`
	// How often the resource is polled while a client is subscribed; 0s disables subscriptions.
	Poll Duration `yaml:"poll" default:"1m" min:"1s" max:"24h" zero:"never"`
	// Whether the operation is also a tool.
	Tool bool `yaml:"tool" default:"true"`

	off bool // written as false
}

// Links says which answers are given as links, at least those of one kind. An answer of an operation whose method is not safe never is.
type Links struct {
	// Responses larger than this.
	Over ByteSize `yaml:"over,omitempty" min:"1KiB" max:"1GiB" absent:"no limit on size"`
	// All responses that are neither JSON nor text.
	Binary bool `yaml:"binary" default:"false"`
	// How long a link can be read. Each read sends the request again.
	TTL Duration `yaml:"ttl" default:"10m" min:"1s" max:"24h"`
}

// turn makes a resource with all defaults, or none.
func (r *Resource) turn(on bool) { r.off = !on }

// On reports whether there is a resource: one may be nil, or written as false.
func (r *Resource) On() bool { return r != nil && !r.off }
