package mcp

// Reply takes the answer to one request. It belongs to the method's goroutine.
type Reply struct{}

// Cache sets the caching hints of a modern result; legacy results have none. It
// is called before Result or Static. Lists, for which the hints are obligatory
// (mcp-R3), default to private and 0 ms.
func (r *Reply) Cache(c Cache) {}

// Result answers with a result object. The chunks are the members of the object
// without its braces and without resultType, ttlMs, cacheScope and _meta, which
// the reply adds for the era: `"content":[...]`. No chunks: an empty object.
// A member _meta of the method's own is passed by ResultMeta.
// Escaped text is escaped once, straight into the output; chunks are not kept.
// An error is the connection's: the method returns it.
func (r *Reply) Result(chunks ...Chunk) error { return nil }

// ResultMeta is Result with own members of the result's _meta, without the
// braces and keys that the reply adds (io.modelcontextprotocol/serverInfo).
func (r *Reply) ResultMeta(meta []byte, chunks ...Chunk) error { return nil }

// Static answers with a result that was serialized before, compressed if the
// client accepts gzip.
func (r *Reply) Static(s *Static) error { return nil }
