package httpmethod

import "net/http"

// Query is the method QUERY (RFC 10008): a safe request with a body.
const Query = "QUERY"

// IsSafe reports whether a method is safe (RFC 9110 section 9.2.1, for QUERY RFC 10008 section 2): a request changes nothing. Methods
// are case-sensitive; of those that are not in the table nothing is promised.
func IsSafe(method string) bool {
	switch method {
	case http.MethodGet, http.MethodHead, http.MethodOptions, http.MethodTrace, Query:
		return true
	}
	return false
}

// IsIdempotent reports whether it makes no difference how often a service gets a request of a method (RFC 9110 section 9.2.2).
func IsIdempotent(method string) bool {
	return IsSafe(method) || method == http.MethodPut || method == http.MethodDelete
}
