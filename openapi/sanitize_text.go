package openapi

import "drawbridge/openapi/schema"

// Clean makes a text safe for models to read (S8): it removes everything that a person doesn't see: control characters,
// escape sequences, characters of no width and HTML comments. The texts of an Operation are clean.
func Clean(text string) string { return schema.Clean(text, 0) }
