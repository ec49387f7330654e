// Package mediatype reads and classifies the media types that OpenAPI documents and Content-Type headers name.
//
// It hides which registered, older and made-up names stand for JSON, JSON lines, text or bytes. Except for [Essence], [Parameter], [Without]
// and [Charset], every function expects the result of Essence.
//
// The rule that must not be broken: what mime.ParseMediaType refuses is still read, since documents and services are full of it.
package mediatype
