// Package localfile reads and writes the gateway's own files in directories whose contents it doesn't trust: discovered services, stored
// documents, the seal key.
//
// It hides temporary files, symbolic links and pipes in place of files, and the permissions of secrets. The rules that must not be
// broken: only a regular file is opened, not through a symbolic link, and opening never blocks; a reader of a replaced file sees the old
// content or the new one, even after a crash of the machine; and a key that others could have read is never used.
package localfile
