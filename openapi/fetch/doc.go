// Package fetch reads the bytes of OpenAPI documents and of the files that they refer to.
//
// A [Source] reads from a URL, a file or a [Copy] that an earlier source has made. It hides redirects, pages of API
// viewers, validators, charset labels, limits of size and time, and the permitted references: files below one
// directory, URLs of the document's own origin with its credential, URLs of listed origins without one.
//
// The rule that must not be broken: a document decides neither which locations outside of these are read, nor which
// host receives a credential.
package fetch
