// Package httpsd asks a URL for services, in the format of Prometheus' http_sd.
//
// It hides how often the URL is asked, and how long it waits after a failure. The rule that must not be broken: the token is
// sent to that URL alone, and is in no error.
package httpsd
