// Package filestore keeps files beside calls: the bytes that are too large for a model, such as exports and attachments. A file belongs to
// one principal, has a lifetime, and is encrypted on disk.
//
// It hides the layout on disk, the keys, the quotas and the clean-up. The rule that must not be broken: a file is opened only for the
// principal that it was made for, and one that is foreign, expired, altered or half-written looks like one that never existed.
package filestore
