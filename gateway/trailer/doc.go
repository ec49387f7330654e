// Package trailer knows which trailers of HTTP messages are accepted.
//
// It hides which trailers net/http accepts although HTTP does not allow them. The rule that must not be broken: a message whose trailer is
// refused is not used, and its connection is closed.
package trailer
