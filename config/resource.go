package config

// Resource is how an operation is read as a resource.
type Resource struct {
	// The URI, or a template for URIs (RFC 6570): {name}, and {?a,b} at its end, are arguments of the operation.
	URI URITemplate `yaml:"uri,omitempty" absent:"drawbridge://API and the path, with all arguments that stand in path and query"`
	// The name, at most 200 bytes.
	Name string `yaml:"name,omitempty" absent:"that of the tool"`
	// The title, at most 200 bytes.
	Title string `yaml:"title,omitempty" absent:"that of the tool"`
	// The description, at most 4096 bytes.
	Description string `yaml:"description,omitempty" absent:"that of the tool"`
	// The media type that lists show, and that an answer without one is taken to be of.
	MIMEType string `yaml:"mime_type,omitempty" absent:"from the document"`
	// How often changes are looked for while somebody wants to hear of them; 0s: nobody can.
	Poll Duration `yaml:"poll" default:"1m" min:"1s" max:"24h" zero:"never"`
	// Whether the operation stays a tool too.
	Tool bool `yaml:"tool" default:"true"`

	off bool // written as false
}

// Links says which answers are given as links, at least those of one kind. An answer of an operation whose method is not safe never is.
type Links struct {
	// Answers of more bytes than this.
	Over ByteSize `yaml:"over,omitempty" min:"1KiB" max:"1GiB" absent:"size does not matter"`
	// All answers that are neither JSON nor text.
	Binary bool `yaml:"binary" default:"false"`
	// How long a link can be read. What it leads to is asked for anew each time.
	TTL Duration `yaml:"ttl" default:"10m" min:"1s" max:"24h"`
}
