package credential

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"net/http"
	"regexp"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	v4 "github.com/aws/aws-sdk-go-v2/aws/signer/v4"
)

// AWS holds the credentials of AWSSigV4.
type AWS struct {
	// AccessKeyID identifies the key; it is sent in requests.
	AccessKeyID Secret
	// SecretAccessKey is the key. It is never sent.
	SecretAccessKey Secret
	// SessionToken is the token of temporary credentials, and is sent; nil if they are not
	// temporary.
	SessionToken Secret
	// Region and Service are those of the service's endpoint, such as eu-west-1 and execute-api.
	Region, Service string
}

// Headers of a signed request.
const (
	headerAmzDate    = "X-Amz-Date"
	headerAmzToken   = "X-Amz-Security-Token" //nolint:gosec // it is a name
	headerAmzContent = "X-Amz-Content-Sha256"
	amzPrefix        = "X-Amz-"
)

// awsName matches the name of a region or a service, which are parts of the scope of a signature.
var awsName = regexp.MustCompile(`^[a-z0-9][a-z0-9-]*$`)

// sigV4 signs requests with AWS Signature Version 4. It must be the last credential to be applied,
// as later changes are not signed.
type sigV4 struct {
	access, secret, session staticCredential // one secret each, for its checks
	temporary               bool
	region, service         string
	now                     func() time.Time
	v4                      *v4.Signer
}

func newSigV4(o Options) (*sigV4, error) {
	if o.AWS == nil {
		return nil, errors.New("credential: the credentials of AWS are missing")
	}
	s := &sigV4{region: o.AWS.Region, service: o.AWS.Service, temporary: o.AWS.SessionToken != nil, now: clock(o.Now)}
	plain := func(what string) func([]string) (string, error) {
		return func(v []string) (string, error) { return v[0], checkToken(what, v[0]) }
	}
	s.access.secrets, s.access.format = []secret{{"access key id", o.AWS.AccessKeyID}}, plain("access key id")
	s.secret.secrets, s.secret.format = []secret{{"secret access key", o.AWS.SecretAccessKey}}, plain("secret access key")
	s.session.secrets, s.session.format = []secret{{"session token", o.AWS.SessionToken}}, plain("session token")
	var problems []error
	for _, name := range []string{s.region, s.service} {
		if !awsName.MatchString(name) {
			problems = append(problems, fmt.Errorf("credential: %q is not the name of an AWS region or service", name))
		}
	}
	if o.AWS.AccessKeyID == nil || o.AWS.SecretAccessKey == nil {
		problems = append(problems, errors.New("credential: access key id or secret access key is missing"))
	} else if _, err := s.credentials(); err != nil {
		problems = append(problems, err)
	}
	s.v4 = v4.NewSigner(func(o *v4.SignerOptions) {
		// S3 uses the path as it is; all others expect it escaped once more.
		o.DisableURIPathEscaping = s.service == "s3" || strings.HasPrefix(s.service, "s3-") || s.service == "s3express"
	})
	return s, errors.Join(problems...)
}

// credentials returns the current secrets.
func (s *sigV4) credentials() (c aws.Credentials, err error) {
	parts := []struct {
		from *staticCredential
		to   *string
	}{{&s.access, &c.AccessKeyID}, {&s.secret, &c.SecretAccessKey}, {&s.session, &c.SessionToken}}
	if !s.temporary {
		parts = parts[:2]
	}
	for _, p := range parts {
		r, err := p.from.render()
		if err != nil {
			return aws.Credentials{}, err
		}
		*p.to = r.text
	}
	if strings.Contains(c.AccessKeyID, "/") { // it is the first part of the scope
		return aws.Credentials{}, errors.New("credential: access key id holds a slash")
	}
	return c, nil
}

// apply returns a signed copy of req. The signature covers method, path, query and body, and the
// headers that AWS requires: Host, Content-Type, Content-Length and X-Amz-*. Proxies may change
// others. Each attempt at a request is signed anew, since a signature is valid for minutes only.
func (s *sigV4) apply(req *http.Request) (*http.Request, error) {
	c, err := s.credentials()
	if err != nil {
		return nil, err
	}
	sum, err := hashBody(req, sha256.New())
	if err != nil {
		return nil, err
	}
	own := req.WithContext(req.Context()) // a shallow copy
	own.Header = cloneHeader(req.Header, "Authorization")
	for _, name := range []string{headerAmzDate, headerAmzToken, headerAmzContent} {
		if hasField(own.Header, name) {
			own.Header = cloneHeader(own.Header, name)
		}
	}
	own.Header[headerAmzContent] = []string{sum}
	u := *req.URL
	u.RawQuery = strings.ReplaceAll(u.RawQuery, "+", "%20") // some services take a plus literally
	own.URL = &u

	signed := own.WithContext(req.Context())
	signed.Header = make(http.Header)
	for name, values := range own.Header {
		if len(values) > 0 && (name == "Content-Type" || len(name) > len(amzPrefix) && sameField(name[:len(amzPrefix)], amzPrefix)) {
			signed.Header[name] = values
		}
	}
	v := u // the signer sorts the query in place, which may change its meaning
	signed.URL = &v
	if err := s.v4.SignHTTP(req.Context(), c, signed, sum, s.service, s.region, s.now()); err != nil {
		return nil, errors.New("credential: the request can't be signed") // the error may hold more than a log should
	}
	for _, name := range []string{"Authorization", headerAmzDate, headerAmzToken} {
		if values := signed.Header[name]; len(values) > 0 {
			own.Header[name] = values
		}
	}
	own.Host = signed.Host // without the default port, as it was signed
	_, signature, _ := strings.Cut(signed.Header.Get("Authorization"), "Signature=")
	recordSent(req.Context(), signature) // valid for minutes
	return own, nil
}

// hashBody returns the digest of the request body, which it reads from a copy.
func hashBody(req *http.Request, h hash.Hash) (string, error) {
	if req.Body != nil && req.Body != http.NoBody {
		if req.GetBody == nil {
			return "", errors.New("credential: the body can be read only once, so it can't be signed")
		}
		body, err := req.GetBody()
		if err != nil {
			return "", fmt.Errorf("credential: read the body to sign it: %w", err)
		}
		defer body.Close()
		if _, err := io.Copy(h, contextReader{req.Context(), body}); err != nil {
			return "", fmt.Errorf("credential: read the body to sign it: %w", err)
		}
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}

// contextReader reads until ctx ends.
type contextReader struct {
	ctx context.Context //nolint:containedctx // that of the one request whose body it reads
	io.Reader
}

// Read implements [io.Reader].
func (r contextReader) Read(p []byte) (int, error) {
	if err := r.ctx.Err(); err != nil {
		return 0, err
	}
	return r.Reader.Read(p)
}
