// Package answer reads the answers of services by what the OpenAPI document declares about them.
//
// A [Compiler] makes a [Plan] of the answers of each operation when the document is loaded. [Plan.Read] reads one answer into a
// [Part] or several: JSON compared with the declared shape, text in UTF-8, images, files; the parts of multipart/*, and the values
// or events of a stream as one array. It hides the media types, the charsets, and how services get both wrong.
//
// The rule that must not be broken: what was cut off or can't be read whole is an error, and no part of it is handed out.
package answer
