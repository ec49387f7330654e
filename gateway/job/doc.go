// Package job describes asynchronous jobs, also called long-running operations: a service accepts a call (202 Accepted), names a
// status URL or a status operation, and has a result at the end. A [Definition] is compiled at load from the configuration, from
// links of the document and from common practice of services. It finds the [Handle] of a job in the response that began it, and
// reads a [Report] of its state from later responses.
//
// The package hides in which headers and members services put these URLs, states and results, and their words for states. It sends
// no requests: package polling does. The rule that must not be broken: a service, a document or a caller never makes the gateway
// send a request to another origin, or to a URL that is not below the API's base URL, unless the operator's rule names the member
// with the URL (E4).
package job
