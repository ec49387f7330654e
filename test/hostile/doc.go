// Package hostile makes OpenAPI documents that cost as much as they can, of any size. Each kind repeats one construct of the standard, in the way
// that makes the most work of the fewest bytes, so that a test can see how the cost of reading a document grows with its size.
package hostile
