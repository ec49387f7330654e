package auth

import (
	"context"
	"errors"
	"time"
)

// Check is the work that the token of a request has caused: a round trip, or cryptography. Of a token that is known, and
// needs no proof, there is none.
type Check struct {
	Kind CheckKind
	// Issuer is that of the token, one of [Options.Issuers].
	Issuer     string
	Begin, End time.Time
	// Failed tells that it came to nothing, so that nobody knows whether the token is good, and the request was answered with 503.
	Failed bool
}

// CheckKind is what was done; of several things the dearest.
type CheckKind string

// The values of [CheckKind].
const (
	CheckSignature     CheckKind = "signature"     // of a token that was not known
	CheckKeys          CheckKind = "keys"          // the same, after the issuer's keys were fetched
	CheckIntrospection CheckKind = "introspection" // the issuer was asked, or metadata that tell where
	CheckProof         CheckKind = "proof"         // of possession, for a token that was known
)

// did notes what was done. Nil: nobody wants to know.
func (c *Check) did(kind CheckKind, issuer string) {
	if c != nil {
		c.Kind, c.Issuer = kind, issuer
	}
}

// tellCheck tells what was done for a token that is good, or, with err, could not be looked at. Those that are no good are told
// elsewhere: anybody can send as many as he likes.
func (g *Guard) tellCheck(c credential, err error) {
	if c.check == nil || c.check.Kind == "" || c.request == nil || err != nil && !isUnavailable(err) || errors.Is(err, context.Canceled) {
		return
	}
	done := *c.check
	done.End, done.Failed = g.now(), err != nil
	g.checked(c.request, done)
}
