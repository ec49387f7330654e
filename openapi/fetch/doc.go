// Package fetch gets the bytes of OpenAPI documents and of the files that they refer to.
//
// A [Source] reads from a URL, a file or a [Copy] of what an earlier one has read. It hides redirects, pages of API viewers, validators,
// labels of charsets, limits of size and time, and which references may be followed: files below one directory, URLs of the document's
// own origin with its credential, URLs of listed origins without one.
//
// The rule that must not be broken: a document decides neither what is read outside of these, nor what a credential is sent to.
package fetch
