// Package mediatype reads and classifies the media types that OpenAPI documents and Content-Type headers name, and finds that of bytes.
//
// It hides which registered, older and made-up names stand for JSON, JSON lines, text or bytes, and the signatures of files. Except for
// [Essence], [Parameter], [Without] and [Charset], every function that takes a media type expects the result of Essence.
//
// The rule that must not be broken: what mime.ParseMediaType refuses is still read, since documents and services are full of it.
package mediatype
