// Package wire is a lean HTTP/1.1 client for measurements and for tests that look at each call: one request as it is written, one
// answer, on one kept connection. net/http's client would take more processor time than the servers that are measured, on the
// cores that all of them share, and would try again where a test wants to know that a call was lost. The one rule: nothing is done twice.
package wire
