package config

// FileStore says how the bytes that are too large for a model are kept: a response above inline becomes a file of the caller, which later calls
// and requests read.
type FileStore struct {
	// The size from which a response that is not JSON is stored, and the result has a link to it.
	Inline ByteSize `yaml:"inline" default:"100KB" min:"1KB" max:"1MB" access:"none: the caller gets the response anyway"`
	// How long a file is kept.
	TTL Duration `yaml:"ttl" default:"1h" min:"1m" max:"24h" access:"none: a file is of the caller that got it"`
	// The maximum size of a file. For responses that are stored it replaces max_answer.
	MaxSize ByteSize `yaml:"max_size" default:"1GiB" min:"1KiB" max:"1024GiB" access:"none: limits bound the cost of a call"`
	// The maximum size of all files of a caller together.
	Quota ByteSize `yaml:"quota" default:"2GiB" min:"1KiB" max:"16384GiB" access:"none: limits bound the cost of a call"`
	// The maximum size of the files of all callers together.
	MaxTotal ByteSize `yaml:"max_total" default:"20GiB" min:"1KiB" max:"16384GiB" access:"none: limits bound the cost of a call"`
	// Whether upload_file gives models a URL to which one file of the announced size is sent without a token, within 5 minutes. The URL stands in
	// the context of the model: everybody who reads that can send the file. Otherwise files are sent with a token of the caller.
	CapabilityURLs bool `yaml:"capability_urls" default:"false" access:"any"`
	// APIs whose files callers may pass on to another API. Within one API they may.
	Pass []FilePass `yaml:"pass,omitempty" absent:"within one API" empty:"leave it out"`
}

// FilePass lets callers pass files of one API on to another.
type FilePass struct {
	// The name of the API that the files are from.
	From string `yaml:"from" required:"true"`
	// The name of the API that they may be passed on to.
	To string `yaml:"to" required:"true"`
}

func (f *FileStore) validate(c cursor) {
	server := &c.config().Server
	switch {
	case !c.loader.ok("server.state_dir"):
	case server.StateDir == "":
		c.errorf("", "needs server.state_dir, the directory in which files are kept")
	case len(server.SealKeys) == 0 && server.SealKeyFile == "" && c.loader.ok("server.seal_keys", "server.seal_key_file"):
		c.warnf("", "without server.seal_keys or server.seal_key_file nobody can read a file after a restart")
	}
	if c.config().State.Redis != nil {
		c.warnf("", "replicas need a shared server.state_dir: otherwise a file can be read only at the replica that stored it")
	}
	if f.CapabilityURLs && c.loader.ok("server.public_url") && len(c.config().PublicURLs()) == 0 {
		c.errorf("capability_urls", "needs server.public_url, which the URLs begin with")
	}
	if c.ok("max_size", "quota") && f.MaxSize > f.Quota {
		c.errorf("quota", "must be at least max_size (%s): no file of that size would fit", f.MaxSize)
	}
	if c.ok("quota", "max_total") && f.Quota > f.MaxTotal {
		c.errorf("max_total", "must be at least quota (%s)", f.Quota)
	}
}
