// Package source holds the configured APIs, also called upstreams or backends: the location of their documents, the compiled
// documents, and the authentication of the gateway to their services. A [Source] is one API, a [Set] all APIs of a
// configuration.
//
// It hides how a document is fetched, refreshed, restored from the last-known-good store and compiled, the clients for
// documents, services and authorization servers, the credential of each operation, the names of APIs, and the
// operations that the selectors of a configuration match. A [Source] loads one document in a goroutine of its own and
// sends an [Update] for each attempt. It decides nothing: the goroutine that publishes applies updates, by the methods
// that are documented for it.
//
// A source has one document in use. Beside it there can be the stored one, the last-known-good document on disk, for a
// start at which its origin has none; the quarantined one ([Quarantined]), which an operator has to accept; and the
// baseline, of an earlier source, which is only compared with. The operations that have left the document are remembered
// ([FormerOperation]). A turn is the number of a reload; the update with this turn answers it.
//
// The rule that must not be broken: a [Document] is immutable, and the state of a source is written only by the
// goroutine that publishes.
package source
