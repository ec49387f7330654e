// Package trailer checks the trailer fields of HTTP messages (RFC 9110, section 6.5).
//
// It hides the fields that net/http accepts in trailers although HTTP does not allow them there. The rule that must not be broken: a message whose trailer is
// refused is not used, and its connection is closed.
package trailer
