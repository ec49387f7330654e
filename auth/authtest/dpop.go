package authtest

import (
	"encoding/json"
	"net/http"
	"time"

	"github.com/go-jose/go-jose/v4"

	"drawbridge/auth/oauthserver"
)

// proofSkew is the tolerated clock skew of a proof.
const proofSkew = time.Minute

func proofAlgorithms() []jose.SignatureAlgorithm {
	return []jose.SignatureAlgorithm{jose.ES256, jose.RS256, jose.PS256, jose.EdDSA}
}

// checkProof verifies the DPoP proof of a request (RFC 9449 section 4.3) and returns the thumbprint
// of its key, or "" without a proof. The caller holds s.mu.
func (s *Server) checkProof(r *http.Request, address string, now time.Time) (string, *oauthserver.Error) {
	values := r.Header["Dpop"]
	if len(values) == 0 {
		return "", nil
	}
	if len(values) > 1 {
		return "", oauthserver.NewError(oauthserver.InvalidProof, "%d DPoP headers", len(values))
	}
	jws, err := jose.ParseSignedCompact(values[0], proofAlgorithms())
	if err != nil {
		return "", oauthserver.NewError(oauthserver.InvalidProof, "the proof is not a JWS with an algorithm that is supported")
	}
	header := jws.Signatures[0].Protected
	key := header.JSONWebKey
	if kind, ok := header.ExtraHeaders[jose.HeaderType].(string); !ok || kind != "dpop+jwt" {
		return "", oauthserver.NewError(oauthserver.InvalidProof, "the proof's typ is not 'dpop+jwt'")
	}
	if key == nil || !key.Valid() || !key.IsPublic() {
		return "", oauthserver.NewError(oauthserver.InvalidProof, "the proof has no public key in its header")
	}
	payload, err := jws.Verify(key)
	if err != nil {
		return "", oauthserver.NewError(oauthserver.InvalidProof, "the proof's signature is wrong")
	}
	var claims struct {
		ID     string  `json:"jti"`
		Method string  `json:"htm"`
		URL    string  `json:"htu"`
		Issued float64 `json:"iat"`
	}
	if json.Unmarshal(payload, &claims) != nil || claims.ID == "" {
		return "", oauthserver.NewError(oauthserver.InvalidProof, "the proof's claims are malformed")
	}
	name, err := thumbprint(key)
	if err != nil {
		return "", oauthserver.NewError(oauthserver.InvalidProof, "the proof's key has no thumbprint")
	}
	age := now.Sub(time.Unix(int64(claims.Issued), 0))
	seen, _ := s.proofs.get(name+" "+claims.ID, now)
	switch {
	case claims.Method != r.Method:
		return "", oauthserver.NewError(oauthserver.InvalidProof, "the proof is for method '%s'", claims.Method)
	case claims.URL != address:
		return "", oauthserver.NewError(oauthserver.InvalidProof, "the proof is for '%s', not for '%s'", claims.URL, address)
	case age > proofSkew || age < -proofSkew:
		return "", oauthserver.NewError(oauthserver.InvalidProof, "the proof's iat is %s off", age)
	case seen:
		return "", oauthserver.NewError(oauthserver.InvalidProof, "the proof was used before")
	}
	s.proofs.put(name+" "+claims.ID, true, now.Add(2*proofSkew), now)
	return name, nil
}
