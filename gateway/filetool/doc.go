// Package filetool has the built-in tools for stored files: read_file, by which a model reads them, and upload_file, which says how a file
// gets to the gateway without the model. It has their definitions, their arguments, and the slices and texts that they return. It neither
// stores files nor knows of connections.
//
// The rule that must not be broken: an answer is small whatever the file is, and a file is never unpacked, executed or rendered.
package filetool
