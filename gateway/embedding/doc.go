// Package embedding ranks tools by the vectors of an embeddings server, fused with the ranking by words of
// gateway/finder.
//
// It hides the protocol of POST /v1/embeddings, how vectors are made in the background, kept on disk and reused by the
// next catalog, and the fallback while the server is unavailable. An [Embedder] outlives configurations; a [Finder] is
// the ranking of one catalog.
//
// The two rankings are fused by rank (Cormack, Clarke, Büttcher: Reciprocal Rank Fusion, 2009), so that the scales of
// their scores don't matter. A tool without a vector keeps its rank by words.
//
// The rule that must not be broken: the server affects the order of tools and nothing else. For any response, or none,
// a query takes at most [QueryTimeout] longer than by words alone, and no list, call or reload waits for the server.
// Texts of queries never reach a log, metric or file.
package embedding
