// Package filetool has the built-in tool by which a model reads stored files, read_file: its definition, its arguments, and the slices that it
// returns. It neither stores files nor knows of connections.
//
// The rule that must not be broken: an answer is small whatever the file is, and a file is never unpacked, executed or rendered.
package filetool
