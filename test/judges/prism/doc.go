// Prism is the judge of whole calls. For each document it puts the gateway in front of Prism, a mock server that checks
// requests against their document, and calls every tool through /mcp with arguments that are made from the published
// schema alone. A call is accepted when Prism finds no fault in the request, and answered when what Prism answers becomes
// a result without isError.
//
// Only Prism's own inability takes an operation out of the count: a document that it does not load, an operation that it
// does not list or route, an error of its own, each with its error text. What it refuses for reasons that the standard does
// not share is a rule, with the clause.
//
// With -generated the arguments are generated: half of the optional members, no examples, the ends of bounds, and in every
// other call characters that mean something in URLs, empty texts and lists, and null. Calls are counted then, and those
// that are not accepted are grouped by the kind of reason.
//
//	go run ./test/judges/prism -packages DIR [-generated N] [-sample N] [-each N] [-seed S] [-markdown]
//
// It exits 1 when less than 99 % of the operations (97 % of a sample) are accepted, or answered without isError, and less
// than 99.5 % of the calls with generated arguments accepted.
package main
