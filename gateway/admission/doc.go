// Package admission decides what is let in: requests, calls, large responses and compiled documents.
//
// It hides rate limits and their headers, how much memory and how many calls there are, who has which part of them, and how that is measured. It writes no
// responses, metrics or audit records: it returns reasons and errors, and the caller reports them. The rule that must not be
// broken: nothing is let in that can't be given back, and a refusal costs less than what it spares.
package admission
