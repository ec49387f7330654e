// Package config reads the configuration file. It hides YAML and its positions, the expansion of environment variables
// and secret files, defaults, and the validation of values, together with each other, so that the rest of the program meets
// only valid values: a [URL] is absolute, a [Duration] is within its bounds, a [Selectors] is compiled.
//
// A file is read in one pass over YAML nodes into [Config] and the types of its sections, whose field tags and comments are
// also the source of docs/config.schema.json and of the reference in docs/configuration. Every problem of a file
// is reported at once, each at its line and column; see [Problem].
//
// A key is decided in the file of its section: config.go has the root, server.go, api.go, settings.go (rules[].set), limits.go and others
// the sections, and discovery_KIND.go a kind of registry. Its tags carry the default, the bounds and the rules, and a method validate of
// its struct the rules that a tag can't express. Other files decide one thing each:
//
//	load.go, load_settled.go        which file is read, and when; defaults that are values of other keys
//	parse.go, decode.go             how YAML becomes values; shorthand.go: what replaces a mapping
//	expand.go, missing.go           ${NAME} and ${file:PATH}, and a load without secrets
//	scalar.go, enum.go, secret.go   the types of single values
//	key_tag.go, validation_tag.go   the tags of keys, and their rules; format.go: the named formats
//	cursor.go                       the walk that validates, with the place of each value
//	*_validation.go                 validation that needs other sections
//	decode_error.go, suggest.go     the texts of errors about types and unknown keys
//	loader.go, problem.go           how problems are collected, masked and reported
//	reload.go, restart_only.go      what a change of a key means for a running process
//	default_change.go               defaults of earlier releases
//	selector.go, pattern.go         which operations a selector matches; selection.go: selectors that match nothing
//
// A file names only its own layer and those below: types of values, loader and decoding, tags and cursor, sections, [Config], validation
// across sections, [LoadWith]. Changes of files are noticed by package filewatch.
//
// The one rule: nothing in a file is ignored. A key that is unknown, that is given twice, that has the wrong type or
// whose feature does not exist in this version is an error.
package config
