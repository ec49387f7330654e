// Package skill serves skills: instructions for models, as entries with the digests of their files, and the files as resources (the
// extension io.modelcontextprotocol/skills, SEP-2640).
//
// The rule that must not be broken: what a client reads has the digest and the size that the entry of its skill names, byte for byte, and
// nobody sees or reads a file of a skill without its scopes.
package skill
