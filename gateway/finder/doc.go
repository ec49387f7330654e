// Package finder searches the tools of a catalog with a query in natural language. It knows tools and words, and
// nothing of MCP, callers or HTTP.
//
// An [Index] is built once for all tools that are served, and is immutable. Each tool is a document with fields (name,
// summary, description, path, tags, parameters, properties of the response, enum values), which differ in weight. The
// score is BM25F (Robertson, Zaragoza: The Probabilistic Relevance Framework, 2009, section 3.6), with a boost if the
// method or the verb of the tool fits the verb of the query, if the last segment of the path is the subject of the query,
// and if adjacent words of the query are adjacent in the tool. Tools whose names the query has come first. Whether a tool
// fits well is judged by the words that it has, not by its score.
//
// The order is deterministic: the same tools and the same query give the same hits in the same order.
//
// The rule that must not be broken: the cost of a query depends on the number of tools and on [MaxQuery], and on
// nothing else that a client sends.
package finder
