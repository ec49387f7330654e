// Package providers makes the providers that a configuration names. It hides which package has which kind, and with what
// clients they ask.
package providers
