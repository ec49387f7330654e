package config

// Limits bounds time and size. Input of clients, documents and upstream services beyond a limit is refused.
type Limits struct {
	// The maximum bytes of a client's request body.
	MaxBody ByteSize `yaml:"max_body" default:"1MiB" min:"1KiB" max:"64MiB" access:"none: limits bound the cost of a call"`
	// The maximum nesting depth of JSON in a client's request body.
	MaxDepth int `yaml:"max_depth" reload:"recompile" default:"64" min:"8" max:"1000" access:"none: limits bound the cost of a call"`
	// Open notification streams at all endpoints. Further ones get 503.
	MaxStreams int `yaml:"max_streams" default:"10000" min:"1" max:"1000000" access:"none: limits bound the cost of a stream"`
	// These streams per principal or, without a token, per non-loopback address. Further ones get 429.
	MaxStreamsPerCaller int `yaml:"max_streams_per_caller" default:"64" min:"1" max:"100000" access:"none: limits bound the cost of a stream"`
	// The age at which such a stream ends, so that its client reconnects; 0s for no limit.
	MaxStreamAge Duration `yaml:"max_stream_age" default:"1h" min:"1s" max:"24h" zero:"any" access:"none: limits bound the cost of a stream"`
	// Open client connections and concurrent HTTP/2 requests. Further connections are closed, further requests get 503.
	MaxConnections int `yaml:"max_connections" default:"20000" min:"1" max:"1000000" access:"none: limits bound the cost of a connection"`
	// The same per address (IPv6: per /64). Loopback and trusted_proxies are exempt.
	MaxConnectionsPerAddress int `yaml:"max_connections_per_address" default:"4096" min:"1" max:"1000000" access:"none: limits bound the cost of a connection"`
	// Concurrent calls of all APIs. Further ones get 503.
	MaxCalls int `yaml:"max_calls" default:"4096" min:"1" max:"1000000" access:"limit"`
	// The rate limit per address (IPv6: per /64), with or without a token. Loopback and the handshake are exempt.
	AddressRate Rate `yaml:"address_rate" reload:"live" default:"{rate: 100/s, burst: 200}" access:"limit"`
	// The rate limit per principal. The handshake is exempt.
	PrincipalRate Rate `yaml:"principal_rate" reload:"live" default:"{rate: 20/s, burst: 40}" access:"limit"`
	// Rate limits in place of principal_rate for certain principals, at most 256. The first match applies.
	PrincipalRates []PrincipalRate `yaml:"principal_rates,omitempty" reload:"live" absent:"principal_rate applies to all" access:"joint: principal rates" count:"256 items" issuers:"warn"`
	// The maximum bytes of a client's request headers.
	MaxHeader ByteSize `yaml:"max_header" reload:"restart" default:"32KiB" min:"4KiB" max:"1MiB" access:"none: limits bound the cost of a call"`
	// The total time of a call, until the last byte of the upstream response.
	Timeout Duration `yaml:"timeout" default:"30s" min:"1ms" max:"1h" access:"none: limits bound the cost of a call"`
	// The time to connect to an upstream service.
	ConnectTimeout Duration `yaml:"connect_timeout" default:"2s" min:"1ms" max:"5m" access:"none: limits bound the cost of a call"`
	// The time for the TLS handshake with an upstream service.
	TLSTimeout Duration `yaml:"tls_timeout" default:"2s" min:"1ms" max:"5m" access:"none: limits bound the cost of a call"`
	// The time from the end of an upstream request to its response header. A timeout of an API or a rule replaces it.
	FirstByteTimeout Duration `yaml:"first_byte_timeout" default:"15s" min:"1ms" max:"1h" access:"none: limits bound the cost of a call"`
	// The maximum number of concurrent calls to one API, until their responses have ended.
	MaxInFlight int `yaml:"max_in_flight" default:"64" min:"1" max:"100000" access:"none: the default of apis[].max_in_flight, which is compared"`
	// Further calls to one API that wait in its queue.
	MaxQueued int `yaml:"max_queued" default:"128" min:"0" max:"100000" access:"none: queued calls don't reach the service"`
	// The maximum time in the queue. It counts as part of the call's time.
	QueueTimeout Duration `yaml:"queue_timeout" default:"500ms" min:"1ms" max:"1m" access:"none: queued calls don't reach the service"`
	// The age up to which an upstream connection is reused, so that DNS changes take effect; 0s for no limit.
	ConnectionAge Duration `yaml:"connection_age" default:"5m" min:"1s" max:"24h" zero:"any" access:"none: how connections are reused"`
	// The maximum bytes of an upstream response, after decompression.
	MaxAnswer ByteSize `yaml:"max_answer" default:"8MiB" min:"1KiB" max:"1GiB" access:"none: limits bound the cost of a call"`
	// The maximum tokens of a result in a model's context, in o200k_base tokens, text and structuredContent being the same data; 0 for
	// no limit. Longer answers are cut, and the result says how to get the rest. result.max_tokens of a rule raises it.
	MaxResultTokens TokenCount `yaml:"max_result_tokens" reload:"live" default:"25k" min:"1k" max:"10000k" zero:"any" access:"none: a part of a response that the caller gets anyway"`
	// The maximum bytes of a result that are neither JSON nor text; 0 for no limit. If the method is safe, what exceeds it is returned
	// as a link to a resource.
	MaxResultBinary ByteSize `yaml:"max_result_binary" reload:"live" default:"100KB" min:"1KB" max:"1GiB" zero:"any" access:"none: a link leads to the response that the caller gets anyway"`
	// The maximum growth of an upstream response in decompression, as a factor.
	MaxRatio int `yaml:"max_ratio" default:"200" min:"1" max:"10000" access:"none: limits bound the cost of a call"`
	// Memory for cached responses; 0 for none. One caller uses at most a quarter.
	Cache ByteSize `yaml:"cache" default:"64MiB" min:"0" max:"64GiB" access:"none: limits bound the cost of a call"`
	// The maximum bytes of a document with all files that it references.
	MaxSpec ByteSize `yaml:"max_spec" default:"64MiB" min:"1KiB" max:"1GiB" access:"none: limits bound the cost of a document"`
	// The size of a tool's input schema. Larger ones lose nested descriptions, then optional nested branches.
	MaxSchema ByteSize `yaml:"max_schema" reload:"recompile" default:"64KiB" min:"1KiB" max:"1MiB" access:"none: the form of lists"`
	// The time to fetch a document.
	SpecTimeout Duration `yaml:"spec_timeout" default:"30s" min:"100ms" max:"30s" access:"none: when documents are read"`
	// The share of its operations, in per cent, that a newer document may lack. One that lacks more, and at least four
	// or all, is quarantined. 100 disables this.
	MaxLoss int `yaml:"max_loss" default:"50" min:"1" max:"100" access:"none: a limit on what a document or a registry may lose"`
	// The maximum number of operations of a document.
	MaxOperations int `yaml:"max_operations" default:"10000" min:"1" max:"100000" access:"none: limits bound the cost of a document"`
}
