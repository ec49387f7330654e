// Package localfile reads and writes files of the gateway in directories whose contents it doesn't trust: the record, kept
// documents, the seal key.
//
// It hides temporary files and what is left of them after a failure, symbolic links and pipes instead of files, and the
// permissions that a secret needs. The rules that must not be broken: what is opened is a regular file reached by no symbolic link,
// and opening it waits for nobody; a reader of a replaced file sees the old content or the new one, also after the machine has
// failed; and a key that others could have read is never used.
package localfile
