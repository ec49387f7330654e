// Package config reads the configuration file. It hides YAML and its positions, the expansion of environment variables
// and secret files, defaults, and the rules that the values must obey together, so that the rest of the program meets
// only values that are good: a [URL] is absolute, a [Duration] is within its bounds, a [Selectors] is compiled.
//
// A file is read in one pass over YAML nodes into [Config] and the types of its sections, whose field tags and comments are
// also the source of docs/config.schema.json and of the reference table in docs/configuration.md. Every problem of a file
// is reported at once, each at its line and column; see [Problem].
//
// The files stand in layers, lowest first: scalars (scalar.go, enum.go, secret.go); the loader, which collects positions and
// problems (loader.go), and the decoding of YAML (decode.go); the rules of keys, which stand in the tags of their fields (validation_tag.go), and the
// cursor that applies them (cursor.go); the sections (server.go, api.go, settings.go and others), each with a method validate for what a tag
// can't say; [Config]; the rules that concern several sections (the files that end in _validation.go); and [Load]. A file names only what is of its
// layer or below.
//
// The one rule: nothing in a file is ignored. A key that is unknown, that is given twice, that has the wrong type or
// whose feature does not exist in this version is an error.
package config
