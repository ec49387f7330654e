package credential

import (
	"cmp"
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rsa"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"os"
	"slices"
	"time"

	"github.com/go-jose/go-jose/v4"
)

// SigningKey is a private key in a PEM file that is reloaded when it changes; an unusable file
// leaves the last usable key in place. It is safe for concurrent use.
type SigningKey struct{ file reloader[*signer] }

// KeyOptions configure a [SigningKey].
type KeyOptions struct {
	// File is a PEM file with a private key, PKCS #8, PKCS #1 or SEC 1, not encrypted: RSA of 2048
	// to 8192 bits, EC on P-256, P-384 or P-521, or Ed25519. If the file also contains the
	// certificate of the key, its digest is sent in the header "x5t#S256", by which Entra ID finds
	// a key.
	File string
	// Open opens the file each time that it is read: see [CertificateOptions].
	Open func(path string) (*os.File, error)
	// ID is the header "kid". The default is the key's thumbprint (RFC 7638).
	ID string
	// Algorithm is the signature algorithm. The default is RS256, ES256, ES384, ES512 or EdDSA,
	// depending on the key; an RSA key may also sign with RS384, RS512, PS256, PS384 and PS512.
	Algorithm string
	// Now is the clock; time.Now if nil.
	Now func() time.Time
}

// checkInterval is the minimum time between two checks of a file.
const checkInterval = time.Second

// NewSigningKey reads the key. Its errors name the file and never contain its content.
func NewSigningKey(o KeyOptions) (*SigningKey, error) {
	k := &SigningKey{file: reloader[*signer]{
		paths: []string{o.File}, open: o.Open, interval: checkInterval, now: clock(o.Now),
		parse: func(contents [][]byte) (*signer, error) {
			s, err := parseSigner(contents[0], o.ID, o.Algorithm)
			if err != nil {
				return nil, fmt.Errorf("credential: key file %q %w", o.File, err)
			}
			return s, nil
		},
	}}
	if _, err := k.file.get(); err != nil {
		return nil, err
	}
	return k, nil
}

// Problem returns the reason that the current file can't be used, while the last usable key still
// signs; nil if there is none.
func (k *SigningKey) Problem() error { return k.file.problem() }

// Exposed returns the file if it is world-readable (E8).
func (k *SigningKey) Exposed() []string { return k.file.exposed() }

// sign returns a signed JWT.
func (k *SigningKey) sign(claims any) (string, error) {
	s, err := k.file.get()
	if err != nil {
		return "", err
	}
	return s.sign(claims)
}

// signer is one version of a key.
type signer struct {
	key       jose.JSONWebKey // private
	algorithm jose.SignatureAlgorithm
	digest    string // of the certificate; empty if there is none
}

func (s *signer) sign(claims any) (string, error) {
	payload, err := json.Marshal(claims)
	if err != nil {
		return "", errors.New("credential: the claims are not JSON")
	}
	o := (&jose.SignerOptions{}).WithType("JWT")
	if s.digest != "" {
		o = o.WithHeader("x5t#S256", s.digest)
	}
	made, err := jose.NewSigner(jose.SigningKey{Algorithm: s.algorithm, Key: s.key}, o)
	if err != nil {
		return "", fmt.Errorf("credential: sign a JWT: %w", err)
	}
	signed, err := made.Sign(payload)
	if err != nil {
		return "", fmt.Errorf("credential: sign a JWT: %w", err)
	}
	return signed.CompactSerialize()
}

// parseSigner parses a PEM file. Its errors are appended to the name of the file.
func parseSigner(content []byte, id, algorithm string) (*signer, error) {
	private, certificates, err := parsePEM(content)
	if err != nil {
		return nil, err
	}
	algorithms, err := algorithmsOf(private)
	if err != nil {
		return nil, err
	}
	s := &signer{algorithm: jose.SignatureAlgorithm(cmp.Or(algorithm, string(algorithms[0])))}
	if !slices.Contains(algorithms, s.algorithm) {
		return nil, fmt.Errorf("can't sign with algorithm %q: its key is for %q", algorithm, algorithms)
	}
	s.key = jose.JSONWebKey{Key: private, KeyID: id, Algorithm: string(s.algorithm), Use: "sig"}
	if id == "" {
		sum, err := s.key.Thumbprint(crypto.SHA256)
		if err != nil {
			return nil, errors.New("holds a key without a thumbprint")
		}
		s.key.KeyID = base64.RawURLEncoding.EncodeToString(sum)
	}
	for _, c := range certificates {
		if p, ok := private.Public().(interface{ Equal(crypto.PublicKey) bool }); ok && p.Equal(c.PublicKey) {
			sum := sha256.Sum256(c.Raw)
			s.digest = base64.RawURLEncoding.EncodeToString(sum[:])
			break
		}
	}
	return s, nil
}

// parsePEM returns the single private key of a file, and its certificates.
func parsePEM(content []byte) (crypto.Signer, []*x509.Certificate, error) {
	var private crypto.Signer
	var certificates []*x509.Certificate
	for block, rest := pem.Decode(content); block != nil; block, rest = pem.Decode(rest) {
		var key any
		var err error
		switch block.Type {
		case "PRIVATE KEY":
			key, err = x509.ParsePKCS8PrivateKey(block.Bytes)
		case "RSA PRIVATE KEY":
			if block.Headers["DEK-Info"] != "" {
				return nil, nil, errors.New("holds an encrypted key")
			}
			key, err = x509.ParsePKCS1PrivateKey(block.Bytes)
		case "EC PRIVATE KEY":
			if block.Headers["DEK-Info"] != "" {
				return nil, nil, errors.New("holds an encrypted key")
			}
			key, err = x509.ParseECPrivateKey(block.Bytes)
		case "ENCRYPTED PRIVATE KEY":
			return nil, nil, errors.New("holds an encrypted key")
		case "CERTIFICATE":
			c, err := x509.ParseCertificate(block.Bytes)
			if err != nil {
				return nil, nil, errors.New("holds a certificate that can't be read")
			}
			certificates = append(certificates, c)
			continue
		default: // such as EC PARAMETERS
			continue
		}
		if err != nil { // the error is omitted, as it may be about secrets
			return nil, nil, errors.New("holds a private key that can't be read")
		}
		s, ok := key.(crypto.Signer)
		if !ok {
			return nil, nil, errors.New("holds a private key that can't sign")
		}
		if private != nil {
			return nil, nil, errors.New("holds two private keys")
		}
		private = s
	}
	if private == nil {
		return nil, nil, errors.New("holds no private key in PEM form")
	}
	return private, certificates, nil
}

// algorithmsOf returns the algorithms that a key can sign with, the default first.
func algorithmsOf(key crypto.Signer) ([]jose.SignatureAlgorithm, error) {
	switch k := key.(type) {
	case *rsa.PrivateKey:
		if n := k.N.BitLen(); n < 2048 || n > 8192 {
			return nil, fmt.Errorf("holds an RSA key of %d bits: 2048 to 8192 are good", n)
		}
		return []jose.SignatureAlgorithm{jose.RS256, jose.RS384, jose.RS512, jose.PS256, jose.PS384, jose.PS512}, nil
	case *ecdsa.PrivateKey:
		switch k.Curve {
		case elliptic.P256():
			return []jose.SignatureAlgorithm{jose.ES256}, nil
		case elliptic.P384():
			return []jose.SignatureAlgorithm{jose.ES384}, nil
		case elliptic.P521():
			return []jose.SignatureAlgorithm{jose.ES512}, nil
		}
	case ed25519.PrivateKey:
		return []jose.SignatureAlgorithm{jose.EdDSA}, nil
	}
	return nil, errors.New("holds a key of a kind that is not supported")
}

func clock(now func() time.Time) func() time.Time {
	if now == nil {
		return time.Now
	}
	return now
}
