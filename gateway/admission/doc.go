// Package admission admits or refuses requests, calls, large responses and compiled documents.
//
//	rate_limit.go           one rate limit, its headers and its error
//	rate_limits_compile.go  the rate limits of a configuration
//	principal_group.go      rate limits of groups of principals
//	calls.go                admission of a call: audit log, capacity, rate limits
//	overload.go             load shedding: calls in flight, memory (memory_monitor.go)
//	response_budget.go      memory of large responses, shared fairly among callers (fair_share.go, request_memory.go)
//	document_budget.go      memory of compiled documents
//
// The counters of rate limits are in package state. Package admission writes no responses, metrics or audit records: it returns reasons
// and errors, and its callers report them. The rule that must not be broken: everything that is admitted is released, and a refusal is
// cheaper than the work that it prevents.
package admission
