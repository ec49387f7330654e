// Prism is the judge of whole calls. For each document it puts the gateway in front of Prism, a mock server that checks
// requests against their document, and calls every tool through /mcp with arguments that are made from the published
// schema alone. A call is accepted when Prism finds no fault in the request, and answered when what Prism answers becomes
// a result without isError.
//
// Only Prism's own inability takes an operation out of the count: a document that it does not load, an operation that it
// does not list or route, an error of its own, each with its error text. What it refuses for reasons that the standard does
// not share is a rule, with the clause.
//
//	go run ./test/judges/prism -packages DIR [-sample N] [-seed S] [-markdown]
//
// It exits 1 when less than 99 % of the operations (97 % of a sample) are accepted, or answered without isError.
package main
