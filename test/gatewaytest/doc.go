// Package gatewaytest starts gateways for tests that stand beside the code of packages below gateway: with documents and
// configurations as texts, services that record what they are sent, an issuer of tokens, and clients of each protocol revision.
//
// It hides how these are started and ended. The rule that must not be broken: what a helper starts ends with the test.
package gatewaytest
