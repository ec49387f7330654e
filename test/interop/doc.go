// Package interop runs the official clients of the protocol against a running gateway, with the demo's order
// service behind it and tokens checked. It holds no code but tests: the SDKs are judges, and nothing else may
// import them. The one rule: the gateway is the built program, started as users start it.
package interop
