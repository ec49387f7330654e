// Package http1 answers plain requests of HTTP/1.1 in the goroutine that has read them.
//
// net/http's server starts a goroutine for each request, which reads the connection to notice when the client leaves, and is stopped
// when the answer is there. Where calls come one at a time that wakes a second processor twice for a call, and costs as much as all
// checks of the gateway together (docs/contributing/adr/0019). Here a connection is looked at from [watchAfter] on: most calls have their answer by then.
//
// A request is plain if all of it is there, and it has the form that nearly every request of MCP has: POST, a path, one Host, one Content-Length, nothing that
// is about the connection. What it says is read by [http.ReadRequest]. The rule that must not be broken: what is not plain in every byte is
// net/http's, and so is what would be refused. This package refuses nothing and guesses nothing.
package http1
