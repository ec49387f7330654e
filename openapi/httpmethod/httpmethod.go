package httpmethod

import "net/http"

// Query is the method QUERY (RFC 10008): a safe request with a body.
const Query = "QUERY"

// IsSafe reports whether a method is safe (RFC 9110 section 9.2.1, for QUERY RFC 10008 section 2): a request changes
// nothing. Methods are case-sensitive; a method that is not in the table is not safe.
func IsSafe(method string) bool {
	switch method {
	case http.MethodGet, http.MethodHead, http.MethodOptions, http.MethodTrace, Query:
		return true
	}
	return false
}

// IsIdempotent reports whether several identical requests have the same effect as one (RFC 9110 section 9.2.2).
func IsIdempotent(method string) bool {
	return IsSafe(method) || method == http.MethodPut || method == http.MethodDelete
}
