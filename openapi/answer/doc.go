// Package answer reads the responses of services by the declarations of their OpenAPI document.
//
// A [Compiler] makes a [Plan] for the responses of each operation when the document is loaded. [Plan.Read] reads one
// response into one or more [Part] values: JSON compared with the declared shape, text in UTF-8, images, files; the
// parts of multipart/*, and the values or events of a stream as one array. It hides the media types, the charsets, and
// how services get both wrong.
//
// The rule that must not be broken: a response that was cut off or can't be read as a whole is an error, and no part of
// it is returned.
package answer
