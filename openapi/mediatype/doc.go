// Package mediatype parses and classifies the media types in OpenAPI documents and Content-Type headers, and detects
// that of bytes.
//
// It hides the registered, older and invented names of JSON, JSON lines, text and bytes, and the signatures of files.
// Except for [Essence], [Parameter], [Without] and [Charset], every function that takes a media type expects the result
// of Essence.
//
// The rule that must not be broken: a media type that mime.ParseMediaType refuses is still parsed, since documents and
// services often have invalid ones.
package mediatype
