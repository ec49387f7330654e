// Package job knows asynchronous jobs: a service accepts a call (202 Accepted), names a place or an operation that tells the
// state, and has a result at the end. A [Definition] is compiled at load from the configuration, from links of the document and
// from what services have in common; it finds the [Handle] of a job in the answer that began it, and reads what answers say of
// its state.
//
// The package hides where services put all that, and their words for it. It sends nothing. The rule that must not be broken: a
// service, a document or a caller never makes the gateway ask another origin, or a place that is not below the API's base URL
// unless the operator's rule says where places stand (E4).
package job
