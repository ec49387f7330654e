// Conformance is the service that stands behind the gateway while the official MCP conformance suite runs against
// it: plain REST operations whose answers are what the suite wants to see as text, picture, sound and error.
// The script run beside it starts both and the suite, and verdict.mjs reads what came of it; gateway.yaml is the gateway's
// configuration. The script authorization runs the suite against
// the authorization server of the demo. The one rule: the gateway is honest: it has no feature that is there for the suite alone.
package main
