// Package sigv4 verifies requests that are signed with AWS Signature Version 4, as a service of AWS does: from what arrived on
// the wire, and from the text of the standard alone. It shares no code with the signer that the gateway uses.
package sigv4

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"time"
)

// Verifier knows one key.
type Verifier struct {
	AccessKeyID, SecretAccessKey, SessionToken string
	Region, Service                            string
	// PlainPath takes the path as it is, as S3 does; all others escape it once more.
	PlainPath bool
	// Now is the clock: a signature is good for five minutes before and after its date. Nil: [time.Now].
	Now func() time.Time
}

// Verify tells what is wrong with a request; nil: nothing. It reads the body.
func (v Verifier) Verify(r *http.Request) error {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return err
	}
	parameters, ok := strings.CutPrefix(r.Header.Get("Authorization"), "AWS4-HMAC-SHA256 ")
	if !ok || len(r.Header["Authorization"]) != 1 {
		return fmt.Errorf("authorization %q", r.Header["Authorization"])
	}
	given := map[string]string{}
	for part := range strings.SplitSeq(parameters, ",") {
		name, value, _ := strings.Cut(strings.TrimSpace(part), "=")
		given[name] = value
	}
	date := r.Header.Get("X-Amz-Date")
	at, err := time.Parse("20060102T150405Z", date)
	now := time.Now
	if v.Now != nil {
		now = v.Now
	}
	if off := now().Sub(at); err != nil || off.Abs() > 5*time.Minute {
		return fmt.Errorf("date %q at %s: %w", date, now(), err)
	}
	scope := strings.Join([]string{date[:8], v.Region, v.Service, "aws4_request"}, "/")
	if want := v.AccessKeyID + "/" + scope; given["Credential"] != want {
		return fmt.Errorf("credential %q, want %q", given["Credential"], want)
	}
	if got := r.Header.Get("X-Amz-Security-Token"); got != v.SessionToken {
		return errors.New("the session token is another")
	}
	sum := sha256.Sum256(body)
	payload := hex.EncodeToString(sum[:])
	if got := r.Header.Get("X-Amz-Content-Sha256"); got != "" && got != payload {
		return fmt.Errorf("the digest of the body is %s, the header says %s", payload, got)
	}
	signed := strings.Split(given["SignedHeaders"], ";")
	for name := range r.Header {
		if name = strings.ToLower(name); (name == "content-type" || strings.HasPrefix(name, "x-amz-")) && !slices.Contains(signed, name) {
			return fmt.Errorf("header %s is not signed", name)
		}
	}
	if !slices.Contains(signed, "host") || !slices.IsSorted(signed) {
		return fmt.Errorf("signed headers %q", signed)
	}
	path, query, _ := strings.Cut(r.RequestURI, "?")
	if !v.PlainPath {
		path = escapePath(path)
	}
	canonical := strings.Join([]string{r.Method, path, canonicalQuery(query), canonicalHeaders(r, signed), given["SignedHeaders"], payload}, "\n")
	digest := sha256.Sum256([]byte(canonical))
	key := []byte("AWS4" + v.SecretAccessKey)
	for part := range strings.SplitSeq(scope, "/") {
		key = mac(key, part)
	}
	want := hex.EncodeToString(mac(key, strings.Join([]string{"AWS4-HMAC-SHA256", date, scope, hex.EncodeToString(digest[:])}, "\n")))
	if given["Signature"] != want {
		return fmt.Errorf("signature %s, want %s, of the canonical request\n%s", given["Signature"], want, canonical)
	}
	return nil
}

func mac(key []byte, text string) []byte {
	h := hmac.New(sha256.New, key)
	h.Write([]byte(text))
	return h.Sum(nil)
}

// canonicalHeaders has a line for each signed header.
func canonicalHeaders(r *http.Request, signed []string) string {
	var b strings.Builder
	for _, name := range signed {
		var values []string
		switch name {
		case "host":
			values = []string{r.Host}
		case "content-length":
			values = []string{fmt.Sprint(r.ContentLength)}
		default:
			values = slices.Clone(r.Header.Values(name))
		}
		for i, value := range values {
			values[i] = strings.Join(strings.Fields(value), " ")
		}
		fmt.Fprintf(&b, "%s:%s\n", name, strings.Join(values, ","))
	}
	return b.String()
}

// canonicalQuery sorts the parameters by name, then by value, each decoded and escaped in the one way of the standard. A plus is a
// plus: what means a space by it has no valid signature here.
func canonicalQuery(query string) string {
	type pair struct{ name, value string }
	var pairs []pair
	for part := range strings.SplitSeq(query, "&") {
		if part == "" {
			continue
		}
		name, value, _ := strings.Cut(part, "=")
		pairs = append(pairs, pair{escape(unescape(name)), escape(unescape(value))})
	}
	slices.SortFunc(pairs, func(a, b pair) int {
		if c := strings.Compare(a.name, b.name); c != 0 {
			return c
		}
		return strings.Compare(a.value, b.value)
	})
	var parts []string
	for _, p := range pairs {
		parts = append(parts, p.name+"="+p.value)
	}
	return strings.Join(parts, "&")
}

func escapePath(path string) string {
	segments := strings.Split(path, "/")
	for i, s := range segments {
		segments[i] = escape(s)
	}
	return strings.Join(segments, "/")
}

// escape leaves A-Z, a-z, 0-9, "-", ".", "_" and "~" alone.
func escape(s string) string {
	var b strings.Builder
	for _, c := range []byte(s) {
		if 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' || strings.IndexByte("-._~", c) >= 0 {
			b.WriteByte(c)
		} else {
			fmt.Fprintf(&b, "%%%02X", c)
		}
	}
	return b.String()
}

func unescape(s string) string {
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] == '%' && i+2 < len(s) {
			if one, err := hex.DecodeString(s[i+1 : i+3]); err == nil {
				b.Write(one)
				i += 2
				continue
			}
		}
		b.WriteByte(s[i])
	}
	return b.String()
}
