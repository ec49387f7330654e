package openapi

import "drawbridge/openapi/schema"

// Clean makes a text that a model will read fit for it (S8): what a person who looks at it doesn't see goes, control
// characters, escape sequences, characters of no width and HTML comments. The texts of an Operation are clean.
func Clean(text string) string { return schema.Clean(text, 0) }
