package signin

import (
	"crypto/sha256"
	"crypto/subtle"

	"drawbridge/config"
)

// adminName is the name of who signs in with admin.token.
const adminName = "admin"

// Tokens are the tokens of a configuration that sign in.
type Tokens struct {
	identities []Identity // Grant is the digest of name, role and token
	digests    [][sha256.Size]byte
}

// NewTokens returns admin.token and admin.console.tokens of a configuration.
func NewTokens(a *config.Admin) *Tokens {
	t := &Tokens{}
	if !a.Token.IsZero() {
		t.add(adminName, Operate, a.Token.Reveal())
	}
	for i := range a.Console.Tokens {
		of := &a.Console.Tokens[i]
		role := View
		if of.Role == config.ConsoleOperate {
			role = Operate
		}
		t.add(of.Name, role, of.Token.Reveal())
	}
	return t
}

func (t *Tokens) add(name string, role Role, token string) {
	t.identities = append(t.identities, Identity{Name: name, Role: role, Grant: sha256.Sum256([]byte(name + "\x00" + role.String() + "\x00" + token))})
	t.digests = append(t.digests, sha256.Sum256([]byte(token)))
}

// Any reports whether a token is configured.
func (t *Tokens) Any() bool { return len(t.identities) > 0 }

// Identity returns who has a token. It takes as long for each token that is wrong.
func (t *Tokens) Identity(token string) (who Identity, ok bool) {
	digest := sha256.Sum256([]byte(token))
	for i := range t.digests {
		if subtle.ConstantTimeCompare(digest[:], t.digests[i][:]) == 1 {
			who, ok = t.identities[i], true
		}
	}
	return who, ok
}

// Valid reports whether the token by which a session began is still configured, with the same name and role.
func (t *Tokens) Valid(who Identity) bool {
	for i := range t.identities {
		if t.identities[i].Grant == who.Grant {
			return true
		}
	}
	return false
}
