// Package trailer knows which trailers of HTTP messages are accepted.
//
// It hides what net/http takes for a trailer although HTTP does not allow it. The rule that must not be broken: a message whose trailer is
// refused is not used, and its connection is closed.
package trailer
