// Package finder finds the tools of a catalog that fit a query in plain words. It knows tools and words, and nothing of
// MCP, callers or HTTP.
//
// An [Index] is built once for all tools that are served, and is immutable. Each tool is a document with fields (name,
// summary, description, path, tags, parameters, properties of the answer, enum values), which differ in weight. The
// score is BM25F (Robertson, Zaragoza: The Probabilistic Relevance Framework, 2009, section 3.6), raised where the
// method fits the verb of the query, where the last segment of the path is what the query is about, and where words
// that stand together in the query stand together in the tool.
//
// The order is deterministic: the same tools and the same query give the same hits in the same order.
//
// The rule that must not be broken: what a query costs depends on the number of tools and on [MaxQuery], never on
// anything else that a client sends.
package finder
