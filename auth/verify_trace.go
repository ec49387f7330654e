package auth

import (
	"context"
	"errors"
	"time"
)

// Check describes the work caused by the token of a request: a round trip or cryptography. A cached
// token without a proof causes none.
type Check struct {
	Kind CheckKind
	// Issuer is the token's issuer, one of [Options.Issuers].
	Issuer     string
	Begin, End time.Time
	// Failed reports that the token could not be verified, and the request was answered with 503.
	Failed bool
}

// CheckKind is the kind of work; the most expensive if there were several.
type CheckKind string

// Values of [CheckKind].
const (
	CheckSignature     CheckKind = "signature"     // of a token that is not cached
	CheckKeys          CheckKind = "keys"          // the same, after fetching the issuer's keys
	CheckIntrospection CheckKind = "introspection" // a request to the issuer for the token or its metadata
	CheckProof         CheckKind = "proof"         // of possession, for a cached token
)

// record records the kind of work. A nil c ignores it.
func (c *Check) record(kind CheckKind, issuer string) {
	if c != nil {
		c.Kind, c.Issuer = kind, issuer
	}
}

// reportCheck reports the work for a token that is valid or, with err, could not be verified.
// Invalid tokens are not reported, because anybody can send as many as they like.
func (g *Guard) reportCheck(c credential, err error) {
	if c.check == nil || c.check.Kind == "" || c.request == nil || err != nil && !isUnavailable(err) || errors.Is(err, context.Canceled) {
		return
	}
	done := *c.check
	done.End, done.Failed = g.now(), err != nil
	g.onCheck(c.request, done)
}
