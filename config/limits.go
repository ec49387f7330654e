package config

// Limits bounds time and size. What comes from clients, documents and upstream services beyond a limit is refused.
type Limits struct {
	// The maximum bytes of a client's request body.
	MaxBody ByteSize `yaml:"max_body" default:"1MiB" min:"1KiB" max:"64MiB"`
	// The maximum nesting depth of JSON in a client's request body.
	MaxDepth int `yaml:"max_depth" reload:"recompile" default:"64" min:"8" max:"1000"`
	// The maximum number of open notification streams, in total, at all endpoints together. Further ones are rejected with
	// 503.
	MaxStreams int `yaml:"max_streams" default:"10000" min:"1" max:"1000000"`
	// The maximum number of these streams per caller: a principal, or, without a token, an address that is not loopback.
	// Further ones are rejected with 429.
	MaxStreamsPerCaller int `yaml:"max_streams_per_caller" default:"64" min:"1" max:"100000"`
	// The maximum age of such a stream, give or take a random tenth; then it ends, and its client opens another. Responses
	// to calls are not such streams. 0s for no limit.
	MaxStreamAge Duration `yaml:"max_stream_age" default:"1h" min:"1s" max:"24h" zero:"any"`
	// The maximum number of open client connections and concurrent HTTP/2 requests. Further connections are closed at
	// once, further requests are rejected with 503; lower it if the process may have fewer file descriptors.
	MaxConnections int `yaml:"max_connections" default:"20000" min:"1" max:"1000000"`
	// The maximum number of these per address; an IPv6 address counts as its /64 network. Connections of peers on loopback
	// and of those in server.trusted_proxies count only in total; an HTTP/2 request counts for its caller's address.
	MaxConnectionsPerAddress int `yaml:"max_connections_per_address" default:"4096" min:"1" max:"1000000"`
	// The maximum number of concurrent calls, for all APIs together. Further ones are rejected with 503.
	MaxCalls int `yaml:"max_calls" default:"4096" min:"1" max:"1000000"`
	// The rate limit for requests of one address, with or without a token; an IPv6 address counts as its /64 network.
	// Peers on loopback and the handshake are exempt.
	AddressRate Rate `yaml:"address_rate" reload:"live" default:"{rate: 100/s, burst: 200}"`
	// The rate limit for requests of one principal, from whatever address; the handshake is exempt.
	PrincipalRate Rate `yaml:"principal_rate" reload:"live" default:"{rate: 20/s, burst: 40}"`
	// Rate limits for certain principals in place of principal_rate, selected by their tokens, at most 256 items: the
	// first that matches applies.
	PrincipalRates []PrincipalRate `yaml:"principal_rates,omitempty" reload:"live" absent:"principal_rate applies to all"`
	// The maximum bytes of a client's request headers.
	MaxHeader ByteSize `yaml:"max_header" reload:"restart" default:"32KiB" min:"4KiB" max:"1MiB"`
	// The total time of a call, from the client's request to the last byte of the upstream response.
	Timeout Duration `yaml:"timeout" default:"30s" min:"1ms" max:"1h"`
	// The time to connect to an upstream service.
	ConnectTimeout Duration `yaml:"connect_timeout" default:"2s" min:"1ms" max:"5m"`
	// The time for the TLS handshake with an upstream service.
	TLSTimeout Duration `yaml:"tls_timeout" default:"2s" min:"1ms" max:"5m"`
	// The time from the last byte of an upstream request to the header of its response. A timeout of the API or of a rule
	// overrides it, longer or shorter.
	FirstByteTimeout Duration `yaml:"first_byte_timeout" default:"15s" min:"1ms" max:"1h"`
	// The maximum number of concurrent calls to one API, until their responses have ended.
	MaxInFlight int `yaml:"max_in_flight" default:"64" min:"1" max:"100000"`
	// The maximum number of further calls to one API that wait for one of these to end, in the order in which they came.
	MaxQueued int `yaml:"max_queued" default:"128" min:"0" max:"100000"`
	// The maximum time that such a call waits, which is part of its own time.
	QueueTimeout Duration `yaml:"queue_timeout" default:"500ms" min:"1ms" max:"1m"`
	// The maximum age of a connection to an upstream service for a new call, so that changes of DNS take effect; 0s for no
	// limit.
	ConnectionAge Duration `yaml:"connection_age" default:"5m" min:"1s" max:"24h" zero:"any"`
	// The maximum bytes of an upstream response, after decompression.
	MaxAnswer ByteSize `yaml:"max_answer" default:"8MiB" min:"1KiB" max:"1GiB"`
	// The maximum growth of an upstream response in decompression, as a factor.
	MaxRatio int `yaml:"max_ratio" default:"200" min:"1" max:"10000"`
	// The maximum bytes of all cached responses in memory (rules[].set.cache); 0 for none. One caller uses at most a
	// quarter.
	Cache ByteSize `yaml:"cache" default:"64MiB" min:"0" max:"64GiB"`
	// The maximum bytes of a document with all files that it references.
	MaxSpec ByteSize `yaml:"max_spec" default:"64MiB" min:"1KiB" max:"1GiB"`
	// The maximum bytes of a tool's input schema. A larger one is reduced: descriptions of nested levels are removed
	// first, then optional nested branches, which then accept any value.
	MaxSchema ByteSize `yaml:"max_schema" reload:"recompile" default:"64KiB" min:"1KiB" max:"1MiB"`
	// The time to fetch a document.
	SpecTimeout Duration `yaml:"spec_timeout" default:"30s" min:"100ms" max:"30s"`
	// The share of its operations, in per cent, that a document may lose at once, if these are at least four, or all. A
	// newer document that lacks more is quarantined: the tools stay unchanged until it has them again, or an operator
	// accepts it. 100 turns this off.
	MaxLoss int `yaml:"max_loss" default:"50" min:"1" max:"100"`
	// The maximum number of operations of a document.
	MaxOperations int `yaml:"max_operations" default:"10000" min:"1" max:"100000"`
}
