// Package embedding ranks tools by the vectors of a server of embeddings, fused with the ranking by words of gateway/finder.
//
// It hides the protocol of POST /v1/embeddings, how vectors are made in the background, kept on disk and reused by the next
// catalog, and what happens while the server is away. An [Embedder] outlives configurations; a [Finder] is the ranking of one
// catalog.
//
// The two rankings are fused by rank (Cormack, Clarke, Büttcher: Reciprocal Rank Fusion, 2009), so that the scales of their
// scores don't matter. A tool without a vector keeps the rank that words give it.
//
// The rule that must not be broken: the server decides about the order of tools and nothing else. Whatever it answers, or if
// it does not, a query takes at most [QueryTimeout] longer than by words alone, and no list, call or reload waits for it.
// Texts of queries are in no log, metric or file.
package embedding
