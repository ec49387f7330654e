package config

// Limits bounds time and size. What comes from clients, documents and upstream services beyond a limit is refused.
type Limits struct {
	// The most bytes of a client's request body.
	MaxBody ByteSize `yaml:"max_body" default:"1MiB" min:"1KiB" max:"64MiB"`
	// The deepest nesting of JSON in a client's request body.
	MaxDepth int `yaml:"max_depth" default:"64" min:"8" max:"1000"`
	// The most open streams on which clients wait for changes, in all, at all endpoints together. More are refused with 503.
	MaxStreams int `yaml:"max_streams" default:"10000" min:"1" max:"1000000"`
	// The most of these streams of one caller: of a principal, or, without a token, of an address that is not loopback. More are refused with
	// 429.
	MaxStreamsPerCaller int `yaml:"max_streams_per_caller" default:"64" min:"1" max:"100000"`
	// How old such a stream may become, a tenth more or less by chance; then it ends, and its client opens another. Answers to calls are not
	// such streams. 0s for any age.
	MaxStreamAge Duration `yaml:"max_stream_age" default:"1h" min:"1s" max:"24h" zero:"any"`
	// The most open connections of clients, and requests under way over HTTP/2. More connections are closed at once, more requests are refused
	// with 503; lower it if the process may have fewer descriptors.
	MaxConnections int `yaml:"max_connections" default:"20000" min:"1" max:"1000000"`
	// The most of these of one address; an IPv6 address counts as its /64 network. Connections of peers on loopback and of those of
	// server.trusted_proxies count in all alone; a request over HTTP/2 counts for its caller's address.
	MaxConnectionsPerAddress int `yaml:"max_connections_per_address" default:"4096" min:"1" max:"1000000"`
	// The most calls that run, of all APIs together. More are refused with 503.
	MaxCalls int `yaml:"max_calls" default:"4096" min:"1" max:"1000000"`
	// How many requests one address may send, tokens or none; an IPv6 address counts as its /64 network. Peers on loopback are spared, and so
	// is the handshake.
	AddressRate Rate `yaml:"address_rate" default:"{rate: 100/s, burst: 200}"`
	// How many requests one principal may send, whatever address they come from; the handshake is spared.
	PrincipalRate Rate `yaml:"principal_rate" default:"{rate: 20/s, burst: 40}"`
	// What some principals may send instead, by their tokens, at most 256 items: the first that matches holds.
	PrincipalRates []PrincipalRate `yaml:"principal_rates,omitempty" absent:"all have principal_rate"`
	// The most bytes of a client's request headers.
	MaxHeader ByteSize `yaml:"max_header" default:"32KiB" min:"4KiB" max:"1MiB"`
	// The time that a call may take in all, from the client's request to the last byte of the upstream answer.
	Timeout Duration `yaml:"timeout" default:"30s" min:"1ms" max:"1h"`
	// The time to connect to an upstream service.
	ConnectTimeout Duration `yaml:"connect_timeout" default:"2s" min:"1ms" max:"5m"`
	// The time for the TLS handshake with an upstream service.
	TLSTimeout Duration `yaml:"tls_timeout" default:"2s" min:"1ms" max:"5m"`
	// The time from the last byte of an upstream request to the head of its answer. A timeout of the API or of a rule wins, longer or
	// shorter.
	FirstByteTimeout Duration `yaml:"first_byte_timeout" default:"15s" min:"1ms" max:"1h"`
	// The most calls to one API at the same time, until their answers have ended.
	MaxInFlight int `yaml:"max_in_flight" default:"64" min:"1" max:"100000"`
	// How many more calls to one API may wait for one of these to end, in the order in which they came.
	MaxQueued int `yaml:"max_queued" default:"128" min:"0" max:"100000"`
	// How long such a call waits at most, out of its own time.
	QueueTimeout Duration `yaml:"queue_timeout" default:"500ms" min:"1ms" max:"1m"`
	// How old a connection to an upstream service may be when it takes a call, so that one that has moved, by DNS, is found; 0s for
	// any age.
	ConnectionAge Duration `yaml:"connection_age" default:"5m" min:"1s" max:"24h" zero:"any"`
	// The most bytes of an upstream answer, after decompression.
	MaxAnswer ByteSize `yaml:"max_answer" default:"8MiB" min:"1KiB" max:"1GiB"`
	// The most that an upstream answer may grow in decompression, as a factor.
	MaxRatio int `yaml:"max_ratio" default:"200" min:"1" max:"10000"`
	// The most bytes of all answers that are kept in memory (rules[].set.cache); 0 for none. One caller's take a quarter at most.
	Cache ByteSize `yaml:"cache" default:"64MiB" min:"0" max:"64GiB"`
	// The most bytes of a document with all the files that it refers to.
	MaxSpec ByteSize `yaml:"max_spec" default:"64MiB" min:"1KiB" max:"1GiB"`
	// The most bytes of a tool's input schema. A larger one is reduced: descriptions of deep levels go first, then
	// optional deep branches, which then take any value.
	MaxSchema ByteSize `yaml:"max_schema" default:"64KiB" min:"1KiB" max:"1MiB"`
	// The time to fetch a document.
	SpecTimeout Duration `yaml:"spec_timeout" default:"30s" min:"100ms" max:"30s"`
	// The share of its operations, in per cent, that a document may lose at once, if these are at least four, or all. A newer
	// document that lacks more is held: the tools stay as they are until it has them again, or an operator accepts it. 100 holds
	// none.
	MaxLoss int `yaml:"max_loss" default:"50" min:"1" max:"100"`
	// The most operations of a document.
	MaxOperations int `yaml:"max_operations" default:"10000" min:"1" max:"100000"`
}
